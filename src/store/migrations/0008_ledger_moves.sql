-- Top-ups and corrections are few among many charges; a list of them alone must not read past every charge.
-- Charges are not in it, so booking one costs nothing more.

CREATE INDEX ledger_moves ON ledger_transactions (account_id, sequence) WHERE kind <> 'charge';
