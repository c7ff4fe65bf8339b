-- Prompts that clients keep to begin later requests with. What people wrote is in `content` and `prompt`, sealed.

CREATE TABLE cached_prompts (
  account_id TEXT NOT NULL,
  id TEXT NOT NULL,
  model TEXT NOT NULL,
  content TEXT NOT NULL,
  prompt TEXT NOT NULL,
  bytes BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL,
  PRIMARY KEY (account_id, id)
);

CREATE INDEX cached_prompts_by_expiry ON cached_prompts (expires_at);
