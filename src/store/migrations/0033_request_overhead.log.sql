-- Time that the gateway itself took of a request. Of requests from before, it is not known.

ALTER TABLE requests ADD COLUMN overhead_ms BIGINT;
