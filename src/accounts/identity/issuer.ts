// One issuer: its discovered endpoints and its keys. Both are kept while it does not answer, so that tokens are checked
// and sign-ins begin from memory. The libraries are loaded with the first use.

import type { JWTPayload, RemoteJWKSet } from "jose";
import type { ClientAuth, Configuration, CustomFetch } from "openid-client";
import { GatewayError } from "../../core/errors.ts";
import type { IdentityProvider } from "../../core/people.ts";

export interface Issuer {
  /** Throws a GatewayError of kind `unavailable` while the issuer was never reached. */
  configuration(): Promise<Configuration>;
  /** The claims of a token for programs; null for a token that this issuer did not sign. Throws when it is not for us. */
  claimsOf(token: string): Promise<JWTPayload | null>;
}

/** Interval after which endpoints and keys are read again. A key that is withdrawn is refused from then on. */
const FRESH_MS = 10 * 60_000;
/** Shortest time between two reads of the keys because of a key that is not known. */
const COOL_DOWN_MS = 10_000;
/** Time for which an issuer that did not answer is not asked again. */
const FAILED_MS = 3_000;
const TIMEOUT_MS = 5_000;
/** Clocks of two machines may differ by this much. */
export const CLOCK_TOLERANCE_SECONDS = 60;

export function createIssuer(provider: IdentityProvider, now: () => number = () => Date.now()): Issuer {
  const send = failingFast(now);
  const discovered = keptWhileDown(() => discover(provider, send), now);
  let keys: { readonly uri: string; readonly set: RemoteJWKSet } | null = null;
  let keysReadAtMs = now();
  let reading: Promise<void> = Promise.resolve();
  const keySet = async (uri: string): Promise<RemoteJWKSet> => {
    const { createRemoteJWKSet, customFetch } = await import("jose");
    if (keys?.uri !== uri) {
      if (isPlain(uri) && !isPlain(provider.issuer)) throw new Error(`the keys at ${uri} are not protected by https`);
      const options = { timeoutDuration: TIMEOUT_MS, cooldownDuration: COOL_DOWN_MS, [customFetch]: send };
      keys = { uri, set: createRemoteJWKSet(new URL(uri), { ...options, cacheMaxAge: Number.POSITIVE_INFINITY }) };
    }
    if (now() - keysReadAtMs >= FRESH_MS && keys.set.jwks() !== undefined) {
      keysReadAtMs = now();
      reading = keys.set.reload().catch(() => undefined);
    }
    // Also after a quiet night, the first token of a key that was withdrawn meanwhile is refused.
    await reading;
    return keys.set;
  };
  return {
    configuration: () => discovered().catch((error: unknown) => Promise.reject(unreachable(provider, error))),
    claimsOf: async (token) => {
      const { errors, jwtVerify } = await import("jose");
      try {
        const { issuer, jwks_uri: uri = "" } = (await discovered()).serverMetadata();
        const { algorithms, audiences } = provider;
        const { payload } = await jwtVerify(token, await keySet(uri), {
          issuer,
          audience: [...audiences],
          algorithms: [...algorithms],
          clockTolerance: CLOCK_TOLERANCE_SECONDS,
          currentDate: new Date(now()),
          requiredClaims: ["sub", "exp"],
        });
        return isForBearers(payload) ? payload : null;
      } catch (error) {
        if (error instanceof errors.JWTExpired) throw tokenRefused("token_expired", EXPIRED);
        if (error instanceof errors.JWTClaimValidationFailed) throw wrongClaim(error.claim);
        const isForged = error instanceof errors.JOSEError && !(error instanceof errors.JWKSTimeout);
        if (isForged && error.code !== "ERR_JOSE_GENERIC") return null;
        throw unreachable(provider, error);
      }
    },
  };
}

/** A logout token is no permission, and a token that is bound to a key (`cnf`) is none without that key. */
function isForBearers({ sub, events, cnf }: JWTPayload): boolean {
  return typeof sub === "string" && sub !== "" && events === undefined && cnf === undefined;
}

async function discover(provider: IdentityProvider, send: CustomFetch): Promise<Configuration> {
  const client = await import("openid-client");
  const { clientId, clientSecret, issuer } = provider;
  const metadata = { [client.clockTolerance]: CLOCK_TOLERANCE_SECONDS };
  const authentication = clientSecret === null ? client.None() : secretAs(client, clientSecret);
  return client.discovery(new URL(issuer), clientId ?? "none", metadata, authentication, {
    timeout: TIMEOUT_MS / 1000,
    execute: [client.enableNonRepudiationChecks, ...(isPlain(issuer) ? [client.allowInsecureRequests] : [])],
    [client.customFetch]: send,
  });
}

function isPlain(url: string): boolean {
  return new URL(url).protocol === "http:";
}

/** Sends the secret as the issuer says. Without a word from it, basic authentication is the standard's default. */
function secretAs(client: typeof import("openid-client"), secret: string): ClientAuth {
  const [post, basic] = [client.ClientSecretPost(secret), client.ClientSecretBasic(secret)];
  return (server, metadata, body, headers) => {
    const takesPost = server.token_endpoint_auth_methods_supported?.includes("client_secret_post") === true;
    return (takesPost ? post : basic)(server, metadata, body, headers);
  };
}

/** The last value goes on while a newer one cannot be read. */
function keptWhileDown<Value>(read: () => Promise<Value>, now: () => number): () => Promise<Value> {
  let kept: { readonly value: Value; readonly atMs: number } | null = null;
  let reading: Promise<Value> | null = null;
  const readAgain = (): Promise<Value> => {
    reading ??= read()
      .then((value) => {
        kept = { value, atMs: now() };
        return value;
      })
      .finally(() => {
        reading = null;
      });
    return reading;
  };
  return async () => {
    if (kept === null) return readAgain();
    if (now() - kept.atMs >= FRESH_MS) void readAgain().catch(() => undefined);
    return kept.value;
  };
}

/** An issuer that did not answer a moment ago is not asked again at once, whatever tokens arrive. */
function failingFast(now: () => number): CustomFetch {
  let failed: { readonly error: unknown; readonly atMs: number } | null = null;
  return async (url, options) => {
    if (failed !== null && now() - failed.atMs < FAILED_MS) throw failed.error;
    try {
      const isRead = options.method === "GET";
      // One that is kept may be closed by the issuer at the moment of its next use, and a code can be sent only once.
      const headers = new Headers(options.headers as HeadersInit);
      headers.set("connection", "close");
      const wanted = { ...options, headers } as RequestInit;
      const response = await fetch(url, wanted).catch((error: unknown) =>
        isRead ? fetch(url, wanted) : Promise.reject(error),
      );
      failed = null;
      return response;
    } catch (error) {
      failed = { error, atMs: now() };
      throw error;
    }
  };
}

function unreachable({ name }: IdentityProvider, cause: unknown): GatewayError {
  const message = `The identity provider ${name} cannot be reached. Try again shortly, or sign in another way.`;
  return new GatewayError("unavailable", message, { code: "identity_provider_down", retryAfterSeconds: 10, cause });
}

const EXPIRED = "The token has expired. Get a new one, for instance with the command `login`.";

/** The signature is right by now, so its holder may know what is wrong. */
function wrongClaim(claim: string): GatewayError {
  const message =
    claim === "aud"
      ? "The token is for another audience. Request one for an audience that this gateway lists."
      : `The token's claim '${claim}' is missing or wrong.`;
  return tokenRefused("token_not_valid_here", message);
}

export function tokenRefused(code: string, message: string): GatewayError {
  return new GatewayError("unauthenticated", message, { code });
}
