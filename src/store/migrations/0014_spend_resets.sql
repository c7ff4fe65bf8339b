-- A spend limit may start anew each day, week or month (spend_reset; null: never). `spent` goes on counting everything, as
-- the version before does and audits; what was spent before the period that began at period_start is in spent_before.

ALTER TABLE api_keys ADD COLUMN spend_reset TEXT;

ALTER TABLE key_spends ADD COLUMN period_start BIGINT NOT NULL DEFAULT 0;

ALTER TABLE key_spends ADD COLUMN spent_before BIGINT NOT NULL DEFAULT 0;
