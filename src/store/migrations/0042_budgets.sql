-- Budgets: what the requests of an account may cost in a period. A deleted budget keeps its row, because open holds refer to
-- its counters.
CREATE TABLE budgets (
  id TEXT NOT NULL PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  name TEXT NOT NULL,
  scope TEXT NOT NULL,
  value TEXT,
  amount BIGINT NOT NULL CHECK (amount >= 0),
  period TEXT NOT NULL,
  is_rolling BIGINT NOT NULL,
  time_zone TEXT NOT NULL,
  is_hard BIGINT NOT NULL,
  is_by_operator BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  deleted_at BIGINT
);

CREATE INDEX budgets_by_age ON budgets (account_id, created_at, id);

-- What was spent and is on hold, for each value that a budget counts for itself. The id is that of the budget, a space and
-- the value. `parts_json` is a JSON list of [start, amount], amounts as text. `version` grows with every write, so that a
-- process that remembers an older row cannot write.
CREATE TABLE budget_counters (
  id TEXT NOT NULL PRIMARY KEY,
  budget_id TEXT NOT NULL,
  spent BIGINT NOT NULL,
  held BIGINT NOT NULL CHECK (held >= 0),
  parts_json TEXT NOT NULL,
  version BIGINT NOT NULL
) /*sqlite WITHOUT ROWID*/;

CREATE INDEX budget_counters_by_budget ON budget_counters (budget_id, spent);

-- The counters that a hold counts on.
CREATE TABLE hold_budgets (
  hold_id TEXT NOT NULL,
  counter_id TEXT NOT NULL,
  amount BIGINT NOT NULL,
  PRIMARY KEY (hold_id, counter_id)
) /*sqlite WITHOUT ROWID*/;
