-- Requests that a second model answered too, for comparison. What it costs is the operator's and in no wallet: amounts are
-- nano-USD at the provider's price. answer_text stays empty unless logging.content is on.

CREATE TABLE shadow_samples (
  -- That of the request; deleted together with it.
  id TEXT /*postgres COLLATE "C"*/ NOT NULL PRIMARY KEY,
  account_id TEXT NOT NULL,
  profile_id TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  tier TEXT NOT NULL,
  category TEXT NOT NULL,
  live_model TEXT NOT NULL,
  live_output_tokens BIGINT NOT NULL,
  live_latency_ms BIGINT NOT NULL,
  live_cost BIGINT NOT NULL,
  second_model TEXT NOT NULL,
  second_output_tokens BIGINT NOT NULL,
  second_latency_ms BIGINT NOT NULL,
  second_cost BIGINT NOT NULL,
  verdict TEXT NOT NULL,
  similarity DOUBLE PRECISION,
  answer_text TEXT
) /*sqlite WITHOUT ROWID*/;

CREATE INDEX shadow_samples_by_time ON shadow_samples (account_id, id);
