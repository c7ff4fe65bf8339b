-- Money. Amounts are integers in nano-USD. Transactions, entries and charges are only ever added (0003 makes the
-- database itself refuse anything else); wallets, holds and key_spends are what can be derived from them.
-- Only wallets have a foreign key. The rest is written by one function in one transaction, a check of each row would be a
-- third of the cost of a charge, and the audit finds rows that refer to nothing.
-- On SQLite, tables clustered by their key write half as many pages; that is all that the marked comments say there.

CREATE TABLE wallets (
  account_id TEXT NOT NULL PRIMARY KEY REFERENCES accounts (id),
  posted BIGINT NOT NULL,
  held BIGINT NOT NULL CHECK (held >= 0),
  sequence BIGINT NOT NULL,
  hash TEXT NOT NULL,
  CHECK (posted - held >= 0)
);

CREATE TABLE holds (
  id TEXT NOT NULL PRIMARY KEY,
  account_id TEXT NOT NULL,
  key_id TEXT NOT NULL,
  amount BIGINT NOT NULL CHECK (amount >= 0),
  state TEXT NOT NULL CHECK (state IN ('open', 'settled', 'voided', 'expired')),
  is_limited BIGINT NOT NULL,
  owner TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  resolved_at BIGINT
) /*sqlite WITHOUT ROWID*/;

CREATE INDEX holds_open ON holds (account_id) WHERE state = 'open';

CREATE TABLE key_spends (
  key_id TEXT NOT NULL PRIMARY KEY,
  spent BIGINT NOT NULL,
  held BIGINT NOT NULL CHECK (held >= 0)
);

-- The wallet's transactions in their order. A charge's id is made from its hold, so a hold is charged once.
CREATE TABLE ledger_transactions (
  account_id TEXT NOT NULL,
  sequence BIGINT NOT NULL,
  id TEXT NOT NULL UNIQUE,
  kind TEXT NOT NULL,
  balance_after BIGINT NOT NULL,
  hold_id TEXT,
  note TEXT,
  hash TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  PRIMARY KEY (account_id, sequence)
) /*sqlite WITHOUT ROWID*/;

CREATE TABLE ledger_entries (
  account_id TEXT NOT NULL,
  sequence BIGINT NOT NULL,
  book TEXT NOT NULL,
  amount BIGINT NOT NULL,
  PRIMARY KEY (account_id, sequence, book)
) /*sqlite WITHOUT ROWID*/;

CREATE TABLE charges (
  hold_id TEXT NOT NULL PRIMARY KEY,
  request_id TEXT NOT NULL,
  account_id TEXT NOT NULL,
  key_id TEXT NOT NULL,
  model TEXT NOT NULL,
  provider TEXT NOT NULL,
  input_tokens BIGINT NOT NULL,
  cache_read_tokens BIGINT NOT NULL,
  cache_write_tokens BIGINT NOT NULL,
  output_tokens BIGINT NOT NULL,
  is_estimated BIGINT NOT NULL,
  price_json TEXT NOT NULL,
  markup_ppm BIGINT NOT NULL,
  outcome TEXT NOT NULL,
  charge BIGINT NOT NULL,
  paid BIGINT NOT NULL,
  absorbed BIGINT NOT NULL,
  created_at BIGINT NOT NULL
) /*sqlite WITHOUT ROWID*/;

-- Who is alive, by the database's clock. Open holds of a silent process are released.
CREATE TABLE processes (
  id TEXT NOT NULL PRIMARY KEY,
  seen_at BIGINT NOT NULL
);

-- Answers kept for Idempotency-Key: in flight while answer_text is null.
CREATE TABLE idempotent_requests (
  id TEXT NOT NULL PRIMARY KEY,
  body_hash TEXT NOT NULL,
  owner TEXT NOT NULL,
  -- Of the very call that made the row, for when it does not learn whether it did.
  token TEXT NOT NULL,
  content_type TEXT,
  answer_text TEXT,
  created_at BIGINT NOT NULL
);

CREATE INDEX idempotent_requests_by_age ON idempotent_requests (created_at);
