-- What the parts of a counter come to, and the start of the newest part. `counted` is never less than what counts now, so that
-- the values that have spent most are found without reading all. Counters whose parts are over are deleted.

ALTER TABLE budget_counters ADD COLUMN counted BIGINT NOT NULL DEFAULT 0;

ALTER TABLE budget_counters ADD COLUMN counted_to BIGINT NOT NULL DEFAULT 0;

UPDATE budget_counters SET counted = spent, counted_to = COALESCE(/*sqlite json_extract(parts_json, '$[#-1][0]')*/
  /*postgres CAST(CAST(parts_json AS json) -> -1 ->> 0 AS BIGINT)*/, 0);

DROP INDEX budget_counters_by_budget;

CREATE INDEX budget_counters_by_part ON budget_counters (budget_id, counted_to);

CREATE INDEX budget_counters_by_age ON budget_counters (counted_to);
