-- Metered accounts: their holds reserve nothing in the wallet, and each charge is covered by a grant of its own.
-- billing_mode is null where the account follows the gateway's setting.

ALTER TABLE accounts ADD COLUMN billing_mode TEXT;

ALTER TABLE holds ADD COLUMN is_metered BIGINT NOT NULL DEFAULT 0;

-- A metered account has as many grants as charges, so grants leave the index of the few other entries.
DROP INDEX ledger_moves;

CREATE INDEX ledger_moves ON ledger_transactions (account_id, sequence) WHERE kind IN ('topup', 'adjustment');

CREATE INDEX ledger_grants ON ledger_transactions (account_id, sequence) WHERE kind = 'grant';
