// /api/sign-in: sign-in with an identity provider, as pages that a browser visits. The session that begins is the same as
// with a password. Also the identities that a user has linked, and the end of a session at the identity provider.

import type { FastifyReply } from "fastify";
import { Type } from "typebox";
import { GatewayError } from "../../../core/errors.ts";
import type { User } from "../../../core/people.ts";
import type { OperatorContext } from "../../context.ts";
import { publicOrigin } from "../../exchange/hosts.ts";
import {
  clearLoginCookie,
  clearSignInCookie,
  loginTokenOf,
  sessionIdentityOf,
  setIdentityCookie,
  setSignInCookie,
  signedInOf,
  signInSecretOf,
} from "../../exchange/identity.ts";
import { query } from "../../openapi/operation.ts";
import { AnyText, listed, named, nullable, Time } from "../../openapi/schema.ts";
import * as TEXT from "../../text.ts";
import { noteRefused, noteSignedIn } from "../audit/record.ts";
import { idOf, isoTime, missing, queryOf } from "../exchange.ts";
import { type ApiCall, type ApiRoute, del, get, post, sentAs } from "../route.ts";
import { openLogin } from "./login.ts";

/** Identity providers with what a program needs to get a token of them; none of it is a secret. */
export const IdentityProvidersSchema = named("IdentityProviders", {
  data: Type.Array(
    named("IdentityProvider", {
      id: AnyText,
      name: AnyText,
      issuer: AnyText,
      // The client with which people sign in; null where they cannot.
      clientId: nullable(AnyText),
      // The public client of `switchyard login`.
      deviceClientId: nullable(AnyText),
      scopes: Type.Array(AnyText),
      // Audiences of tokens that programs may bring.
      audiences: Type.Array(AnyText),
    }),
  ),
});
export const IdentitiesSchema = named("Identities", {
  data: Type.Array(
    named("Identity", {
      id: AnyText,
      issuer: AnyText,
      // The issuer's name for the user, which never changes, while the address may.
      subject: AnyText,
      email: AnyText,
      createdAt: Time,
      lastSignInAt: Time,
    }),
  ),
});
export const SignOutSchema = named("SignOut", { url: nullable(AnyText) });

export const SIGN_IN_ROUTES: readonly ApiRoute[] = [
  get("listIdentityProviders", "/api/sign-in", {
    summary: "Identity providers to sign in with, and what a program needs to get a token of them",
    access: "anyone",
    response: IdentityProvidersSchema,
    async handle(_call, { settings }) {
      const data = settings.identityProviders.map(({ id, name, issuer, clientId, deviceClientId, ...lists }) => {
        const { scopes, audiences } = lists;
        return { id, name, issuer, clientId, deviceClientId, scopes: [...scopes], audiences: [...audiences] };
      });
      return { data };
    },
  }),
  get("beginSignIn", "/api/sign-in/:id", {
    summary: "Go to an identity provider to sign in there; for browsers",
    access: "anyone",
    parameters: [
      query("to", AnyText, "The page of the dashboard to open afterwards."),
      query("link", listed(["1"]), "Links the identity to the user who is signed in."),
    ],
    status: 302,
    response: sentAs(),
    hasHead: false,
    handle: (call, edge) => orSignInPage(call, edge, () => begin(call, edge)),
  }),
  // The browser comes back here with a code.
  get("finishSignIn", "/api/sign-in/:id/callback", {
    summary: "Come back from an identity provider: begins the session and opens the dashboard; for browsers",
    access: "anyone",
    parameters: [query("code", AnyText), query("state", AnyText)],
    isAudited: true,
    status: 302,
    response: sentAs(),
    hasHead: false,
    handle: (call, edge) => orSignInPage(call, edge, () => finish(call, edge)),
  }),
  post("endSession", "/api/session/end", {
    summary: "Sign out, and learn the address that ends the session at the identity provider",
    changesNothing: true,
    access: "anyone",
    response: SignOutSchema,
    errors: [403],
    async handle({ request, reply }, { logins, signIns, settings }) {
      const token = loginTokenOf(request);
      if (token !== undefined) await logins.end(token);
      const identity = sessionIdentityOf(request);
      clearLoginCookie(request, reply);
      if (identity === null) return { url: null };
      return { url: await signIns.endUrl(identity.id, identity.idToken, `${publicOrigin(request, settings.server)}/`) };
    },
  }),
  get("listIdentities", "/api/session/identities", {
    summary: "Identities with which one can sign in oneself",
    access: "ownLogin",
    response: IdentitiesSchema,
    async handle(call, { signIns }) {
      const identities = await signIns.identitiesOf(ownUser(call));
      const data = identities.map(({ id, issuer, subject, email, createdAtMs, lastSignInAtMs }) => ({
        ...{ id, issuer, subject, email },
        createdAt: isoTime(createdAtMs),
        lastSignInAt: isoTime(lastSignInAtMs),
      }));
      return { data };
    },
  }),
  del("unlinkIdentity", "/api/session/identities/:id", {
    summary: "Remove the link to an identity; the only way to sign in stays",
    access: "ownLogin",
    errors: [409],
    async handle(call, { signIns }) {
      const id = idOf(call.request, "identity");
      if (!(await signIns.unlink(ownUser(call), id))) throw missing("identity", id);
    },
  }),
];

