-- On SQLite, an index by session writes another page for almost every request, as the ids of sessions have no order. This
-- one has 512 places to write to, each in the order of time. A part of 512 of the log is read to find a session.

/*sqlite DROP INDEX requests_by_session;*/
/*sqlite CREATE INDEX requests_by_session_part ON requests (unicode(substr(session, -1)) * 8 + unicode(substr(session, -2)) % 8, id, session) WHERE session <> '';*/
