-- Teams of an account, nested once, and the team and the person that a key belongs to. A key without a person is one of a
-- service. Members are users; their keys outlive them, revoked.

CREATE TABLE teams (
  id TEXT NOT NULL PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  name TEXT NOT NULL,
  parent_id TEXT,
  profile_id TEXT,
  allowed_models_json TEXT,
  tier_ceiling TEXT,
  created_at BIGINT NOT NULL,
  UNIQUE (account_id, name)
);

CREATE INDEX teams_by_age ON teams (account_id, created_at, id);

ALTER TABLE api_keys ADD COLUMN team_id TEXT;

ALTER TABLE api_keys ADD COLUMN member_id TEXT;

CREATE INDEX api_keys_by_team ON api_keys (team_id) WHERE team_id IS NOT NULL;

CREATE INDEX api_keys_by_member ON api_keys (member_id) WHERE member_id IS NOT NULL;
