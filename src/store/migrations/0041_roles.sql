-- Finer roles within an account. The older column keeps saying whether somebody sees the installation or one account, so
-- that older builds on this database never show anybody another account. Teams are a JSON list of ids.

ALTER TABLE users ADD COLUMN account_role TEXT NOT NULL DEFAULT 'admin';

ALTER TABLE users ADD COLUMN teams_json TEXT NOT NULL DEFAULT '[]';

CREATE INDEX users_by_account ON users (account_id, created_at, id);

ALTER TABLE invitations ADD COLUMN account_role TEXT NOT NULL DEFAULT 'admin';

ALTER TABLE invitations ADD COLUMN teams_json TEXT NOT NULL DEFAULT '[]';
