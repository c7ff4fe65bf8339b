-- `hold` is 'open' as long as the hold of the batch may be. `runs` counts the times that a line was begun, and `over` says
-- up to which of them nothing can be charged any more.

ALTER TABLE batches ADD COLUMN hold TEXT NOT NULL DEFAULT 'open';

ALTER TABLE batch_lines ADD COLUMN runs BIGINT NOT NULL DEFAULT 0;

ALTER TABLE batch_lines ADD COLUMN over BIGINT NOT NULL DEFAULT 0;

CREATE INDEX batches_held ON batches (ended_at) WHERE hold = 'open';
