// Tokens that a provider is called with for a while: fetched once for all requests that wait, and renewed before they
// expire. Until then the old one is used, so no request waits for a renewal.

import type { SignInState } from "../../core/model.ts";

/** A token and when it ends. */
export interface Token {
  readonly text: string;
  readonly expiresAtMs: number;
  /** Holder of the token, where its source tells. */
  readonly identity?: string | undefined;
  /** Says that its source will have no later one. */
  readonly isFixed?: boolean | undefined;
}

export interface TokenCache {
  /** A token other than the one that was refused. Rejects when none can be had. */
  current(refused: string | null): Promise<string>;
  /** The tokens in use. */
  secrets(): readonly string[];
  /** Returns null before the first token was asked for. */
  state(): SignInState | null;
}

/** A token is renewed in the last fifth of its life, and at most this long before its end. */
const EARLY_SHARE = 0.2;
const EARLY_MAX_MS = 300_000;
/** Timeout of a fetch. */
const FETCH_MAX_MS = 10_000;
/** After a renewal that failed, the old token serves this long before the next one is tried. */
const RETRY_AFTER_MS = 5_000;

export function createTokens(fetchToken: (signal: AbortSignal) => Promise<Token>, now = Date.now): TokenCache {
  let held: { readonly token: Token; readonly renewAtMs: number } | null = null;
  let pending: Promise<string> | null = null;
  let notBeforeMs = 0;
  let problem: string | null = null;

  async function fetchNew(): Promise<string> {
    try {
      const token = await fetchToken(AbortSignal.timeout(FETCH_MAX_MS));
      if (!/^[\x21-\x7e]+$/.test(token.text)) throw new Error("the token is not one line of plain characters");
      const lifeMs = token.expiresAtMs - now();
      held = { token, renewAtMs: token.expiresAtMs - Math.min(EARLY_MAX_MS, lifeMs * EARLY_SHARE) };
      problem = null;
      return token.text;
    } catch (error) {
      problem = (error as Error).message;
      notBeforeMs = now() + RETRY_AFTER_MS;
      throw error;
    }
  }

  /** All who ask while one is fetched get that one. */
  function renewed(): Promise<string> {
    pending ??= fetchNew().finally(() => {
      pending = null;
    });
    return pending;
  }

  return {
    current(refused) {
      const nowMs = now();
      if (held === null || held.token.text === refused || held.token.expiresAtMs <= nowMs) return renewed();
      if (held.renewAtMs <= nowMs && notBeforeMs <= nowMs) renewed().catch(() => undefined);
      return Promise.resolve(held.token.text);
    },
    secrets: () => (held === null ? [] : [held.token.text]),
    state() {
      if (held === null && problem === null) return null;
      const { identity = null, expiresAtMs = null, isFixed = false } = held?.token ?? {};
      const endsAtMs = expiresAtMs === Number.POSITIVE_INFINITY ? null : expiresAtMs;
      return { identity, expiresAtMs: endsAtMs, problem, isRenewed: !isFixed };
    },
  };
}
