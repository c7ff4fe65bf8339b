-- What an application says of an answer, beside the mark that a person sets in the dashboard. `tier` is '' where only an
-- application has spoken.

ALTER TABLE request_feedback ADD COLUMN app_score DOUBLE PRECISION;

ALTER TABLE request_feedback ADD COLUMN app_tier TEXT;

ALTER TABLE request_feedback ADD COLUMN app_comment TEXT;

ALTER TABLE request_feedback ADD COLUMN app_key_id TEXT;

ALTER TABLE request_feedback ADD COLUMN app_at BIGINT;
