// /api/users and /api/invitations: who may sign in, with which role, and into which teams.

import type { FastifyRequest } from "fastify";
import { Type } from "typebox";
import { DEFAULT_ACCOUNT } from "../../../accounts/accounts.ts";
import { GatewayError } from "../../../core/errors.ts";
import {
  GIVEN_ROLES,
  givenRole,
  type Invitation,
  type PeopleFilter,
  USER_ROLES,
  type User,
  type UserRole,
} from "../../../core/people.ts";
import type { OperatorContext } from "../../context.ts";
import { publicOrigin } from "../../exchange/hosts.ts";
import { actorOf, ownAccountOf, personOf } from "../../exchange/identity.ts";
import { AnyText, Email, listed, named, nullable, page, type Shape, strict, Time } from "../../openapi/schema.ts";
import * as TEXT from "../../text.ts";
import { idOf, isoTime, listPage, missing, PLAIN_ID, pageOf, paging } from "../exchange.ts";
import { type ApiRoute, del, get, patch, post } from "../route.ts";

/** Users and invitations share these. */
const personFields = {
  id: AnyText,
  email: AnyText,
  role: listed(USER_ROLES),
  accountId: AnyText,
  teams: Type.Array(AnyText, { description: "The ids of the teams that they are in." }),
  createdAt: Time,
};
export const UserSchema = named("User", {
  ...personFields,
  lastSignInAt: nullable(Time),
  // Set while an identity provider keeps them out by SCIM.
  deactivatedAt: nullable(Time),
});

const invitationFields = { ...personFields, expiresAt: Time };
export const InvitationSchema = named("Invitation", invitationFields);
/** The link is in this response only; the store keeps its hash. */
export const CreatedInvitationSchema = named("CreatedInvitation", { ...invitationFields, link: AnyText });
/** The same holds for the link of a reset. */
export const ResetLinkSchema = named("ResetLink", { email: AnyText, link: AnyText, expiresAt: Time });

const TEAMS_MAX = 100;
const Role = Type.Enum([...GIVEN_ROLES], { description: "`owner` is the former name of `admin`." });
const TeamIds = Type.Array(Type.String({ pattern: PLAIN_ID.source }), { maxItems: TEAMS_MAX });
/** Without a role, the new user is an admin of the account; without an account, it is the inviter's or the default one. */
const NewInvitationSchema = strict("NewInvitation", {
  email: Email,
  role: Type.Optional(Role),
  accountId: Type.Optional(Type.String({ pattern: PLAIN_ID.source })),
  teams: Type.Optional(TeamIds),
});
const UserChangeSchema = strict(
  "UserChange",
  { role: Type.Optional(Role), teams: Type.Optional(TeamIds) },
  { minProperties: 1 },
);

