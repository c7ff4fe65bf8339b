-- More to filter the log by, and counters of requests for every combination of what it is filtered by: the histogram over
-- the log is read from them, and so is where a rare combination is to be looked for. They go when the requests go.

ALTER TABLE requests ADD COLUMN profile_id TEXT NOT NULL DEFAULT '';

ALTER TABLE requests ADD COLUMN is_adjusted BIGINT NOT NULL DEFAULT 0;

-- Of requests from before, only a fallback and a moved tier can still be told.
UPDATE requests SET is_adjusted = 1
  WHERE is_fallback = 1 OR (profile = 'auto' AND classified_tier <> '' AND classified_tier <> tier);

CREATE TABLE request_counts (
  account_id TEXT NOT NULL,
  span TEXT NOT NULL,
  start_at BIGINT NOT NULL,
  key_id TEXT NOT NULL,
  model TEXT NOT NULL,
  category TEXT NOT NULL,
  tier TEXT NOT NULL,
  status BIGINT NOT NULL,
  cost_step BIGINT NOT NULL,
  is_adjusted BIGINT NOT NULL,
  is_fallback BIGINT NOT NULL,
  is_error BIGINT NOT NULL,
  profile TEXT NOT NULL,
  provider TEXT NOT NULL,
  profile_id TEXT NOT NULL,
  requests BIGINT NOT NULL,
  PRIMARY KEY (account_id, span, start_at, key_id, model, category, tier, status, cost_step, is_adjusted, is_fallback,
    is_error, profile, provider, profile_id)
) /*sqlite WITHOUT ROWID*/;

-- The steps of cost are those of core/cost-steps.ts.
INSERT INTO request_counts SELECT account_id, spans.span, (created_at / spans.length_ms) * spans.length_ms, key_id, model,
    category, tier, status,
    CASE WHEN charge IS NULL THEN -1 WHEN charge < 1000 THEN 0 WHEN charge < 10000 THEN 1 WHEN charge < 100000 THEN 2
      WHEN charge < 1000000 THEN 3 WHEN charge < 10000000 THEN 4 WHEN charge < 100000000 THEN 5
      WHEN charge < 1000000000 THEN 6 WHEN charge < 10000000000 THEN 7 ELSE 8 END,
    is_adjusted, is_fallback, is_error, profile, provider, profile_id, COUNT(*)
  FROM requests CROSS JOIN (SELECT 'hour' AS span, 3600000 AS length_ms UNION ALL SELECT 'day', 86400000) AS spans
  GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15;

-- Made superfluous by the counters; each cost a write for every request.
DROP INDEX requests_by_tier;

DROP INDEX requests_by_category;

DROP INDEX requests_by_model;

-- What the gateway itself took until the first content: the sum, and counts by OVERHEAD_BOUNDS_MS.
ALTER TABLE request_rollups ADD COLUMN overhead_ms BIGINT NOT NULL DEFAULT 0;

ALTER TABLE request_rollups ADD COLUMN first_content_ms BIGINT NOT NULL DEFAULT 0;

ALTER TABLE request_rollups ADD COLUMN o0 BIGINT NOT NULL DEFAULT 0;

ALTER TABLE request_rollups ADD COLUMN o1 BIGINT NOT NULL DEFAULT 0;

ALTER TABLE request_rollups ADD COLUMN o2 BIGINT NOT NULL DEFAULT 0;

ALTER TABLE request_rollups ADD COLUMN o3 BIGINT NOT NULL DEFAULT 0;

ALTER TABLE request_rollups ADD COLUMN o4 BIGINT NOT NULL DEFAULT 0;

ALTER TABLE request_rollups ADD COLUMN o5 BIGINT NOT NULL DEFAULT 0;

ALTER TABLE request_rollups ADD COLUMN o6 BIGINT NOT NULL DEFAULT 0;

ALTER TABLE request_rollups ADD COLUMN o7 BIGINT NOT NULL DEFAULT 0;

ALTER TABLE request_rollups ADD COLUMN o8 BIGINT NOT NULL DEFAULT 0;
