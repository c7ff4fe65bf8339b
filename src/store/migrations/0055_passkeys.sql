-- Passkeys of users, and challenges that wait for one, each given out once. A challenge of a user is for a new passkey of
-- theirs, one of nobody for a sign-in.

CREATE TABLE passkeys (
  id TEXT NOT NULL PRIMARY KEY,
  credential_id TEXT NOT NULL UNIQUE,
  user_id TEXT NOT NULL,
  name TEXT NOT NULL,
  public_key TEXT NOT NULL,
  counter BIGINT NOT NULL,
  host TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  last_used_at BIGINT
);

CREATE INDEX passkeys_by_user ON passkeys (user_id, created_at);

CREATE TABLE passkey_challenges (
  hash TEXT NOT NULL PRIMARY KEY,
  user_id TEXT,
  expires_at BIGINT NOT NULL
);

CREATE INDEX passkey_challenges_by_expiry ON passkey_challenges (expires_at);
