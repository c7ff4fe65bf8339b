-- Tool calls that could be used, by account, so that what one sends cannot lower a model for the others. It takes the place
-- of tool_call_tallies, which the version before still writes to; that table goes with the next version.

CREATE TABLE request_tool_calls (
  account_id TEXT NOT NULL,
  model TEXT NOT NULL,
  scenario TEXT NOT NULL,
  calls BIGINT NOT NULL,
  parsed BIGINT NOT NULL,
  known BIGINT NOT NULL,
  valid BIGINT NOT NULL,
  PRIMARY KEY (account_id, model, scenario)
) /*sqlite WITHOUT ROWID*/;
