// Who is calling, and whether they may now. Runs before the body is read. SPEC 5, 8.1.

import type { Keys, Verification } from "../accounts/keys.ts";
import type { Admission, CallLimits } from "../accounts/limits.ts";
import { GatewayError } from "../core/errors.ts";
import type { Caller } from "./call.ts";

export interface Doorkeeper {
  readonly keys: Keys;
  readonly limiter: CallLimits;
  readonly requestsPerMinute: number;
  readonly now: () => number;
}

export interface Admitted {
  readonly caller: Caller;
  readonly admission: Admission;
}

const BEARER = /^Bearer +(\S+) *$/i;

export interface Credentials {
  readonly authorization: string | undefined;
  /** The `x-api-key` header, where the path takes it. */
  readonly apiKey: string | undefined;
}

export function admit(credentials: Credentials, door: Doorkeeper): Admitted | Promise<Admitted> {
  const keyText = keyTextOf(credentials);
  if (keyText === null) throw unauthenticated();
  const verification = door.keys.verify(keyText);
  return verification instanceof Promise
    ? verification.then((verified) => admitVerified(verified, door))
    : admitVerified(verification, door);
}

/** Two keys that differ are none: it would be a guess whose request it is. */
function keyTextOf({ authorization, apiKey }: Credentials): string | null {
  const bearer = authorization === undefined ? apiKey?.trim() : BEARER.exec(authorization)?.[1];
  const differs = apiKey !== undefined && bearer !== apiKey.trim();
  return bearer === undefined || differs ? null : bearer;
}

function admitVerified(verification: Verification, door: Doorkeeper): Admitted | Promise<Admitted> {
  if (verification.state === "profile-deleted") {
    throw new GatewayError("unauthenticated", "The routing profile of this key was deleted. Use another key.", {
      code: "profile_deleted",
    });
  }
  if (verification.state === "unknown") throw unauthenticated();
  const { key, profile } = verification;
  const limit = key.requestsPerMinute ?? door.requestsPerMinute;
  const caller = { key, profile };
  const admission = door.limiter.admit(key.id, limit, door.now());
  return admission instanceof Promise
    ? admission.then((counted) => ({ caller, admission: counted }))
    : { caller, admission };
}

/** One and the same answer for every key that is not good, so that nothing can be learnt from it. */
function unauthenticated(): GatewayError {
  const message =
    "The API key is missing, malformed, unknown, expired or revoked. Send 'Authorization: Bearer sk-service-…'.";
  return new GatewayError("unauthenticated", message, { code: "invalid_api_key" });
}

export function tooManyRequests(admission: Admission): GatewayError {
  const message = `The limit of ${admission.limit} requests a minute is reached. Wait ${admission.retryAfterSeconds} s.`;
  return new GatewayError("rateLimited", message, {
    code: "rate_limit_exceeded",
    retryAfterSeconds: admission.retryAfterSeconds,
  });
}
