-- The service tier of the provider that was charged. Requests at the usual tier, and those from before, have none.

ALTER TABLE requests ADD COLUMN service_tier TEXT NOT NULL DEFAULT '';
