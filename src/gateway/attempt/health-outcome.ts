// Tells what a failed attempt says about the health of the model, its provider or the key. Errors of the client and
// disconnects say nothing.

import type { Outcome } from "../../providers/health.ts";
import * as TEXT from "../text.ts";
import { type Failure, isUnpaid, type Verdict } from "./verdict.ts";

export function troubleOf(failure: Failure, { blame }: Verdict, isKeyless = false): Outcome {
  if (blame === "client") return "dropped";
  const trouble = { waitMs: failure.retryAfterMs, error: describe(failure) };
  if (blame === "operator") {
    if (failure.status === 404) return { kind: "refused-model", ...trouble };
    return { kind: "refused-key", ...trouble, error: `${refusalOf(failure, isKeyless)}, ${trouble.error}` };
  }
  if (failure.status === 429) return { kind: "limited", ...trouble };
  return { kind: failure.kind === "connect" ? "unreachable" : "failing", ...trouble };
}

/** Tells whether the key failed: the same model may answer with another key. */
export function isOfKey(failure: Failure, verdict: Verdict): boolean {
  const trouble = troubleOf(failure, verdict);
  return typeof trouble === "object" && (trouble.kind === "limited" || trouble.kind === "refused-key");
}

/** The outcome of a stream that had begun and whose rest never came. */
export const BROKEN_STREAM: Outcome = { kind: "failing", waitMs: null, error: TEXT.interrupted };

/** The dashboard shows these words as they are, so they have no comma. */
function refusalOf(failure: Failure, isKeyless: boolean): string {
  if (isUnpaid(failure)) return TEXT.creditUsedUp;
  return isKeyless ? TEXT.keyMissing : TEXT.keyRefused;
}

/** Without the provider's own words, which may repeat our key or the prompt, and without addresses. */
function describe({ kind, status, message, fault }: Failure): string {
  if (kind === "status") return TEXT.status(status);
  if (kind === "connect") return `${TEXT.unreachable}${codeIn(message)}`;
  if (kind === "broken") return `${TEXT.connectionBroke}${codeIn(message)}`;
  return fault === null ? message : TEXT.errorForAnswer;
}

function codeIn(message: string): string {
  const code = /\b(?:E[A-Z]{3,}|[A-Z]+(?:_[A-Z]+)+)\b/.exec(message);
  return code === null ? "" : ` (${code[0]})`;
}
