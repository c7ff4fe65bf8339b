-- People who sign in to the dashboard. Passwords are stored as scrypt hashes with their parameters; the tokens of sessions
-- and of links as SHA-256 hashes, so that nothing here lets anybody in.

CREATE TABLE users (
  id TEXT NOT NULL PRIMARY KEY,
  email TEXT NOT NULL UNIQUE,
  role TEXT NOT NULL CHECK (role IN ('operator', 'owner')),
  account_id TEXT NOT NULL REFERENCES accounts (id),
  password_hash TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  last_sign_in_at BIGINT
);

CREATE INDEX users_by_age ON users (created_at, id);

-- A session whose user was deleted is nobody's; reading one always asks for both.
CREATE TABLE sessions (
  hash TEXT NOT NULL PRIMARY KEY,
  user_id TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  seen_at BIGINT NOT NULL
);

CREATE INDEX sessions_by_user ON sessions (user_id);

CREATE INDEX sessions_by_seen ON sessions (seen_at);

-- One-time links. The kind `setup` makes the first operator and has no address; it is void once there is an operator.
CREATE TABLE invitations (
  id TEXT NOT NULL PRIMARY KEY,
  hash TEXT NOT NULL UNIQUE,
  kind TEXT NOT NULL CHECK (kind IN ('setup', 'invitation')),
  email TEXT NOT NULL,
  role TEXT NOT NULL CHECK (role IN ('operator', 'owner')),
  account_id TEXT NOT NULL REFERENCES accounts (id),
  created_at BIGINT NOT NULL,
  expires_at BIGINT
);

CREATE INDEX invitations_by_age ON invitations (created_at, id);
