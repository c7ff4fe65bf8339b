-- Which process checks prices next, and when. There is one row at most.

CREATE TABLE price_turns (
  id BIGINT NOT NULL PRIMARY KEY,
  next_at BIGINT NOT NULL
);
