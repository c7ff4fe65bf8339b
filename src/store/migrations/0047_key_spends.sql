-- The key that the spending of a key counts under: the first of those that it replaced by rotation. NULL is the key itself.

ALTER TABLE api_keys ADD COLUMN spend_key_id TEXT;
