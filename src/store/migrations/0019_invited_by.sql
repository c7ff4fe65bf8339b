-- Who sent an invitation, for the page that it opens. Empty for links made by the admin token or a command.

ALTER TABLE invitations ADD COLUMN invited_by TEXT NOT NULL DEFAULT '';
