-- Where a process that could not write finds out whether it can again. Rows are deleted at once.

CREATE TABLE write_trials (
  id TEXT PRIMARY KEY,
  filler TEXT NOT NULL
);
