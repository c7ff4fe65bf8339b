-- Bytes of requests that a batch has stored, as an account may have so many of them. A line that has run keeps no body.

ALTER TABLE batches ADD COLUMN bytes BIGINT NOT NULL DEFAULT 0;
