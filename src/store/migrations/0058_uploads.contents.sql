-- Uploads in parts. The file that an upload becomes has its row from the beginning, so that it takes up room. The bytes of a
-- part lie in file_parts, under the id of the part.

CREATE TABLE uploads (
  account_id TEXT NOT NULL,
  id TEXT NOT NULL,
  file_id TEXT NOT NULL,
  status TEXT NOT NULL,
  kept_ms BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL,
  PRIMARY KEY (account_id, id)
);

CREATE INDEX uploads_by_expiry ON uploads (expires_at);

CREATE TABLE upload_parts (
  account_id TEXT NOT NULL,
  upload_id TEXT NOT NULL,
  id TEXT NOT NULL,
  -- Number of the part among those of its upload.
  place BIGINT NOT NULL,
  bytes BIGINT NOT NULL,
  is_ready BIGINT NOT NULL,
  PRIMARY KEY (account_id, upload_id, id)
);
