-- Which secret stored contents were last sealed with, as a fingerprint: a process with another one cannot read them.
CREATE TABLE secret_fingerprints (
  id BIGINT NOT NULL PRIMARY KEY CHECK (id = 1),
  fingerprint TEXT NOT NULL
);
