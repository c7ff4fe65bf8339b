-- Leases: what a process may reserve for requests without asking the database. It comes out of what is available.

ALTER TABLE wallets ADD COLUMN leased BIGINT NOT NULL DEFAULT 0 CHECK (leased >= 0 AND posted - held - leased >= 0);

-- Grows when leases are wanted back, and when what a silent process has is ended for it.
ALTER TABLE wallets ADD COLUMN epoch BIGINT NOT NULL DEFAULT 0;

CREATE TABLE leases (
  owner TEXT NOT NULL,
  account_id TEXT NOT NULL,
  amount BIGINT NOT NULL CHECK (amount > 0),
  PRIMARY KEY (owner, account_id)
);