async function begin({ request, reply }: ApiCall, edge: OperatorContext): Promise<FastifyReply> {
  const id = idOf(request, "identity provider");
  const isLinking = queryOf(request, "link") === "1";
  if (isLinking) refuseNeighbour(request);
  const signedIn = isLinking ? await signedInOf(request, edge) : null;
  if (isLinking && signedIn === null) {
    throw new GatewayError("forbidden", TEXT.ownIdentitiesOnly, { code: "sign_in_expired" });
  }
  const { url, secret } = await edge.signIns.begin({
    providerId: id,
    redirectUri: callbackOf(id, { request }, edge),
    returnTo: pathOfDashboard(queryOf(request, "to")),
    linkTo: signedIn?.user.id ?? null,
    address: request.ip,
  });
  setSignInCookie(request, reply, secret);
  return reply.redirect(url, 302);
}

/** A page of a neighbouring host gets the session's cookie sent, and could link an identity of its own to the user. */
function refuseNeighbour({ headers }: ApiCall["request"]): void {
  const site = headers["sec-fetch-site"];
  if (site === undefined || site === "same-origin") return;
  throw new GatewayError("forbidden", TEXT.otherSite, { code: "cross_site" });
}

async function finish(call: ApiCall, edge: OperatorContext): Promise<FastifyReply> {
  const { request, reply } = call;
  const id = idOf(request, "identity provider");
  const secret = signInSecretOf(request);
  clearSignInCookie(request, reply);
  const { user, returnTo, idToken, isLinked } = await edge.signIns.finish({
    providerId: id,
    redirectUri: callbackOf(id, call, edge),
    query: request.url.split("?")[1] ?? "",
    secret,
  });
  noteSignedIn(user);
  if (!isLinked) {
    await openLogin(user, call, edge);
    setIdentityCookie(request, reply, { id, idToken });
  }
  return reply.redirect(returnTo, 302);
}

/** A person sees why it failed on the sign-in page, where the password works. */
async function orSignInPage(
  { request, reply }: ApiCall,
  { log }: OperatorContext,
  act: () => Promise<FastifyReply>,
): Promise<FastifyReply> {
  try {
    return await act();
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    const { code = "sign_in_failed", cause } = error.details;
    // Without a sign-in under way, anybody could fill the audit log.
    if (code !== "sign_in_expired" && signInSecretOf(request) !== undefined) noteRefused(code);
    log.warn({ event: "identity.sign_in_failed", requestId: request.id, code, err: cause }, error.message);
    return reply.redirect(`/#/sign-in?problem=${encodeURIComponent(code)}`, 302);
  }
}

function callbackOf(id: string, { request }: Pick<ApiCall, "request">, { settings }: OperatorContext): string {
  return `${publicOrigin(request, settings.server)}/api/sign-in/${id}/callback`;
}

const PATH_MAX = 1_000;

/** A path of this site, else the start page. Two slashes, or one and a backslash, would lead to another site. */
function pathOfDashboard(given: string | null): string {
  const isOurs = given !== null && given.length <= PATH_MAX && /^\/(?![/\\])[\x21-\x7e]*$/.test(given);
  return isOurs && !given.startsWith("/api/") ? given : "/";
}

function ownUser({ request }: ApiCall): User {
  const { identity } = request;
  if (identity?.kind === "user") return identity.user;
  throw new GatewayError("forbidden", TEXT.ownIdentitiesOnly, { code: "no_session" });
}
