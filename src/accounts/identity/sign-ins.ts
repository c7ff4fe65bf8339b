// Sign-in of people with an identity provider: authorization code with PKCE, state and nonce. One random secret in the
// browser's cookie stands behind all three, so a callback works only in the browser that began, and only once.

import { hash } from "node:crypto";
import type { TokenEndpointResponse, TokenEndpointResponseHelpers } from "openid-client";
import { GatewayError } from "../../core/errors.ts";
import {
  hasPassword,
  type Identity,
  type IdentityProvider,
  type PendingSignInStore,
  type User,
} from "../../core/people.ts";
import type { SignInLimiter } from "../limits/sign-ins.ts";
import { networkOf } from "../limits/wrong-keys.ts";
import { hashToken, makeToken } from "../token.ts";
import { tooManyAttempts } from "../users.ts";
import { type Claims, missingClaims } from "./claims.ts";
import type { Issuer } from "./issuer.ts";
import { type ArrivalContext, linkTo, refused, userOf } from "./people.ts";

export interface SignIns {
  /** The address to open, and the secret for the browser's cookie. */
  begin(wanted: SignInWish): Promise<{ readonly url: string; readonly secret: string }>;
  finish(callback: SignInCallback): Promise<FinishedSignIn>;
  /** The address that ends the session at the identity provider; null where it has none. */
  endUrl(providerId: string, idToken: string | null, returnTo: string): Promise<string | null>;
  identitiesOf(user: User): Promise<readonly Identity[]>;
  /** Throws where the user could no longer sign in. False when there is no such identity. */
  unlink(user: User, identityId: string): Promise<boolean>;
}

interface SignInWish {
  readonly providerId: string;
  readonly redirectUri: string;
  readonly returnTo: string;
  /** The user to link to; null to sign in. */
  readonly linkTo: string | null;
  /** The network address that asks. */
  readonly address: string;
}

interface SignInCallback {
  readonly providerId: string;
  readonly redirectUri: string;
  /** The query of the callback, with code and state. */
  readonly query: string;
  /** The secret of the browser's cookie. */
  readonly secret: string | undefined;
}

interface FinishedSignIn {
  readonly user: User;
  readonly returnTo: string;
  readonly idToken: string | null;
  readonly isLinked: boolean;
}

export interface SignInsContext extends ArrivalContext {
  readonly issuers: readonly { readonly provider: IdentityProvider; readonly issuer: Issuer }[];
  readonly pending: PendingSignInStore;
  readonly limiter: SignInLimiter;
}

export const SIGN_IN_MS = 10 * 60_000;
/** Sign-ins begun from one network address within five minutes. A whole office may share it. */
const BEGUN_MAX = 1_000;

export function createSignIns(context: SignInsContext): SignIns {
  const { pending, limiter, store, now } = context;
  const forPeople = context.issuers.filter(({ provider }) => provider.clientId !== null);
  const find = (id: string) => {
    const found = forPeople.find(({ provider }) => provider.id === id);
    if (found === undefined) throw new GatewayError("notFound", `No identity provider '${id}'.`, { param: "id" });
    return found;
  };
  return {
    begin: async ({ providerId, redirectUri, returnTo, linkTo, address }) => {
      const { provider, issuer } = find(providerId);
      const attempt = await limiter.begin([{ name: `identity ${networkOf(address)}`, most: BEGUN_MAX }]);
      if (attempt.waitSeconds > 0) throw tooManyAttempts(attempt.waitSeconds);
      const configuration = await issuer.configuration();
      const { buildAuthorizationUrl, calculatePKCECodeChallenge } = await import("openid-client");
      const secret = makeToken();
      const { state, nonce, verifier } = derived(secret);
      const url = buildAuthorizationUrl(configuration, {
        ...{ redirect_uri: redirectUri, scope: provider.scopes.join(" "), state, nonce },
        code_challenge: await calculatePKCECodeChallenge(verifier),
        code_challenge_method: "S256",
      });
      const stateHash = hashToken(state) as string;
      await pending.insert(
        { stateHash, provider: providerId, returnTo, linkTo, expiresAtMs: now() + SIGN_IN_MS },
        now(),
      );
      return { url: url.href, secret };
    },
    finish: async ({ providerId, redirectUri, query, secret }) => {
      const { provider, issuer } = find(providerId);
      const { state, nonce, verifier } = derived(secret ?? "");
      const isOurs = secret !== undefined && new URLSearchParams(query).get("state") === state;
      const begun = isOurs ? await pending.take(hashToken(state) as string) : null;
      if (begun?.provider !== providerId || begun.expiresAtMs <= now()) throw expired();
      const tokens = await exchange(issuer, new URL(`${redirectUri}?${query}`), { state, nonce, verifier });
      const idClaims = await claimsOfIdToken(tokens, provider);
      const claims = await withUserinfo(idClaims, { tokens, provider, issuer });
      const arrival = { provider, subject: idClaims.sub, claims };
      const user = await (begun.linkTo === null ? userOf(arrival, context) : linkTo(begun.linkTo, arrival, context));
      const { returnTo } = begun;
      return { user, returnTo, idToken: tokens.id_token ?? null, isLinked: begun.linkTo !== null };
    },
    endUrl: async (providerId, idToken, returnTo) => {
      const found = forPeople.find(({ provider }) => provider.id === providerId);
      const configuration = await found?.issuer.configuration().catch(() => null);
      if (configuration == null || configuration.serverMetadata().end_session_endpoint === undefined) return null;
      const { buildEndSessionUrl } = await import("openid-client");
      const hint: Record<string, string> = idToken === null ? {} : { id_token_hint: idToken };
      return buildEndSessionUrl(configuration, { ...hint, post_logout_redirect_uri: returnTo }).href;
    },
    identitiesOf: ({ id }) => store.ofUser(id),
    unlink: async (user, identityId) => {
      const linked = await store.ofUser(user.id);
      if (!hasPassword(user.passwordHash) && linked.length <= 1) throw onlyWayIn();
      return store.delete(user.id, identityId);
    },
  };
}

