-- Chat completions that clients asked to have stored. What people wrote is in `content` and `messages`, sealed.

CREATE TABLE chat_completions (
  account_id TEXT NOT NULL,
  id TEXT NOT NULL,
  model TEXT NOT NULL,
  -- A keyed fingerprint of each pair of the metadata, for filters. The metadata itself is in `content`.
  marks TEXT NOT NULL,
  content TEXT NOT NULL,
  messages TEXT NOT NULL,
  bytes BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  PRIMARY KEY (account_id, id)
);

CREATE INDEX chat_completions_by_age ON chat_completions (created_at);
