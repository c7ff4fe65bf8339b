-- A spend limit can be reset each day, week or month (spend_reset, null for never). `spent` is the total of all periods,
-- as in earlier versions and in audits. The part from before the current period, which began at period_start, is in
-- spent_before.

ALTER TABLE api_keys ADD COLUMN spend_reset TEXT;

ALTER TABLE key_spends ADD COLUMN period_start BIGINT NOT NULL DEFAULT 0;

ALTER TABLE key_spends ADD COLUMN spent_before BIGINT NOT NULL DEFAULT 0;
