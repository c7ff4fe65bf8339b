// Admission: verifies the API key and counts the call against its rate limit. Runs before the body is read. Behaviour 3.

import type { IdentityTokens } from "../accounts/identity/tokens.ts";
import type { Keys, Verification } from "../accounts/keys.ts";
import type { Admission, CallLimits } from "../accounts/limits/per-minute.ts";
import type { WrongKeys } from "../accounts/limits/wrong-keys.ts";
import { GatewayError } from "../core/errors.ts";
import type { Caller } from "./call.ts";
import * as TEXT from "./text.ts";

/** Services that admission asks: the keys, the tokens of identity providers, the per-minute limits, and the wrong keys that an address has sent. */
export interface AdmissionServices {
  readonly keys: Keys;
  readonly tokens: IdentityTokens;
  readonly limiter: CallLimits;
  readonly wrongKeys: WrongKeys;
  requestsPerMinute(): number;
  readonly now: () => number;
}

export interface Admitted {
  readonly caller: Caller;
  readonly admission: Admission;
}

const BEARER = /^Bearer +(\S+) *$/i;

export interface Credentials {
  readonly authorization: string | undefined;
  /** The format's own header for keys, such as `x-api-key`, where it has one. */
  readonly apiKey: string | undefined;
  /** The hash of the key of a request that the gateway itself sends for it. */
  readonly hash?: string | null;
  /** The client's network address. To learn it takes a system call, and a known key needs none. */
  readonly address: () => string;
}

export async function admit(credentials: Credentials, services: AdmissionServices): Promise<Admitted> {
  if ((credentials.hash ?? null) !== null) return admitHash(credentials.hash as string, services);
  const keyText = keyTextOf(credentials);
  const waitSeconds = (): number => services.wrongKeys.waitSeconds(credentials.address());
  // Keys in memory are admitted all the same, since others may share the address. The rest are not looked up at all.
  const mayAsk = (): boolean => waitSeconds() === 0;
  const { keys, tokens } = services;
  const verified =
    keyText === null ? UNKNOWN : await (tokens.isTokenShaped(keyText) ? tokens : keys).verify(keyText, mayAsk);
  if (verified.state !== "unknown") return admitVerified(verified, services);
  const seconds = waitSeconds();
  if (seconds > 0) throw tooManyWrongKeys(seconds);
  if (!isGiven(credentials)) throw missingKey();
  services.wrongKeys.note(credentials.address());
  throw wrongKey();
}

/** A response of a session that was admitted before. */
export async function admitAgain(
  hash: string,
  services: Pick<AdmissionServices, "keys" | "limiter" | "requestsPerMinute" | "now">,
): Promise<Caller> {
  const { caller, admission } = await admitVerified(verifiedAgain(hash, services.keys), services);
  if (!admission.allowed) throw tooManyRequests(admission);
  return caller;
}

/** Throws where the key does not open anything any more. */
export function verifiedAgain(hash: string, keys: Pick<Keys, "verifyHash">): Extract<KnownKey, { state: "ok" }> {
  const verified = keys.verifyHash(hash);
  if (verified.state === "unknown") throw wrongKey();
  if (verified.state === "profile-deleted") throw profileDeleted();
  return verified;
}

/** A line of a batch. It is counted apart first, so that half of the calls per minute stay for those that somebody waits for. */
async function admitHash(hash: string, services: AdmissionServices): Promise<Admitted> {
  const verified = services.keys.verifyHash(hash);
  if (verified.state === "unknown") throw wrongKey();
  if (verified.state === "ok") {
    const { key, profile, teams } = verified;
    const half = Math.ceil((key.requestsPerMinute ?? services.requestsPerMinute()) / 2);
    const admission = await services.limiter.admit(`${key.id}/lines`, half, services.now());
    if (!admission.allowed) return { caller: { key, profile, teams }, admission };
  }
  return admitVerified(verified, services);
}

const UNKNOWN: Verification = { state: "unknown" };

/** A request without any key is no guess, so it does not count as a wrong one. An unset variable leaves `Bearer` alone. */
function isGiven({ authorization = "", apiKey = "" }: Credentials): boolean {
  return !/^(Bearer)?\s*$/i.test(authorization) || apiKey.trim() !== "";
}

/** Two keys that differ count as none: it would be a guess whose request it is. */
function keyTextOf({ authorization, apiKey }: Credentials): string | null {
  const bearer = authorization === undefined ? apiKey?.trim() : BEARER.exec(authorization)?.[1];
  const differs = apiKey !== undefined && bearer !== apiKey.trim();
  return bearer === undefined || differs ? null : bearer;
}

async function admitVerified(
  verification: KnownKey,
  services: Pick<AdmissionServices, "limiter" | "requestsPerMinute" | "now">,
): Promise<Admitted> {
  if (verification.state === "profile-deleted") throw profileDeleted();
  const { key, profile, teams } = verification;
  const limit = key.requestsPerMinute ?? services.requestsPerMinute();
  const admission = await services.limiter.admit(key.id, limit, services.now());
  return { caller: { key, profile, teams }, admission };
}

type KnownKey = Exclude<Verification, { state: "unknown" }>;

function profileDeleted(): GatewayError {
  return new GatewayError("unauthenticated", TEXT.profileDeleted, { code: "profile_deleted" });
}

function missingKey(): GatewayError {
  return new GatewayError("unauthenticated", TEXT.missingKey, { code: "missing_api_key" });
}

/** The same body for every key that is not valid, so that callers learn nothing from it. */
function wrongKey(): GatewayError {
  return new GatewayError("unauthenticated", TEXT.invalidKey, { code: "invalid_api_key" });
}

export function tooManyWrongKeys(retryAfterSeconds: number): GatewayError {
  const message = TEXT.tooManyWrongKeys(retryAfterSeconds);
  return new GatewayError("rateLimited", message, { code: "too_many_wrong_keys", retryAfterSeconds });
}

export function tooManyRequests(admission: Admission): GatewayError {
  const message = TEXT.rateLimited(admission.limit, admission.retryAfterSeconds);
  return new GatewayError("rateLimited", message, {
    code: "rate_limit_exceeded",
    retryAfterSeconds: admission.retryAfterSeconds,
  });
}
