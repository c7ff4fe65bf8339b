-- What processes on one database tell each other and count together.

-- A change of a key or a profile is told to every process that listens, when it is committed and not before. On SQLite there
-- is one process, and it polls for what commands change beside it.
/*postgres CREATE FUNCTION tell_access_changed() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_notify(''switchyard_access'', ''''); RETURN NULL; END';*/
/*postgres CREATE TRIGGER revisions_told AFTER UPDATE ON revisions FOR EACH STATEMENT EXECUTE FUNCTION tell_access_changed();*/

-- What was done in the last minutes under a name that has a limit: a JSON list of [second, count].
-- PostgreSQL writes no log of it and has it empty after a crash: a minute of counting is lost, and no request waits for a disk.
CREATE /*postgres UNLOGGED*/ TABLE call_windows (
  id TEXT NOT NULL PRIMARY KEY,
  counts_json TEXT NOT NULL,
  updated_at BIGINT NOT NULL
) /*postgres WITH (fillfactor = 50)*/;
