-- Answers kept for Idempotency-Key, sealed. A row of idempotent_requests names its answer, as `kept:` with this id, in the
-- batch of its charge. Those of earlier versions are sealed and come here at the next start.

CREATE TABLE idempotent_answers (
  id TEXT NOT NULL PRIMARY KEY,
  content TEXT NOT NULL,
  created_at BIGINT NOT NULL
);

CREATE INDEX idempotent_answers_by_age ON idempotent_answers (created_at);
