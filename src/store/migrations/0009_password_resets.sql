-- One-time links that let somebody choose a new password. A user has at most one; whose user was deleted is nobody's.

CREATE TABLE password_resets (
  user_id TEXT NOT NULL PRIMARY KEY,
  hash TEXT NOT NULL UNIQUE,
  created_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL
);
