// /api/session, and the calls that people make before they have one: set-up, accepting an invitation, and choosing a new
// password with a link.

import { Type } from "typebox";
import { makeDeviceToken } from "../../../accounts/devices.ts";
import { isSimulated } from "../../../catalog/catalog.ts";
import { commandPrefix } from "../../../config/package.ts";
import { GatewayError } from "../../../core/errors.ts";
import { USER_ROLES, type User } from "../../../core/people.ts";
import { tooManyWrongKeys } from "../../../gateway/admit.ts";
import type { OperatorContext } from "../../context.ts";
import {
  clearLoginCookie,
  deviceTokenOf,
  loginTokenOf,
  setDeviceCookie,
  setLoginCookie,
  signedInOf,
} from "../../exchange/identity.ts";
import { PERMISSIONS, permissionsOf } from "../../exchange/permissions.ts";
import { untrustedProxyOf } from "../../exchange/proxies.ts";
import {
  AnyText,
  DOCUMENTED,
  Email,
  Flag,
  Integer,
  listed,
  named,
  nullable,
  type Shape,
  strict,
  Time,
} from "../../openapi/schema.ts";
import * as TEXT from "../../text.ts";
import { noteSignedIn } from "../audit/record.ts";
import { isoTime } from "../exchange.ts";
import { type ApiCall, type ApiRoute, del, get, post } from "../route.ts";

/** The signed-in user, as far as the dashboard needs it. */
const SelfSchema = Type.Object({
  id: AnyText,
  email: AnyText,
  role: listed(USER_ROLES),
  accountId: AnyText,
  teams: Type.Array(AnyText),
  permissions: Type.Array(listed(Object.keys(PERMISSIONS)), { description: "What the role allows." }),
});
/** The response also sets the session cookie. */
const WelcomeSchema = named("Welcome", { user: SelfSchema });
/** Read before anything else, signed in or not. */
export const SessionSchema = named("Session", {
  user: nullable(SelfSchema),
  // True until the first operator exists.
  setupNeeded: Flag,
  // True until a real provider is connected. A demo is never asked to connect one.
  sandbox: Flag,
  // True where everybody is signed in to generated data.
  demo: Flag,
  // True where the dashboard can only look.
  readOnly: Flag,
  version: AnyText,
  // The beginning of every command on the server, such as `npm start --` in a clone.
  commandPrefix: AnyText,
  // The limit of a key without one of its own; null unless signed in.
  requestsPerMinute: nullable(Integer),
  // For operators: the address of a proxy that is not in `server.trustedProxies`.
  untrustedProxy: nullable(AnyText),
});

/** More than any e-mail, password or token has, and little enough to look at. */
const TEXT_MAX = 4096;
const BoundedText = Type.String({ maxLength: TEXT_MAX });
/** Bounds are documented only: accounts/passwords.ts checks the length of passwords. */
const NewPassword = Type.String({
  maxLength: TEXT_MAX,
  [DOCUMENTED]: { minLength: 12, maxLength: 1024, format: "password" },
});
/** The rules for new passwords do not apply to old ones. */
const CredentialsSchema = strict("Credentials", { email: BoundedText, password: BoundedText });
const PasswordChangeSchema = strict("PasswordChange", { current: BoundedText, next: NewPassword });
const SetUpSchema = strict("SetUp", { token: BoundedText, email: Email, password: NewPassword });
/** Contents of an invitation's page, for the holder of the token: only the invited person was sent a link with it. */
export const InvitedSchema = named("Invited", {
  email: AnyText,
  role: listed(USER_ROLES),
  // The name of the account that they join.
  account: AnyText,
  // The sender; null for a link made by the admin token or a command.
  invitedBy: nullable(AnyText),
  expiresAt: Time,
});
const InvitationTokenSchema = strict("InvitationToken", { token: BoundedText });
const AcceptanceSchema = strict("Acceptance", { token: BoundedText, password: NewPassword });

/** Examples of the contract. */
const EMAIL = "ada@example.com";
const PASSWORD = "correct horse battery staple";
const TOKEN = "x".repeat(43);

