// Requests that carry an Idempotency-Key: the answer is kept and given again instead of a second charge.

import type { StoredAnswer } from "../ledger.ts";

/** Printable ASCII without spaces, as a header can carry it everywhere. */
export const IDEMPOTENCY_KEY = /^[\x21-\x7e]{1,255}$/;

export type Begun =
  /** This request is the first; go on. */
  | { readonly state: "new" }
  | { readonly state: "in-flight" }
  | { readonly state: "other-body" }
  /** Answered and charged, but the answer cannot be read any more. */
  | { readonly state: "lost" }
  | { readonly state: "answered"; readonly contentType: string; readonly text: string };

export interface IdempotencyStore {
  begin(id: string, bodyHash: string): Promise<Begun>;
  /** Seals an answer. The ledger notes what is returned, in the transaction of the charge. */
  keep(answer: StoredAnswer): Promise<StoredAnswer>;
  /** Forgets a request that was not answered, so that it can be tried again. */
  forget(id: string): Promise<void>;
  /** Removes requests older than this, and what dead processes left unanswered. */
  sweep(olderThanMs: number, silentMs: number): Promise<void>;
  /** Removes answers older than this. Seals those of earlier versions, and moves out those that the ledger had to take. */
  sweepAnswers(olderThanMs: number): Promise<void>;
}
