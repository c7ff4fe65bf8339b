-- What the log is sorted, searched and summed up by. Of requests from before, only their text cannot be searched.

ALTER TABLE requests ADD COLUMN tokens BIGINT NOT NULL DEFAULT 0;

UPDATE requests SET tokens = input_tokens + cache_read_tokens + cache_write_tokens + output_tokens
  WHERE input_tokens IS NOT NULL;

-- The beginning of what was asked; '' unless logging.content is on.
ALTER TABLE requests ADD COLUMN preview TEXT NOT NULL DEFAULT '';

-- Wider: sorting and summing up read this alone. It grows at its end, so more columns cost a write next to nothing.
DROP INDEX requests_by_time;

CREATE INDEX requests_by_time ON requests (account_id, id, latency_ms, tokens, charge, baseline, is_error);

-- Sums beside the counts. A request that failed saved nothing: its charge counts as its baseline.
ALTER TABLE request_counts ADD COLUMN charge BIGINT NOT NULL DEFAULT 0;

ALTER TABLE request_counts ADD COLUMN baseline BIGINT NOT NULL DEFAULT 0;

ALTER TABLE request_counts ADD COLUMN tokens BIGINT NOT NULL DEFAULT 0;

UPDATE request_counts SET charge = sums.charge, baseline = sums.baseline, tokens = sums.tokens
  FROM (SELECT account_id, spans.span, (created_at / spans.length_ms) * spans.length_ms AS start_at, key_id, model,
      category, tier, status,
      CASE WHEN charge IS NULL THEN -1 WHEN charge < 1000 THEN 0 WHEN charge < 10000 THEN 1 WHEN charge < 100000 THEN 2
        WHEN charge < 1000000 THEN 3 WHEN charge < 10000000 THEN 4 WHEN charge < 100000000 THEN 5
        WHEN charge < 1000000000 THEN 6 WHEN charge < 10000000000 THEN 7 ELSE 8 END AS cost_step,
      is_adjusted, is_fallback, is_error, profile, provider, profile_id, CAST(SUM(COALESCE(charge, 0)) AS BIGINT) AS charge,
      CAST(SUM(COALESCE(CASE WHEN is_error = 1 THEN charge ELSE baseline END, 0)) AS BIGINT) AS baseline,
      CAST(SUM(tokens) AS BIGINT) AS tokens
    FROM requests CROSS JOIN (SELECT 'hour' AS span, 3600000 AS length_ms UNION ALL SELECT 'day', 86400000) AS spans
    GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15) AS sums
  WHERE request_counts.account_id = sums.account_id AND request_counts.span = sums.span
    AND request_counts.start_at = sums.start_at AND request_counts.key_id = sums.key_id
    AND request_counts.model = sums.model AND request_counts.category = sums.category
    AND request_counts.tier = sums.tier AND request_counts.status = sums.status
    AND request_counts.cost_step = sums.cost_step AND request_counts.is_adjusted = sums.is_adjusted
    AND request_counts.is_fallback = sums.is_fallback AND request_counts.is_error = sums.is_error
    AND request_counts.profile = sums.profile AND request_counts.provider = sums.provider
    AND request_counts.profile_id = sums.profile_id;
