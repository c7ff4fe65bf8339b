-- Where events are sent, and what waits to be sent. A message is made in the transaction of its event, one for each
-- target, and its id never changes. '' is the account of the installation, and '' for kinds_text means all kinds.

CREATE TABLE alert_targets (
  id TEXT NOT NULL PRIMARY KEY,
  account_id TEXT NOT NULL,
  channel TEXT NOT NULL,
  name TEXT NOT NULL,
  -- As |kind|kind|.
  kinds_text TEXT NOT NULL,
  quiet_json TEXT,
  is_paused BIGINT NOT NULL,
  address_shown TEXT NOT NULL,
  -- The address, and the secret that messages are signed with.
  sealed_text TEXT NOT NULL,
  created_at BIGINT NOT NULL
);

CREATE TABLE alert_messages (
  id TEXT NOT NULL PRIMARY KEY,
  event_id TEXT NOT NULL,
  target_id TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('waiting', 'sent', 'failed')),
  attempts BIGINT NOT NULL,
  next_at BIGINT NOT NULL,
  leased_until BIGINT NOT NULL,
  result_text TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  done_at BIGINT
);

CREATE INDEX alert_messages_waiting ON alert_messages (next_at) WHERE state = 'waiting';

CREATE INDEX alert_messages_by_target ON alert_messages (target_id, created_at);
