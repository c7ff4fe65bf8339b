-- The team and the person that the key belonged to then. A key that moves leaves its history where it was.

ALTER TABLE requests ADD COLUMN team_id TEXT NOT NULL DEFAULT '';

ALTER TABLE requests ADD COLUMN member_id TEXT NOT NULL DEFAULT '';

CREATE INDEX requests_by_team ON requests (account_id, team_id, id) WHERE team_id <> '';

CREATE INDEX requests_by_member ON requests (account_id, member_id, id) WHERE member_id <> '';
