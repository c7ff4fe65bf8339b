-- A request that a lease covered is written once, as its charge: no hold of it was ever in the database.

ALTER TABLE charges ADD COLUMN is_reserved BIGINT NOT NULL DEFAULT 0;

-- The writer of the ledger tells the head once for each batch, instead of a trigger for each row.
/*sqlite DROP TRIGGER ledger_transactions_head;*/
