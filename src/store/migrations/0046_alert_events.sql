-- Events that somebody may want to know of. While one lasts, ended_at is null, and there is no second one of its kind
-- and subject. '' is the account of the installation.

CREATE TABLE alert_events (
  id TEXT /*postgres COLLATE "C"*/ NOT NULL PRIMARY KEY,
  kind TEXT NOT NULL,
  severity TEXT NOT NULL,
  account_id TEXT NOT NULL,
  subject TEXT NOT NULL,
  event_text TEXT NOT NULL,
  data_json TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  seen_at BIGINT NOT NULL,
  ended_at BIGINT
);

CREATE UNIQUE INDEX alert_events_open ON alert_events (account_id, kind, subject) WHERE ended_at IS NULL;

CREATE INDEX alert_events_by_account ON alert_events (account_id, id);

-- Which process looks at what all processes share, and until when.
CREATE TABLE alert_turns (
  name TEXT NOT NULL PRIMARY KEY,
  next_at BIGINT NOT NULL
);
