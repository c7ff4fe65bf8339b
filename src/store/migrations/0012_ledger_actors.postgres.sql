-- Who moved money: a person's e-mail, the admin token or the command line. Only for what somebody did; charges have none.
-- Beside the transactions and not in them, so that a charge costs what it did and the version before books as it did.

CREATE TABLE ledger_actors (
  transaction_id TEXT NOT NULL PRIMARY KEY,
  actor TEXT NOT NULL
);

CREATE TRIGGER ledger_actors_append_only BEFORE UPDATE OR DELETE ON ledger_actors
FOR EACH ROW EXECUTE FUNCTION refuse_change();

CREATE TRIGGER ledger_actors_no_truncate BEFORE TRUNCATE ON ledger_actors
FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
