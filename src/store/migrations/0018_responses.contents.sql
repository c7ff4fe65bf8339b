-- State of the Responses API: responses that can be continued or read again, and conversations. What people wrote is in
-- `content`, sealed with the secret of the installation; the columns beside it say nothing of it.

-- A row holds its own input and output. What came before is reached through parent_id.
CREATE TABLE responses (
  account_id TEXT NOT NULL,
  id TEXT NOT NULL,
  parent_id TEXT,
  status TEXT NOT NULL,
  is_background BIGINT NOT NULL,
  -- The process that works on it; null once it is over.
  owner TEXT,
  content TEXT NOT NULL,
  bytes BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  PRIMARY KEY (account_id, id)
);

CREATE INDEX responses_by_age ON responses (created_at);
CREATE INDEX responses_by_account ON responses (account_id, created_at, bytes);
CREATE INDEX responses_running ON responses (owner) WHERE status = 'in_progress';

-- In which response an item stands, for requests that name items by id.
CREATE TABLE response_items (
  account_id TEXT NOT NULL,
  id TEXT NOT NULL,
  response_id TEXT NOT NULL,
  PRIMARY KEY (account_id, id)
) /*sqlite WITHOUT ROWID*/;

CREATE INDEX response_items_by_response ON response_items (account_id, response_id);

CREATE TABLE conversations (
  account_id TEXT NOT NULL,
  id TEXT NOT NULL,
  content TEXT NOT NULL,
  -- Of the conversation and its items.
  bytes BIGINT NOT NULL,
  next_position BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  used_at BIGINT NOT NULL,
  PRIMARY KEY (account_id, id)
);

CREATE INDEX conversations_by_use ON conversations (used_at);

CREATE TABLE conversation_items (
  account_id TEXT NOT NULL,
  conversation_id TEXT NOT NULL,
  position BIGINT NOT NULL,
  id TEXT NOT NULL,
  content TEXT NOT NULL,
  bytes BIGINT NOT NULL,
  PRIMARY KEY (account_id, conversation_id, position)
);

CREATE UNIQUE INDEX conversation_items_by_id ON conversation_items (account_id, conversation_id, id);
CREATE INDEX conversation_items_anywhere ON conversation_items (account_id, id);
