-- Who moved money: a person's e-mail, the admin token or the command line. Only for what somebody did; charges have none.
-- Beside the transactions and not in them, so that a charge costs what it did and the version before books as it did.

CREATE TABLE ledger_actors (
  transaction_id TEXT NOT NULL PRIMARY KEY,
  actor TEXT NOT NULL
) WITHOUT ROWID;

CREATE TRIGGER ledger_actors_no_update BEFORE UPDATE ON ledger_actors
BEGIN SELECT RAISE(ABORT, 'ledger_actors is append-only'); END;

CREATE TRIGGER ledger_actors_no_delete BEFORE DELETE ON ledger_actors
BEGIN SELECT RAISE(ABORT, 'ledger_actors is append-only'); END;
