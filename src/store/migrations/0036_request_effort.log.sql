-- The effort that the model was asked for. Requests from before have none.

ALTER TABLE requests ADD COLUMN effort TEXT NOT NULL DEFAULT '';
