-- Which requests of a profile a second model answers too.

ALTER TABLE profiles ADD COLUMN shadow_json TEXT;

-- What second answers of a profile cost in a day (UTC). A call is counted at its upper bound before it is made.
CREATE TABLE shadow_spend (
  profile_id TEXT NOT NULL,
  day TEXT NOT NULL,
  spent BIGINT NOT NULL,
  PRIMARY KEY (profile_id, day)
) /*sqlite WITHOUT ROWID*/;
