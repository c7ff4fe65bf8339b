-- A request that a lease covered is written once, as its charge: no hold of it was ever in the database.

ALTER TABLE charges ADD COLUMN is_reserved BIGINT NOT NULL DEFAULT 0;
