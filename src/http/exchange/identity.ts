// Identity on /api: the admin token, a token of an identity provider, or a signed-in user by cookie. One place for all,
// and for what each may do.

import { createHash, timingSafeEqual } from "node:crypto";
// The import adds the types of cookies on requests and replies.
import type {} from "@fastify/cookie";
import type { FastifyReply, FastifyRequest } from "fastify";
import { DEVICE_MAX_MS } from "../../accounts/devices.ts";
import { SIGN_IN_MS } from "../../accounts/identity/sign-ins.ts";
import type { IdentityTokens, TokenCaller } from "../../accounts/identity/tokens.ts";
import type { WrongKeys } from "../../accounts/limits/wrong-keys.ts";
import { LOGIN_MAX_MS, type Logins, type SignedIn } from "../../accounts/logins.ts";
import type { Settings } from "../../config/settings.ts";
import { GatewayError } from "../../core/errors.ts";
import type { User } from "../../core/people.ts";
import { tooManyWrongKeys } from "../../gateway/admit.ts";
import * as TEXT from "../text.ts";
import { isPermitted, type Permission } from "./permissions.ts";

/** The settings and stores that tell who is asking. */
export interface IdentityContext extends AdminTokenContext {
  readonly logins: Pick<Logins, "find">;
  readonly tokens: Pick<IdentityTokens, "caller" | "isTokenShaped">;
}

export interface AdminTokenContext {
  readonly settings: Pick<Settings, "server">;
  /** Wrong admin tokens by the address they come from. */
  readonly wrongTokens: WrongKeys;
}

type RequestIdentity =
  | { readonly kind: "admin" }
  | ({ readonly kind: "user" } & SignedIn)
  | ({ readonly kind: "token" } & TokenCaller);

declare module "fastify" {
  interface FastifyRequest {
    identity: RequestIdentity | null;
  }
}

export const LOGIN_COOKIE = "switchyard_session";
const DEVICE_COOKIE = "switchyard_device";
/** The secret of a sign-in that is under way at an identity provider. */
const SIGN_IN_COOKIE = "switchyard_sign_in";
/** The identity provider of the session and its ID token, with which it ends the session there. */
const IDENTITY_COOKIE = "switchyard_identity";
/** Browsers refuse larger cookies. */
const COOKIE_BYTES_MAX = 3_800;

export function loginTokenOf(request: FastifyRequest): string | undefined {
  return request.cookies[cookieNameOf(request, LOGIN_COOKIE)];
}

export function deviceTokenOf(request: FastifyRequest): string | undefined {
  return request.cookies[cookieNameOf(request, DEVICE_COOKIE)];
}

export function signInSecretOf(request: FastifyRequest): string | undefined {
  return request.cookies[cookieNameOf(request, SIGN_IN_COOKIE)];
}

/** Not strict: the browser comes back from the identity provider's site. */
export function setSignInCookie(request: FastifyRequest, reply: FastifyReply, secret: string): void {
  const flags = { ...cookieFlags(request), sameSite: "lax", maxAge: SIGN_IN_MS / 1000 } as const;
  reply.setCookie(cookieNameOf(request, SIGN_IN_COOKIE), secret, flags);
}

export function clearSignInCookie(request: FastifyRequest, reply: FastifyReply): void {
  reply.clearCookie(cookieNameOf(request, SIGN_IN_COOKIE), { ...cookieFlags(request), sameSite: "lax" });
}

/** The identity provider that the session began with, and its ID token where a cookie could hold it. */
export function sessionIdentityOf(request: FastifyRequest): { id: string; idToken: string | null } | null {
  const [, id, idToken] =
    /^([a-z0-9-]{1,32})(?:\.(.+))?$/.exec(request.cookies[cookieNameOf(request, IDENTITY_COOKIE)] ?? "") ?? [];
  return id === undefined ? null : { id, idToken: idToken ?? null };
}

export function setIdentityCookie(
  request: FastifyRequest,
  reply: FastifyReply,
  { id, idToken }: { readonly id: string; readonly idToken: string | null },
): void {
  const whole = `${id}.${idToken}`;
  const value = idToken !== null && whole.length <= COOKIE_BYTES_MAX ? whole : id;
  const flags = { ...cookieFlags(request), maxAge: LOGIN_MAX_MS / 1000 };
  reply.setCookie(cookieNameOf(request, IDENTITY_COOKIE), value, flags);
}

/** Over HTTPS, browsers accept a cookie with this prefix from this host only. No neighbouring host can plant a login. */
function cookieNameOf(request: FastifyRequest, name: string): string {
  return isHttps(request) ? `__Host-${name}` : name;
}

/** Sets `request.identity`, or throws. A request with a bearer token is judged by the token alone. */
export async function identify(request: FastifyRequest, context: IdentityContext): Promise<void> {
  if (request.headers.authorization === undefined) {
    const signedIn = await signedInOf(request, context);
    if (signedIn === null) throw unidentified(context);
    refuseCrossSite(request);
    request.identity = { kind: "user", ...signedIn };
    return;
  }
  const caller = await tokenCallerOf(request, context);
  if (caller === null && !isAdmin(request, context)) throw unidentified(context);
  request.identity = caller === null ? { kind: "admin" } : { kind: "token", ...caller };
}

/** The caller by a token of an identity provider. Wrong ones are limited like wrong admin tokens. */
async function tokenCallerOf(
  request: FastifyRequest,
  { tokens, wrongTokens }: IdentityContext,
): Promise<TokenCaller | null> {
  const given = bearerOf(request);
  if (given === undefined || !tokens.isTokenShaped(given)) return null;
  const caller = await tokens.caller(given, () => wrongTokens.waitSeconds(request.ip) === 0);
  if (caller === null) wrongTokens.note(request.ip);
  return caller;
}

