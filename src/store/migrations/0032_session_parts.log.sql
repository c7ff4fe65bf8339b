-- On SQLite, an index by session writes another page for almost every request, as the ids of sessions have no order. This
-- one writes to 4,096 places at most, each in the order of time. To find a session, one such part of the log is read.

/*sqlite DROP INDEX requests_by_session;*/
/*sqlite CREATE INDEX requests_by_session_part ON requests (substr(session, -2), id, session) WHERE session <> '';*/
