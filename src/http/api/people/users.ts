// /api/users and /api/invitations: who may sign in. For operators.

import { Type } from "typebox";
import { DEFAULT_ACCOUNT } from "../../../accounts/accounts.ts";
import { GatewayError } from "../../../core/errors.ts";
import { type Invitation, USER_ROLES, type User } from "../../../core/people.ts";
import { publicOrigin } from "../../exchange/hosts.ts";
import { personOf } from "../../exchange/identity.ts";
import { AnyText, Email, listed, named, nullable, page, type Shape, strict, Time } from "../../openapi/schema.ts";
import * as TEXT from "../../text.ts";
import { idOf, isoTime, listPage, missing, PLAIN_ID, pageOf, paging } from "../exchange.ts";
import { type ApiRoute, del, get, post } from "../route.ts";

/** Users and invitations share these. */
const personFields = { id: AnyText, email: AnyText, role: listed(USER_ROLES), accountId: AnyText, createdAt: Time };
export const UserSchema = named("User", { ...personFields, lastSignInAt: nullable(Time) });

const invitationFields = { ...personFields, expiresAt: Time };
export const InvitationSchema = named("Invitation", invitationFields);
/** The link is in this response only; the store keeps its hash. */
export const CreatedInvitationSchema = named("CreatedInvitation", { ...invitationFields, link: AnyText });
/** The same holds for the link of a reset. */
export const ResetLinkSchema = named("ResetLink", { email: AnyText, link: AnyText, expiresAt: Time });

/** Without a role, the new user owns the account; without an account, it is the default one. */
const NewInvitationSchema = strict("NewInvitation", {
  email: Email,
  role: Type.Optional(Type.Enum([...USER_ROLES])),
  accountId: Type.Optional(Type.String({ pattern: PLAIN_ID.source })),
});

/** There is no mail server: the operator passes links on. */
export const USER_ROUTES: readonly ApiRoute[] = [
  // The account is checked here, because the invitation refers to it much later.
  post("invite", "/api/invitations", {
    summary: "Create an invitation link, valid for seven days; it is shown once and replaces an earlier one",
    access: "operator",
    body: NewInvitationSchema,
    example: { email: "ada@example.com", role: "owner", accountId: "default" },
    status: 201,
    response: CreatedInvitationSchema,
    errors: [409],
    async handle({ request, body }, { accounts, invitations, settings }) {
      const { email, role = "owner", accountId = DEFAULT_ACCOUNT } = body();
      if ((await accounts.get(accountId)) === null) {
        throw new GatewayError("badRequest", TEXT.noAccount(accountId), { param: "accountId" });
      }
      const invitedBy = personOf(request.identity)?.name ?? "";
      const { invitation, token } = await invitations.invite({ email, role, accountId, invitedBy });
      return {
        ...writeInvitation(invitation),
        link: `${publicOrigin(request, settings.server)}/#/invite?token=${token}`,
      };
    },
  }),
  // Expired ones are listed too, so that somebody notices.
  get("listInvitations", "/api/invitations", {
    summary: "Invitations that nobody has accepted yet",
    access: "operator",
    parameters: paging,
    response: page(InvitationSchema),
    handle: ({ request }, { invitations }) =>
      listPage(pageOf(request), (each) => invitations.list(each), writeInvitation),
  }),
  del("withdrawInvitation", "/api/invitations/:id", {
    summary: "Withdraw an invitation",
    access: "operator",
    async handle({ request }, { invitations }) {
      const id = idOf(request, "invitation");
      if (!(await invitations.delete(id))) throw missing("invitation", id);
    },
  }),
  get("listUsers", "/api/users", {
    summary: "Who may sign in",
    access: "operator",
    parameters: paging,
    response: page(UserSchema),
    handle: ({ request }, { users }) => listPage(pageOf(request), (each) => users.list(each), writeUser),
  }),
  post("makeResetLink", "/api/users/:id/reset", {
    summary: "Create a password reset link that works once, within a day; it is shown once",
    access: "operator",
    status: 201,
    response: ResetLinkSchema,
    async handle({ request }, { resets, settings }) {
      const id = idOf(request, "user");
      const made = await resets.makeFor({ id });
      if (made === null) throw missing("user", id);
      const link = `${publicOrigin(request, settings.server)}/#/reset?token=${made.token}`;
      return { email: made.user.email, link, expiresAt: isoTime(made.expiresAtMs) };
    },
  }),
  // The last operator cannot be deleted: nobody could invite another.
  del("deleteUser", "/api/users/:id", {
    summary: "Delete a user and end their sessions; the last operator stays",
    access: "operator",
    errors: [409],
    async handle({ request }, { users }) {
      const id = idOf(request, "user");
      if (!(await users.delete(id))) throw missing("user", id);
    },
  }),
];

/** Also written by the command line, which prints the same JSON. */
export function writeUser(user: User): Shape<typeof UserSchema> {
  const { id, email, role, accountId, createdAtMs, lastSignInAtMs } = user;
  return { id, email, role, accountId, createdAt: isoTime(createdAtMs), lastSignInAt: isoTime(lastSignInAtMs) };
}

function writeInvitation(invitation: Invitation): Shape<typeof InvitationSchema> {
  const { id, email, role, accountId, createdAtMs, expiresAtMs } = invitation;
  // Only the set-up link has no end, and it is never shown here.
  return { id, email, role, accountId, createdAt: isoTime(createdAtMs), expiresAt: isoTime(expiresAtMs) as string };
}