export function bearerOf({ headers }: FastifyRequest): string | undefined {
  return /^Bearer +(\S+) *$/i.exec(headers.authorization ?? "")?.[1];
}

/**
 * Tells whether the request brings the admin token, compared in constant time. Throws when the address has sent too many wrong
 * ones. The right one always passes: behind a proxy that is not configured, everybody has the address of somebody who
 * guesses.
 */
export function isAdmin(request: FastifyRequest, { settings, wrongTokens }: AdminTokenContext): boolean {
  const given = bearerOf(request);
  const { adminToken } = settings.server;
  if (adminToken === null || given === undefined) return false;
  if (timingSafeEqual(digest(given), digest(adminToken))) return true;
  const waitSeconds = wrongTokens.waitSeconds(request.ip);
  if (waitSeconds > 0) throw tooManyWrongKeys(waitSeconds);
  wrongTokens.note(request.ip);
  return false;
}

/** Digests have one length, which the comparison needs. */
function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

export async function signedInOf(
  request: FastifyRequest,
  { logins }: Pick<IdentityContext, "logins">,
): Promise<SignedIn | null> {
  const token = loginTokenOf(request);
  return token === undefined ? null : logins.find(token);
}

function unidentified({ settings }: IdentityContext): GatewayError {
  const hint = settings.server.adminToken === null ? TEXT.noAdminToken : "";
  const message = TEXT.signIn(hint);
  return new GatewayError("unauthenticated", message, { code: "not_signed_in" });
}

/** A guard that throws unless the caller's role has this permission. The admin token has every one. */
export function permitted(permission: Permission): (request: FastifyRequest) => Promise<void> {
  return async ({ identity }) => {
    const role = identity?.kind === "admin" ? "operator" : personOf(identity)?.role;
    if (role !== undefined && isPermitted(role, permission)) return;
    if (permission === "operator") throw new GatewayError("forbidden", TEXT.operatorsOnly, { code: "operators_only" });
    throw new GatewayError("forbidden", TEXT.notPermitted(role ?? "none"), { code: "not_permitted" });
  };
}

/** The user whose things alone the caller may reach; null for those who reach all of an account. */
export function ownMemberOf({ identity }: FastifyRequest): User | null {
  if (personOf(identity)?.role !== "member") return null;
  if (identity?.kind === "user") return identity.user;
  throw new GatewayError("forbidden", TEXT.membersSignIn, { code: "not_permitted" });
}

/** The name the ledger keeps for the caller. */
export function actorOf({ identity }: FastifyRequest): string | null {
  return identity?.kind === "admin" ? "admin token" : (personOf(identity)?.name ?? null);
}

/** The only account the caller may see; null for those who may see all. */
export function ownAccountOf({ identity }: FastifyRequest): string | null {
  const person = personOf(identity);
  return person === null || person.role === "operator" ? null : person.accountId;
}

/** Returns the caller by cookie or by token; null for the admin token, which is nobody. */
export function personOf(identity: RequestIdentity | null): TokenCaller | null {
  if (identity === null || identity.kind === "admin") return null;
  if (identity.kind === "token") return identity;
  const { email, role, accountId } = identity.user;
  return { name: email, role, accountId };
}

const SAFE_METHODS: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);

/**
 * A browser sends the cookie whichever page asks, and says which page that was: `Sec-Fetch-Site` where it trusts the
 * connection, `Origin` on every write. A client that sends neither is no browser.
 */
export function refuseCrossSite({ method, headers }: FastifyRequest): void {
  if (SAFE_METHODS.has(method)) return;
  const site = headers["sec-fetch-site"];
  const isOurs = site !== undefined ? site === "same-origin" : isOrigin(headers.origin, headers.host);
  if (isOurs) return;
  throw new GatewayError("forbidden", TEXT.otherSite, { code: "cross_site" });
}

function isOrigin(origin: string | undefined, host: string | undefined): boolean {
  return origin === undefined || (URL.canParse(origin) && new URL(origin).host === host);
}

export function setLoginCookie(request: FastifyRequest, reply: FastifyReply, token: string): void {
  const maxAge = LOGIN_MAX_MS / 1000;
  reply.setCookie(cookieNameOf(request, LOGIN_COOKIE), token, { ...cookieFlags(request), maxAge });
}

export function setDeviceCookie(request: FastifyRequest, reply: FastifyReply, token: string): void {
  const maxAge = DEVICE_MAX_MS / 1000;
  reply.setCookie(cookieNameOf(request, DEVICE_COOKIE), token, { ...cookieFlags(request), maxAge });
}

export function clearLoginCookie(request: FastifyRequest, reply: FastifyReply): void {
  reply.clearCookie(cookieNameOf(request, LOGIN_COOKIE), cookieFlags(request));
  if (sessionIdentityOf(request) !== null) {
    reply.clearCookie(cookieNameOf(request, IDENTITY_COOKIE), cookieFlags(request));
  }
}

function cookieFlags(request: FastifyRequest) {
  return { httpOnly: true, sameSite: "strict", path: "/", secure: isHttps(request) } as const;
}

/** Also true when a proxy in front spoke HTTPS with the client. A client that forges this only hurts itself. */
export function isHttps(request: FastifyRequest): boolean {
  const forwarded = [request.headers["x-forwarded-proto"]].flat()[0];
  return request.protocol === "https" || forwarded?.split(",", 1)[0]?.trim() === "https";
}
