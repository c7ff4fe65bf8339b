-- People as identity providers know them, matched by issuer and subject, and sign-ins that are under way there. A pending
-- sign-in is used once. It holds the hash of its state; the secrets behind it are in the browser's cookie.

CREATE TABLE identities (
  id TEXT NOT NULL PRIMARY KEY,
  issuer TEXT NOT NULL,
  subject TEXT NOT NULL,
  user_id TEXT NOT NULL,
  email TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  last_sign_in_at BIGINT NOT NULL,
  UNIQUE (issuer, subject),
  UNIQUE (user_id, issuer)
);

CREATE TABLE pending_sign_ins (
  state_hash TEXT NOT NULL PRIMARY KEY,
  provider TEXT NOT NULL,
  return_to TEXT NOT NULL,
  link_to TEXT,
  expires_at BIGINT NOT NULL
);

CREATE INDEX pending_sign_ins_by_expiry ON pending_sign_ins (expires_at);
