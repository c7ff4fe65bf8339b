-- Limits per minute of a budget; null for none.
ALTER TABLE budgets ADD COLUMN requests_per_minute BIGINT;
ALTER TABLE budgets ADD COLUMN tokens_per_minute BIGINT;
