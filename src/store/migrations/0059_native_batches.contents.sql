-- Batches of hosts, to which lines are sent where that is cheaper. `try_native` is 1 for a line until somebody has tried to.
-- `native` is the host of a line that was sent, sealed, and later its answer.

CREATE TABLE native_batches (
  account_id TEXT NOT NULL,
  id TEXT NOT NULL,
  batch_id TEXT NOT NULL,
  provider TEXT NOT NULL,
  remote_id TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  -- Time of the next look at it.
  poll_at BIGINT NOT NULL,
  PRIMARY KEY (account_id, id)
);

CREATE INDEX native_batches_due ON native_batches (poll_at);

ALTER TABLE batch_lines ADD COLUMN try_native BIGINT NOT NULL DEFAULT 0;

ALTER TABLE batch_lines ADD COLUMN native_id TEXT;

ALTER TABLE batch_lines ADD COLUMN native TEXT;

CREATE INDEX batch_lines_to_send ON batch_lines (account_id, batch_id) WHERE try_native = 1;