/** There is no mail server, so the inviter passes the link on. Admins see and change people of their account alone. */
export const USER_ROUTES: readonly ApiRoute[] = [
  // The account is checked here, because the invitation refers to it much later.
  post("invite", "/api/invitations", {
    summary: "Create an invitation link, valid for seven days; it is shown once and replaces an earlier one",
    access: "manage",
    spansAccounts: true,
    body: NewInvitationSchema,
    example: { email: "ada@example.com", role: "member", accountId: "default" },
    status: 201,
    response: CreatedInvitationSchema,
    errors: [409],
    async handle({ request, body }, edge) {
      const { email, role: given = "admin", accountId: named, teams: teamIds = [] } = body();
      const role = appointable(request, givenRole(given));
      const accountId = named ?? ownAccountOf(request) ?? DEFAULT_ACCOUNT;
      const isAllowed = (ownAccountOf(request) ?? accountId) === accountId;
      if (!isAllowed || (await edge.accounts.get(accountId)) === null) {
        throw new GatewayError("badRequest", TEXT.noAccount(accountId), { param: "accountId" });
      }
      await requireTeams(accountId, teamIds, edge);
      const invitedBy = personOf(request.identity)?.name ?? "";
      const { invitations, settings } = edge;
      const wanted = { email, role, accountId, teamIds, invitedBy, within: ownAccountOf(request) };
      const { invitation, token } = await invitations.invite(wanted);
      return {
        ...writeInvitation(invitation),
        link: `${publicOrigin(request, settings.server)}/#/invite?token=${token}`,
      };
    },
  }),
  // Expired ones are listed too, so that somebody notices.
  get("listInvitations", "/api/invitations", {
    summary: "Invitations that nobody has accepted yet",
    access: "manage",
    spansAccounts: true,
    parameters: paging,
    response: page(InvitationSchema),
    handle: ({ request }, { invitations }) =>
      listPage(pageOf(request), (each) => invitations.list(each, reachOf(request)), writeInvitation),
  }),
  del("withdrawInvitation", "/api/invitations/:id", {
    summary: "Withdraw an invitation",
    access: "manage",
    spansAccounts: true,
    async handle({ request }, { invitations }) {
      const id = idOf(request, "invitation");
      if (!(await invitations.delete(id, reachOf(request)))) throw missing("invitation", id);
    },
  }),
  get("listUsers", "/api/users", {
    summary: "Who may sign in",
    access: "manage",
    spansAccounts: true,
    parameters: paging,
    response: page(UserSchema),
    handle: ({ request }, { users }) =>
      listPage(pageOf(request), (each) => users.list(each, reachOf(request)), writeUser),
  }),
  patch("changeUser", "/api/users/:id", {
    summary: "Change a user's role or teams; the last operator, and for admins the last admin, keep their role",
    access: "manage",
    spansAccounts: true,
    body: UserChangeSchema,
    example: { role: "viewer" },
    response: UserSchema,
    errors: [409],
    async handle({ request, body }, edge) {
      const { role: given, teams: teamIds } = body();
      const user = await reachableUser(request, edge);
      const role = given === undefined ? undefined : appointable(request, givenRole(given));
      if (teamIds !== undefined) await requireTeams(user.accountId, teamIds, edge);
      const grant = { ...(role === undefined ? {} : { role }), ...(teamIds === undefined ? {} : { teamIds }) };
      const changed = await edge.users.change(user.id, grant, keepOf(request));
      if (changed === null) throw missing("user", user.id);
      edge.log.info({ event: "user.changed", userId: user.id, role, actor: actorOf(request) }, "user changed");
      return writeUser(changed);
    },
  }),
  post("makeResetLink", "/api/users/:id/reset", {
    summary: "Create a password reset link that works once, within a day; it is shown once",
    access: "manage",
    spansAccounts: true,
    status: 201,
    response: ResetLinkSchema,
    async handle({ request }, edge) {
      const { id } = await reachableUser(request, edge);
      const made = await edge.resets.makeFor({ id });
      if (made === null) throw missing("user", id);
      const link = `${publicOrigin(request, edge.settings.server)}/#/reset?token=${made.token}`;
      return { email: made.user.email, link, expiresAt: isoTime(made.expiresAtMs) };
    },
  }),
  // The last operator cannot be deleted: nobody could invite another.
  del("deleteUser", "/api/users/:id", {
    summary: "Delete a user, end their sessions and revoke their keys; the last operator stays",
    access: "manage",
    spansAccounts: true,
    errors: [409],
    async handle({ request }, edge) {
      const { id } = await reachableUser(request, edge);
      if (!(await edge.users.delete(id, keepOf(request)))) throw missing("user", id);
    },
  }),
];

/** The people that the caller may see and change; undefined for all. */
function reachOf(request: FastifyRequest): PeopleFilter | undefined {
  const accountId = ownAccountOf(request);
  return accountId === null ? undefined : { accountId, hasOperators: false };
}

/** Operators appoint a new admin where they take the last one away. */
function keepOf(request: FastifyRequest): { readonly keepsAdmin: boolean } {
  return { keepsAdmin: ownAccountOf(request) !== null };
}

/** A user of another account, or an operator, looks to an admin like a missing one. */
async function reachableUser(request: FastifyRequest, { users }: OperatorContext): Promise<User> {
  const id = idOf(request, "user");
  const user = await users.byId(id);
  const reach = reachOf(request);
  const isReached = reach === undefined || (user?.accountId === reach.accountId && user.role !== "operator");
  if (user === null || !isReached) throw missing("user", id);
  return user;
}

function appointable(request: FastifyRequest, role: UserRole): UserRole {
  if (role !== "operator" || ownAccountOf(request) === null) return role;
  throw new GatewayError("forbidden", TEXT.operatorsInvite, { code: "operators_only", param: "role" });
}

async function requireTeams(accountId: string, ids: readonly string[], { teams }: OperatorContext): Promise<void> {
  const stranger = await teams.strangerOf(accountId, ids);
  if (stranger !== null) throw new GatewayError("badRequest", TEXT.noTeam(stranger), { param: "teams" });
}

/** Also written by the command line, which prints the same JSON. */
export function writeUser(user: User): Shape<typeof UserSchema> {
  const { lastSignInAtMs, deactivatedAtMs } = user;
  return { ...writePerson(user), lastSignInAt: isoTime(lastSignInAtMs), deactivatedAt: isoTime(deactivatedAtMs) };
}

/** Also written by the command line. */
export function writeInvitation(invitation: Invitation): Shape<typeof InvitationSchema> {
  // Only the set-up link has no end, and it is never shown here.
  return { ...writePerson(invitation), expiresAt: isoTime(invitation.expiresAtMs) as string };
}

type Person = Pick<User, "id" | "email" | "role" | "accountId" | "teamIds" | "createdAtMs">;

function writePerson({ id, email, role, accountId, teamIds, createdAtMs }: Person) {
  return { id, email, role, accountId, teams: teamIds, createdAt: isoTime(createdAtMs) };
}
