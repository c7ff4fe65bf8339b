-- People and groups as identity providers manage them by SCIM. Somebody who is deactivated keeps the account; the keys that
-- ended with it are marked, so that only they come back. The names of people who are gone are kept, so that their tokens
-- of an identity provider end at once.

ALTER TABLE users ADD COLUMN deactivated_at BIGINT;

ALTER TABLE api_keys ADD COLUMN ended_with_member BIGINT NOT NULL DEFAULT 0;

CREATE TABLE scim_tokens (
  id TEXT NOT NULL PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  name TEXT NOT NULL,
  hash TEXT NOT NULL UNIQUE,
  reaches_operators BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  last_used_at BIGINT
);

CREATE INDEX scim_tokens_by_age ON scim_tokens (account_id, created_at, id);

-- The user name in lower case is in `name_key`. Users whom no identity provider manages have no row.
CREATE TABLE scim_users (
  user_id TEXT NOT NULL PRIMARY KEY,
  account_id TEXT NOT NULL,
  name_key TEXT NOT NULL,
  external_id TEXT,
  display_name TEXT,
  profile_json TEXT NOT NULL,
  changed_at BIGINT NOT NULL,
  UNIQUE (account_id, name_key)
);

CREATE TABLE scim_groups (
  id TEXT NOT NULL PRIMARY KEY,
  account_id TEXT NOT NULL,
  display_name TEXT NOT NULL,
  external_id TEXT,
  created_at BIGINT NOT NULL,
  changed_at BIGINT NOT NULL,
  UNIQUE (account_id, display_name)
);

CREATE TABLE scim_members (
  group_id TEXT NOT NULL,
  user_id TEXT NOT NULL,
  PRIMARY KEY (group_id, user_id)
);

CREATE INDEX scim_members_by_user ON scim_members (user_id);

CREATE TABLE ended_names (
  account_id TEXT NOT NULL,
  name TEXT NOT NULL,
  user_id TEXT NOT NULL,
  PRIMARY KEY (account_id, name)
);

CREATE INDEX ended_names_by_user ON ended_names (user_id);
