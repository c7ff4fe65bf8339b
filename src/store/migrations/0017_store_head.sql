-- How far a SQLite file has come: the number of its commits and its last ledger transaction. The same is written to a witness
-- file beside it, so that a file that lost commits is noticed. PostgreSQL guards its log itself, and one row that all
-- processes change would make them wait for each other.

/*sqlite CREATE TABLE store_head (id BIGINT NOT NULL PRIMARY KEY CHECK (id = 1), commits BIGINT NOT NULL, transactions BIGINT NOT NULL, account_id TEXT NOT NULL, sequence BIGINT NOT NULL, hash TEXT NOT NULL) WITHOUT ROWID;*/
/*sqlite INSERT INTO store_head SELECT 1, 0, COUNT(*), '', 0, '' FROM ledger_transactions;*/
/*sqlite CREATE TRIGGER ledger_transactions_head AFTER INSERT ON ledger_transactions BEGIN UPDATE store_head SET transactions = transactions + 1, account_id = NEW.account_id, sequence = NEW.sequence, hash = NEW.hash; END;*/

-- Commits that were lost and given up, by command or by a restore.
CREATE TABLE store_losses (
  accepted_at BIGINT NOT NULL,
  reason TEXT NOT NULL,
  commits BIGINT NOT NULL,
  transactions BIGINT NOT NULL
);
