-- Accounts, their routing profiles and API keys. Times are milliseconds, money is nano-USD.

CREATE TABLE accounts (
  id TEXT NOT NULL PRIMARY KEY,
  name TEXT NOT NULL,
  created_at BIGINT NOT NULL
);

CREATE INDEX accounts_by_age ON accounts (created_at, id);

CREATE TABLE profiles (
  id TEXT NOT NULL PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  name TEXT NOT NULL,
  constraints_json TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL
);

CREATE INDEX profiles_by_age ON profiles (account_id, created_at, id);

-- profile_id refers to a profile that may be deleted; keys outlive it and are then refused.
CREATE TABLE api_keys (
  id TEXT NOT NULL PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  name TEXT NOT NULL,
  prefix TEXT NOT NULL,
  hash TEXT NOT NULL UNIQUE,
  profile_id TEXT,
  requests_per_minute BIGINT,
  spend_limit_nano BIGINT,
  expires_at BIGINT,
  revoked_at BIGINT,
  last_used_at BIGINT,
  created_at BIGINT NOT NULL
);

CREATE INDEX api_keys_by_age ON api_keys (account_id, created_at, id);

-- One counter that moves with every change of a key or a profile: other processes poll this row only.
CREATE TABLE revisions (
  name TEXT NOT NULL PRIMARY KEY,
  value BIGINT NOT NULL
);

INSERT INTO revisions (name, value) VALUES ('access', 0);
