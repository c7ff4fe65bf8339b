-- The answer of a request with an Idempotency-Key: the name of its row in idempotent_answers, as `kept:` with its id, or the
-- sealed text. Not in answer_text, which an older build gives to the client as it stands. To that build such a request is
-- still running, so it answers 409 and the client asks again.
ALTER TABLE idempotent_requests ADD COLUMN kept TEXT;

-- Migrations without which a build must not use the database. A migration that takes away what an earlier version needs
-- names here the first one of the version that needs it no more.
CREATE TABLE required_migrations (
  name TEXT NOT NULL PRIMARY KEY
);
