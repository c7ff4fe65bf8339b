-- Files that clients upload. Their bytes lie in parts, sealed with the secret of the installation.

CREATE TABLE files (
  account_id TEXT NOT NULL,
  id TEXT NOT NULL,
  purpose TEXT NOT NULL,
  -- `writing` until all parts are here. Nobody sees such a file.
  state TEXT NOT NULL CHECK (state IN ('writing', 'ready')),
  -- The name that the client gave it, sealed.
  content TEXT NOT NULL,
  bytes BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL,
  PRIMARY KEY (account_id, id)
);

CREATE INDEX files_by_age ON files (account_id, created_at, id);
CREATE INDEX files_by_expiry ON files (expires_at);

CREATE TABLE file_parts (
  account_id TEXT NOT NULL,
  file_id TEXT NOT NULL,
  position BIGINT NOT NULL,
  content TEXT NOT NULL,
  PRIMARY KEY (account_id, file_id, position)
) /*sqlite WITHOUT ROWID*/;
