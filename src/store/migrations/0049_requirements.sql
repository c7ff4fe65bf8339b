-- Regions, retention and providers that a key or a team requires of every host, as JSON. Null requires nothing.

ALTER TABLE api_keys ADD COLUMN requires_json TEXT;

ALTER TABLE teams ADD COLUMN requires_json TEXT;
