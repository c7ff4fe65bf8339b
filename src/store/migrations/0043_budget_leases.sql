-- Leases of budgets: what a process may reserve for requests without asking the database, as with wallets.

ALTER TABLE budget_counters ADD COLUMN leased BIGINT NOT NULL DEFAULT 0 CHECK (leased >= 0);

CREATE TABLE budget_leases (
  owner TEXT NOT NULL,
  account_id TEXT NOT NULL,
  counter_id TEXT NOT NULL,
  amount BIGINT NOT NULL CHECK (amount >= 0),
  PRIMARY KEY (owner, counter_id)
) /*sqlite WITHOUT ROWID*/;
