-- The last comparison of prices with a price list. There is one row at most.

CREATE TABLE price_checks (
  id BIGINT NOT NULL PRIMARY KEY,
  check_json TEXT NOT NULL
);
