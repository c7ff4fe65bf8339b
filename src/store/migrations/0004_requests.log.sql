-- What is kept of requests. Ids begin with the time the request began, so one index gives order, time range and page.
-- Text columns that have nothing to say hold ''; amounts are nano-USD. No prompt or answer is in any table but
-- request_contents, which stays empty unless logging.content is on.

CREATE TABLE requests (
  id TEXT /*postgres COLLATE "C"*/ NOT NULL PRIMARY KEY,
  request_id TEXT /*postgres COLLATE "C"*/ NOT NULL,
  account_id TEXT NOT NULL,
  key_id TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  route TEXT NOT NULL,
  status BIGINT NOT NULL,
  error_code TEXT NOT NULL,
  is_error BIGINT NOT NULL,
  is_stream BIGINT NOT NULL,
  tier TEXT NOT NULL,
  classified_tier TEXT NOT NULL,
  category TEXT NOT NULL,
  profile TEXT NOT NULL,
  tool_scenario TEXT NOT NULL,
  model TEXT NOT NULL,
  provider TEXT NOT NULL,
  is_fallback BIGINT NOT NULL,
  attempts BIGINT NOT NULL,
  input_tokens BIGINT,
  cache_read_tokens BIGINT,
  cache_write_tokens BIGINT,
  output_tokens BIGINT,
  is_estimated BIGINT NOT NULL,
  charge BIGINT,
  baseline BIGINT,
  latency_ms BIGINT NOT NULL,
  first_content_ms BIGINT,
  ending TEXT NOT NULL
) /*sqlite WITHOUT ROWID*/;

CREATE INDEX requests_by_time ON requests (account_id, id);

CREATE INDEX requests_by_key ON requests (account_id, key_id, id);

CREATE INDEX requests_by_model ON requests (account_id, model, id);

CREATE INDEX requests_by_tier ON requests (account_id, tier, id);

CREATE INDEX requests_by_category ON requests (account_id, category, id);

CREATE INDEX requests_by_request_id ON requests (account_id, request_id, id);

-- The few that people look for; the columns behind the id settle further filters without a look at the row.
CREATE INDEX requests_failed ON requests (account_id, id, status, tier, key_id) WHERE is_error = 1;

CREATE INDEX requests_fallen_back ON requests (account_id, id, tier, key_id, model) WHERE is_fallback = 1;

-- What only the page of one request shows; apart, so that the log itself stays narrow.
CREATE TABLE request_details (
  id TEXT /*postgres COLLATE "C"*/ NOT NULL PRIMARY KEY,
  detail_json TEXT NOT NULL
) /*sqlite WITHOUT ROWID*/;

CREATE TABLE request_contents (
  id TEXT /*postgres COLLATE "C"*/ NOT NULL PRIMARY KEY,
  request_text TEXT NOT NULL,
  is_request_cut BIGINT NOT NULL,
  answer_text TEXT NOT NULL,
  is_answer_cut BIGINT NOT NULL
) /*sqlite WITHOUT ROWID*/;

-- Marks of wrong tiers. They carry what is learnt from, because they outlive the request.
CREATE TABLE request_feedback (
  id TEXT /*postgres COLLATE "C"*/ NOT NULL PRIMARY KEY,
  account_id TEXT NOT NULL,
  tier TEXT NOT NULL,
  note TEXT,
  decided_tier TEXT NOT NULL,
  category TEXT NOT NULL,
  features_json TEXT NOT NULL,
  created_at BIGINT NOT NULL
);

-- Totals by hour and by day (span), which outlive the requests too. l0 to l18 and f0 to f18 count latencies and times to
-- first content by LATENCY_BOUNDS_MS.
CREATE TABLE request_rollups (
  account_id TEXT NOT NULL,
  span TEXT NOT NULL,
  start_at BIGINT NOT NULL,
  model TEXT NOT NULL,
  tier TEXT NOT NULL,
  key_id TEXT NOT NULL,
  status BIGINT NOT NULL,
  requests BIGINT NOT NULL,
  errors BIGINT NOT NULL,
  fallbacks BIGINT NOT NULL,
  input_tokens BIGINT NOT NULL,
  cache_read_tokens BIGINT NOT NULL,
  cache_write_tokens BIGINT NOT NULL,
  output_tokens BIGINT NOT NULL,
  charge BIGINT NOT NULL,
  baseline BIGINT NOT NULL,
  latency_ms BIGINT NOT NULL,
  l0 BIGINT NOT NULL,
  l1 BIGINT NOT NULL,
  l2 BIGINT NOT NULL,
  l3 BIGINT NOT NULL,
  l4 BIGINT NOT NULL,
  l5 BIGINT NOT NULL,
  l6 BIGINT NOT NULL,
  l7 BIGINT NOT NULL,
  l8 BIGINT NOT NULL,
  l9 BIGINT NOT NULL,
  l10 BIGINT NOT NULL,
  l11 BIGINT NOT NULL,
  l12 BIGINT NOT NULL,
  l13 BIGINT NOT NULL,
  l14 BIGINT NOT NULL,
  l15 BIGINT NOT NULL,
  l16 BIGINT NOT NULL,
  l17 BIGINT NOT NULL,
  l18 BIGINT NOT NULL,
  f0 BIGINT NOT NULL,
  f1 BIGINT NOT NULL,
  f2 BIGINT NOT NULL,
  f3 BIGINT NOT NULL,
  f4 BIGINT NOT NULL,
  f5 BIGINT NOT NULL,
  f6 BIGINT NOT NULL,
  f7 BIGINT NOT NULL,
  f8 BIGINT NOT NULL,
  f9 BIGINT NOT NULL,
  f10 BIGINT NOT NULL,
  f11 BIGINT NOT NULL,
  f12 BIGINT NOT NULL,
  f13 BIGINT NOT NULL,
  f14 BIGINT NOT NULL,
  f15 BIGINT NOT NULL,
  f16 BIGINT NOT NULL,
  f17 BIGINT NOT NULL,
  f18 BIGINT NOT NULL,
  PRIMARY KEY (account_id, span, start_at, model, tier, key_id, status)
) /*sqlite WITHOUT ROWID*/;
