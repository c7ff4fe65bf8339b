-- The words of prompts and answers, to be searched; empty unless logging.content is on. They come as store/requests/words.ts
-- writes them, parted by spaces, so the tokenizer has nothing to decide. Only the index is kept, the texts are not.
-- A row's number begins with its time, so that the newest are found first.

CREATE VIRTUAL TABLE request_words USING fts5(words, content = '', contentless_delete = 1, tokenize = 'ascii');

-- Which request a row of request_words belongs to.
CREATE TABLE request_word_rows (number INTEGER PRIMARY KEY, id TEXT NOT NULL);
