-- Versions of the run-time configuration. Secrets in the document are sealed with the secret of the installation.

CREATE TABLE config_versions (
  number BIGINT NOT NULL PRIMARY KEY,
  -- A person's e-mail, the admin token or the command line.
  author TEXT NOT NULL,
  note TEXT NOT NULL,
  document_json TEXT NOT NULL,
  created_at BIGINT NOT NULL
);

-- Told to every process that listens, on the channel of keys and profiles. On SQLite, processes poll.
/*postgres CREATE TRIGGER config_versions_told AFTER INSERT ON config_versions FOR EACH STATEMENT EXECUTE FUNCTION tell_access_changed();*/
