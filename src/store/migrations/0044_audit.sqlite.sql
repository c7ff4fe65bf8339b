-- Who changed what: rows are only added, each with a hash over itself and the one before. `audit_head` has the newest
-- hash, and the last row that the retention took away.

CREATE TABLE audit_log (
  sequence BIGINT NOT NULL PRIMARY KEY,
  created_at BIGINT NOT NULL,
  actor_kind TEXT NOT NULL,
  actor TEXT NOT NULL,
  actor_account TEXT,
  action TEXT NOT NULL,
  object TEXT NOT NULL,
  account_id TEXT,
  outcome TEXT NOT NULL,
  address TEXT,
  request_id TEXT,
  before_json TEXT,
  after_json TEXT,
  hash TEXT NOT NULL
);
CREATE INDEX audit_log_account ON audit_log (account_id, sequence);
CREATE INDEX audit_log_time ON audit_log (created_at);

CREATE TABLE audit_head (
  id INTEGER NOT NULL PRIMARY KEY,
  sequence BIGINT NOT NULL,
  hash TEXT NOT NULL,
  cut_sequence BIGINT NOT NULL,
  cut_hash TEXT NOT NULL
);
INSERT INTO audit_head (id, sequence, hash, cut_sequence, cut_hash) VALUES (1, 0, '', 0, '');

-- Written in the transaction of the change itself; becomes a row of the log when the change has been answered.
CREATE TABLE audit_pending (
  id TEXT NOT NULL PRIMARY KEY,
  created_at BIGINT NOT NULL,
  entry_json TEXT NOT NULL
);

CREATE TRIGGER audit_log_no_update BEFORE UPDATE ON audit_log
BEGIN SELECT RAISE(ABORT, 'audit_log is append-only'); END;

CREATE TRIGGER audit_log_no_delete BEFORE DELETE ON audit_log
WHEN OLD.sequence > (SELECT cut_sequence FROM audit_head WHERE id = 1)
BEGIN SELECT RAISE(ABORT, 'audit_log is append-only'); END;
