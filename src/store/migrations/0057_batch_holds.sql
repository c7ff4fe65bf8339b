-- The hold of a batch: `lent` is what open holds of its lines have from it, null for every other hold. Where it is capped,
-- lines may cost no more.

ALTER TABLE holds ADD COLUMN lent BIGINT CHECK (lent >= 0);

ALTER TABLE holds ADD COLUMN is_capped BIGINT NOT NULL DEFAULT 0;
