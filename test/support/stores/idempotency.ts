// Stores of requests with an Idempotency-Key, with a secret for tests.

import type { Db } from "../../../src/core/db.ts";
import type { IdempotencyStore } from "../../../src/core/requests/idempotency.ts";
import { createIdempotencyStore } from "../../../src/store/ledger/idempotency.ts";
import { createKeptAnswers, type KeptAnswers } from "../../../src/store/ledger/kept-answers.ts";
import { createSealer } from "../../../src/store/secret/seal.ts";

export function keptAnswersOf(db: Db, contents: Db = db, secret = "a secret for tests only"): KeptAnswers {
  return createKeptAnswers(db, contents, createSealer(Buffer.from(secret), "idempotent answers"));
}

export function idempotencyOf(db: Db, owner: string): IdempotencyStore {
  return createIdempotencyStore(db, keptAnswersOf(db), owner);
}
