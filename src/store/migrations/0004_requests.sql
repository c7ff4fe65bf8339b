-- Tool calls that could be used, until 0010_tool_calls_by_account.

CREATE TABLE tool_call_tallies (
  model TEXT NOT NULL,
  scenario TEXT NOT NULL,
  calls BIGINT NOT NULL,
  parsed BIGINT NOT NULL,
  known BIGINT NOT NULL,
  valid BIGINT NOT NULL,
  PRIMARY KEY (model, scenario)
);
