-- Batches and their lines. What people wrote is sealed.

CREATE TABLE batches (
  account_id TEXT NOT NULL,
  id TEXT NOT NULL,
  -- The API that it was created with, and whose objects it is shown as.
  api TEXT NOT NULL,
  status TEXT NOT NULL,
  -- Its lines run with this key, as long as it is valid.
  key_id TEXT NOT NULL,
  content TEXT NOT NULL,
  max_cost BIGINT,
  cost BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  -- What has not begun by then never will.
  expires_at BIGINT NOT NULL,
  cancelled_at BIGINT,
  ended_at BIGINT,
  deleted_at BIGINT NOT NULL,
  PRIMARY KEY (account_id, id)
);

CREATE INDEX batches_open ON batches (status, expires_at) WHERE ended_at IS NULL;
CREATE INDEX batches_by_end ON batches (deleted_at);

CREATE TABLE batch_lines (
  account_id TEXT NOT NULL,
  batch_id TEXT NOT NULL,
  position BIGINT NOT NULL,
  -- `new` until all lines of the batch are here.
  state TEXT NOT NULL,
  -- The process that runs it; null while none does.
  owner TEXT,
  not_before BIGINT NOT NULL,
  attempts BIGINT NOT NULL,
  request TEXT NOT NULL,
  result TEXT,
  PRIMARY KEY (account_id, batch_id, position)
);

-- Lines of all batches take turns.
CREATE INDEX batch_lines_waiting ON batch_lines (position, not_before) WHERE state = 'waiting';
CREATE INDEX batch_lines_running ON batch_lines (owner) WHERE state = 'running';
