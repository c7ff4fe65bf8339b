-- What each key did on each day (UTC). The list of keys shows and sorts by it: with many keys, the rollups of an account are
-- as many as its requests.

CREATE TABLE request_key_days (
  account_id TEXT NOT NULL,
  key_id TEXT NOT NULL,
  start_at BIGINT NOT NULL,
  requests BIGINT NOT NULL,
  errors BIGINT NOT NULL,
  charge BIGINT NOT NULL,
  baseline BIGINT NOT NULL,
  PRIMARY KEY (account_id, key_id, start_at)
) /*sqlite WITHOUT ROWID*/;

INSERT INTO request_key_days SELECT account_id, key_id, start_at, SUM(requests), SUM(errors), SUM(charge), SUM(baseline)
  FROM request_rollups WHERE span = 'day' GROUP BY account_id, key_id, start_at;
