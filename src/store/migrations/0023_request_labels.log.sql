-- What callers say about a request: its conversation, its user, its tags. '' where they say nothing, and of requests from
-- before. A session is an opaque id; tags are a JSON object of texts.

ALTER TABLE requests ADD COLUMN session TEXT NOT NULL DEFAULT '';

-- started, stayed, switched or escalated.
ALTER TABLE requests ADD COLUMN session_state TEXT NOT NULL DEFAULT '';

ALTER TABLE requests ADD COLUMN end_user TEXT NOT NULL DEFAULT '';

ALTER TABLE requests ADD COLUMN tags TEXT NOT NULL DEFAULT '';

CREATE INDEX requests_by_session ON requests (account_id, session, id) WHERE session <> '';

CREATE INDEX requests_by_user ON requests (account_id, end_user, id) WHERE end_user <> '';

-- The tags once more, one row each, to be found and grouped by. Most requests have none.
CREATE TABLE request_tags (
  id TEXT /*postgres COLLATE "C"*/ NOT NULL,
  name TEXT NOT NULL,
  value TEXT NOT NULL,
  account_id TEXT NOT NULL,
  PRIMARY KEY (id, name)
) /*sqlite WITHOUT ROWID*/;

CREATE INDEX request_tags_by_value ON request_tags (account_id, name, value, id);
