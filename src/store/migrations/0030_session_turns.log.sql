-- The last turn of each session, so that other processes and a restart know it. Losing a row costs money at most.

CREATE TABLE session_turns (
  session TEXT NOT NULL PRIMARY KEY,
  turn_at BIGINT NOT NULL,
  turn_json TEXT NOT NULL
);

CREATE INDEX session_turns_by_time ON session_turns (turn_at);
