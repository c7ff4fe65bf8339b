-- Which try answered, by hour and by day, and which providers failed. Of requests from before nothing is claimed: where
-- answered_known is less than requests, the rest was not counted.

ALTER TABLE request_rollups ADD COLUMN answered_first BIGINT NOT NULL DEFAULT 0;

ALTER TABLE request_rollups ADD COLUMN answered_second BIGINT NOT NULL DEFAULT 0;

ALTER TABLE request_rollups ADD COLUMN answered_later BIGINT NOT NULL DEFAULT 0;

ALTER TABLE request_rollups ADD COLUMN answered_none BIGINT NOT NULL DEFAULT 0;

ALTER TABLE request_rollups ADD COLUMN answered_known BIGINT NOT NULL DEFAULT 0;

-- Requests that a provider failed, one row for each that did; they outlive the requests as the totals do.
CREATE TABLE request_failures (
  account_id TEXT NOT NULL,
  span TEXT NOT NULL,
  start_at BIGINT NOT NULL,
  key_id TEXT NOT NULL,
  provider TEXT NOT NULL,
  requests BIGINT NOT NULL,
  PRIMARY KEY (account_id, span, start_at, key_id, provider)
) /*sqlite WITHOUT ROWID*/;

-- As a JSON array; '' where none failed, and of requests from before.
ALTER TABLE requests ADD COLUMN failed_providers TEXT NOT NULL DEFAULT '';

-- The few that took more than one try, or failed. The log looks for them by these very words.
CREATE INDEX requests_tried_again ON requests (account_id, id, created_at, attempts, is_error, model, status, key_id, tier,
    failed_providers)
  WHERE attempts > 1 OR (attempts = 1 AND is_error = 1);