function onlyWayIn(): GatewayError {
  const message = "This is your only way to sign in. Ask your admin for a reset link to set a password first.";
  return new GatewayError("conflict", message, { code: "last_sign_in" });
}

/** Three values that tell nothing of each other. */
interface Derived {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

function derived(secret: string): Derived {
  const one = (purpose: string): string => hash("sha256", `sign-in ${purpose} ${secret}`, "base64url");
  return { state: one("state"), nonce: one("nonce"), verifier: one("verifier") };
}

/** Exchanges the code. The library checks state, issuer, nonce, times, audience and signature. */
async function exchange(
  issuer: Issuer,
  callback: URL,
  { state, nonce, verifier }: Derived,
): Promise<TokenEndpointResponse & TokenEndpointResponseHelpers> {
  const configuration = await issuer.configuration();
  const { AuthorizationResponseError, authorizationCodeGrant } = await import("openid-client");
  try {
    return await authorizationCodeGrant(configuration, callback, {
      expectedState: state,
      expectedNonce: nonce,
      pkceCodeVerifier: verifier,
      idTokenExpected: true,
    });
  } catch (error) {
    if (error instanceof AuthorizationResponseError && error.error === "access_denied") {
      throw refused("sign_in_refused", "The identity provider refused the sign-in, or it was cancelled there.");
    }
    throw failed("the identity provider's response cannot be used", error);
  }
}

/** The library takes every algorithm that the issuer says it uses. */
async function claimsOfIdToken(
  tokens: TokenEndpointResponse & TokenEndpointResponseHelpers,
  { algorithms }: IdentityProvider,
): Promise<Claims & { readonly sub: string }> {
  const claims = tokens.claims();
  if (claims === undefined || tokens.id_token === undefined) throw failed("the response has no ID token");
  const { decodeProtectedHeader } = await import("jose");
  const { alg } = decodeProtectedHeader(tokens.id_token);
  if (algorithms.includes(String(alg))) return claims;
  throw failed(`the ID token is signed with ${alg}, which 'algorithms' leaves out`);
}

interface UserinfoContext {
  readonly tokens: TokenEndpointResponse;
  readonly provider: IdentityProvider;
  readonly issuer: Issuer;
}

/** Some issuers write groups and address at the userinfo endpoint alone. What the ID token says goes first. */
async function withUserinfo(
  claims: Claims & { readonly sub: string },
  { tokens, provider, issuer }: UserinfoContext,
): Promise<Claims> {
  const configuration = await issuer.configuration();
  const isWhole = claims.email !== undefined && missingClaims(provider, claims).length === 0;
  if (isWhole || configuration.serverMetadata().userinfo_endpoint === undefined) return claims;
  const { fetchUserInfo } = await import("openid-client");
  try {
    const asked = await fetchUserInfo(configuration, tokens.access_token, claims.sub);
    // That an address is verified is said of this address alone.
    const isOther = claims.email !== undefined && claims.email !== asked.email;
    return { ...asked, ...(isOther && { email_verified: undefined }), ...claims };
  } catch {
    // Its claims count as missing.
    return claims;
  }
}

function expired(): GatewayError {
  const message = "This sign-in has expired, was used already, or began in another browser. Begin again.";
  return refused("sign_in_expired", message);
}

function failed(reason: string, cause?: unknown): GatewayError {
  const message = `The sign-in failed: ${reason}. Try again, or sign in with a password.`;
  return new GatewayError("forbidden", message, { code: "sign_in_failed", cause });
}