/** Reached without a key, so each is limited: by body size here, by attempts in accounts/. */
export const LOGIN_ROUTES: readonly ApiRoute[] = [
  get("getSession", "/api/session", {
    summary: "Who is signed in, and whether the first operator is still to be created",
    access: "anyone",
    response: SessionSchema,
    async handle(call, edge) {
      const { request } = call;
      const signedIn = await signedInOf(request, edge);
      const user = signedIn?.user ?? (await welcomeVisitor(call, edge));
      return {
        user: user === null ? null : writeSelf(user),
        setupNeeded: !(await edge.users.hasOperator()),
        sandbox: edge.visitor === null && isSimulated(edge.services().catalog),
        demo: edge.visitor !== null,
        readOnly: edge.settings.server.isReadOnly,
        version: edge.version,
        commandPrefix: commandPrefix(),
        requestsPerMinute: user === null ? null : edge.live().limits.requestsPerMinute,
        untrustedProxy: signedIn?.user.role === "operator" ? untrustedProxyOf(request) : null,
      };
    },
  }),
  // A wrong e-mail and a wrong password get the same error, after the same time.
  post("signIn", "/api/session", {
    summary: "Sign in: sets the session cookie",
    changesNothing: true,
    isAudited: true,
    access: "anyone",
    body: CredentialsSchema,
    example: { email: EMAIL, password: PASSWORD },
    errors: [401, 403, 429],
    async handle(call, edge) {
      const { request } = call;
      const given = { address: request.ip, device: deviceTokenOf(request) };
      await openLogin(await edge.users.signIn({ ...call.body(), ...given }), call, edge);
    },
  }),
  // Ends a login that may be over already, so it never fails.
  del("signOut", "/api/session", {
    summary: "Sign out: ends the session",
    changesNothing: true,
    access: "anyone",
    errors: [403],
    async handle({ request, reply }, { logins }) {
      const token = loginTokenOf(request);
      if (token !== undefined) await logins.end(token);
      clearLoginCookie(request, reply);
    },
  }),
  // The admin token is no user; it has nothing to change.
  post("changePassword", "/api/session/password", {
    summary: "Change one's own password; ends all other sessions of the user",
    access: "ownLogin",
    body: PasswordChangeSchema,
    example: { current: PASSWORD, next: `${PASSWORD} 2` },
    async handle({ request, reply, body }, { users, now }) {
      const { identity } = request;
      if (identity?.kind !== "user") {
        throw new GatewayError("forbidden", TEXT.tokenHasNoPassword, { code: "no_session" });
      }
      setDeviceCookie(request, reply, makeDeviceToken(await users.changePassword(identity, body()), now()));
    },
  }),
  // The link is printed at the first start, for those who can read it.
  post("setUp", "/api/setup", {
    summary: "Create the first operator with the token of the set-up link, and sign in",
    access: "anyone",
    body: SetUpSchema,
    example: { token: TOKEN, email: EMAIL, password: PASSWORD },
    status: 201,
    response: WelcomeSchema,
    errors: [403, 409],
    handle: async (call, edge) => welcome(await edge.invitations.setUp(call.body()), call, edge),
  }),
  // The token is in the body, because addresses end up in logs.
  post("readInvitation", "/api/invitations/read", {
    summary: "Who is invited into which account, and by whom, with the token of an invitation",
    changesNothing: true,
    access: "anyone",
    body: InvitationTokenSchema,
    example: { token: TOKEN },
    response: InvitedSchema,
    errors: [403, 429],
    handle: ({ request, body }, edge) => readInvitation(body().token, request.ip, edge),
  }),
  post("acceptInvitation", "/api/invitations/accept", {
    summary: "Become a user with the token of an invitation, and sign in",
    access: "anyone",
    body: AcceptanceSchema,
    example: { token: TOKEN, password: PASSWORD },
    status: 201,
    response: WelcomeSchema,
    errors: [403, 409],
    handle: async (call, edge) => welcome(await edge.invitations.accept(call.body()), call, edge),
  }),
  // The link proves who it is, so no old password is asked for.
  post("resetPassword", "/api/password-reset", {
    summary: "Choose a new password with the token of a reset link: ends every session of the user, and signs in",
    access: "anyone",
    body: AcceptanceSchema,
    example: { token: TOKEN, password: PASSWORD },
    status: 201,
    response: WelcomeSchema,
    errors: [403],
    handle: async (call, edge) => welcome(await edge.resets.redeem(call.body()), call, edge),
  }),
];

/** Guessing is as limited as it is for the admin token, and a right token always passes. An unknown, a used and an expired link get one error. */
async function readInvitation(
  token: string,
  address: string,
  edge: OperatorContext,
): Promise<Shape<typeof InvitedSchema>> {
  const invitation = await edge.invitations.read(token).catch((error: unknown) => {
    const waitSeconds = edge.wrongTokens.waitSeconds(address);
    if (waitSeconds > 0) throw tooManyWrongKeys(waitSeconds);
    edge.wrongTokens.note(address);
    throw error;
  });
  const { email, role, accountId, invitedBy, expiresAtMs } = invitation;
  const account = (await edge.accounts.get(accountId))?.name ?? accountId;
  return { email, role, account, invitedBy: invitedBy || null, expiresAt: isoTime(expiresAtMs) as string };
}

/** Signs a new user in. */
async function welcome(user: User, call: Exchange, edge: OperatorContext): Promise<Shape<typeof WelcomeSchema>> {
  await openLogin(user, call, edge);
  return { user: writeSelf(user) };
}

type Exchange = Pick<ApiCall, "request" | "reply">;

/** From now on the browser is a known device of the user, also after the login. */
export async function openLogin(user: User, { request, reply }: Exchange, { logins, now }: OperatorContext) {
  noteSignedIn(user);
  setLoginCookie(request, reply, await logins.open(user));
  setDeviceCookie(request, reply, makeDeviceToken(user, now()));
}

/** Never the hash of the password. */
function writeSelf({ id, email, role, accountId, teamIds }: User): Shape<typeof SelfSchema> {
  return { id, email, role, accountId, teams: teamIds, permissions: permissionsOf(role) };
}

/** A demo signs everybody in: there is nothing of value behind it. */
async function welcomeVisitor({ request, reply }: ApiCall, edge: OperatorContext): Promise<User | null> {
  const user = edge.visitor === null ? null : await edge.users.byEmail(edge.visitor);
  if (user !== null) setLoginCookie(request, reply, await edge.logins.openShared(user));
  return user;
}
