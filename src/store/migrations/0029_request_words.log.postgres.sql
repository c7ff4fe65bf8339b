-- The words of prompts and answers, to be searched; empty unless logging.content is on. They come as store/requests/words.ts
-- writes them, with their places, so no dictionary of the server is asked.

CREATE TABLE request_words (
  id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
  words TSVECTOR NOT NULL
);

CREATE INDEX request_words_by_word ON request_words USING GIN (words);
