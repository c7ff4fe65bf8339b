// `switchyard members`: people of an account and their invitations, directly on the store.

import { DEFAULT_ACCOUNT } from "../../accounts/accounts.ts";
import { createInvitations } from "../../accounts/invitations.ts";
import { createPasswords } from "../../accounts/passwords.ts";
import { createUsers, type Users } from "../../accounts/users.ts";
import { command } from "../../config/package.ts";
import type { Settings } from "../../config/settings.ts";
import {
  GIVEN_ROLES,
  givenRole,
  type Invitation,
  type User,
  type UserGrant,
  type UserRole,
} from "../../core/people.ts";
import { writeInvitation, writeUser } from "../../http/api/people/users.ts";
import { createInvitationStore } from "../../store/accounts/invitations.ts";
import { createUserStore } from "../../store/accounts/users.ts";
import type { Arguments, Flags } from "../command/arguments.ts";
import {
  COMMAND_LINE,
  exitUnlessConfirmed,
  type Parsed,
  parseSubcommand,
  printJson,
  runCommand,
} from "../command/command.ts";
import { isOn, parseWord, splitFlags, textOf } from "../command/flags.ts";
import { type CommandStore, withStore } from "../command/store.ts";
import { formatTable } from "../command/table.ts";
import { type Terminal, thisTerminal } from "../command/terminal.ts";
import { FAILED, UsageError } from "../command/usage.ts";
import { teamIdOf, teamsOf } from "./teams.ts";
import * as TEXT from "./text.ts";
import { linkTo, parseUrl } from "./users.ts";

/** Role and teams as they were given; undefined stays, or is the usual for an invitation. */
interface Grant {
  readonly role: UserRole | undefined;
  readonly teams: readonly string[] | undefined;
}

type MemberOptions = { readonly isJson: boolean; readonly accountId: string | null } & (
  | { readonly kind: "list" }
  | { readonly kind: "invite"; readonly email: string; readonly grant: Grant; readonly url: string | null }
  | { readonly kind: "set"; readonly email: string; readonly grant: Grant }
  | { readonly kind: "remove"; readonly email: string; readonly isConfirmed: boolean }
);
type MemberOptionsOf<Kind extends MemberOptions["kind"]> = Extract<MemberOptions, { kind: Kind }>;

/** Services and terminal of every subcommand. */
interface MemberContext {
  readonly store: CommandStore;
  readonly users: Users;
  readonly invitations: ReturnType<typeof createInvitations>;
  readonly settings: Settings;
  readonly terminal: Terminal;
}

/** Runs one subcommand on the store. */
export function members(args: Arguments, terminal: Terminal = thisTerminal()): Promise<number> {
  return runCommand({
    ...{ name: "members", terminal, callsNobody: true, parse: () => parseMembers(args) },
    run: (options, settings) =>
      withStore(settings.database, async (store) => {
        if (options.accountId !== null) await store.requireAccount(options.accountId, terminal.now());
        return run(options, { store, settings, terminal, ...peopleOf(store) });
      }),
  });
}

function peopleOf({ db }: CommandStore): Pick<MemberContext, "users" | "invitations"> {
  const [store, passwords] = [createUserStore(db), createPasswords()];
  const invitations = createInvitations({ store: createInvitationStore(db), users: store, passwords });
  return { users: createUsers({ store, passwords }), invitations };
}

async function run(options: MemberOptions, context: MemberContext): Promise<number> {
  if (options.kind === "list") return list(options, context);
  if (options.kind === "invite") return invite(options, context);
  const user = await context.users.byEmail(options.email);
  if (user !== null && (options.accountId ?? user.accountId) === user.accountId) {
    return options.kind === "set" ? set(options, user, context) : remove(options, user, context);
  }
  const invitation = options.kind === "remove" ? await invitationTo(options, context) : undefined;
  if (invitation !== undefined) return withdraw(options, invitation, context);
  context.terminal.say(TEXT.noMember(options.email, command("members list")));
  return FAILED;
}

/** Far above any real number of people; the list is printed whole. */
const PEOPLE_MAX = 10_000;

/** Prints who may sign in, then who was invited and has not accepted. */
async function list({ accountId, isJson }: MemberOptions, context: MemberContext): Promise<number> {
  const { users, terminal, store } = context;
  const only = accountId === null ? undefined : { accountId, hasOperators: true };
  const found = await users.list({ limit: PEOPLE_MAX, after: null }, only);
  const invited = await openInvitations(context, accountId);
  if (isJson) {
    printJson({ data: found.map(writeUser), invitations: invited.map(writeInvitation) }, terminal);
  } else if (found.length + invited.length === 0) {
    terminal.say(TEXT.noMembers(command("members invite EMAIL")));
  } else {
    const teamName = (person: User | Invitation, id: string) => nameOfTeam(store, person.accountId, id);
    const rows = [...found, ...invited].map(async (person) => {
      const names = await Promise.all(person.teamIds.map((id) => teamName(person, id)));
      const state = "passwordHash" in person ? dayOf(person.lastSignInAtMs) : TEXT.isInvited;
      return [person.email, person.role, person.accountId, names.join(" ") || "-", state];
    });
    terminal.out(formatTable([HEADINGS, ...(await Promise.all(rows))]));
  }
  return 0;
}

const HEADINGS = ["E-MAIL", "ROLE", "ACCOUNT", "TEAMS", "LAST SIGN-IN"];

function dayOf(ms: number | null): string {
  return ms === null ? "-" : `${new Date(ms).toISOString().slice(0, 16).replace("T", " ")}Z`;
}

async function nameOfTeam({ db }: CommandStore, accountId: string, id: string): Promise<string> {
  return (await teamsOf(db).get(accountId, id))?.name ?? id;
}

async function openInvitations({ invitations }: MemberContext, accountId: string | null) {
  const only = accountId === null ? undefined : { accountId, hasOperators: true };
  return invitations.list({ limit: PEOPLE_MAX, after: null }, only);
}

async function invitationTo({ email, accountId }: MemberOptionsOf<"remove">, context: MemberContext) {
  return (await openInvitations(context, accountId)).find((invitation) => invitation.email === email);
}

/** Prints the link alone on standard output, so that a shell can capture it. */
async function invite(options: MemberOptionsOf<"invite">, context: MemberContext): Promise<number> {
  const { email, grant, url, isJson } = options;
  const { invitations, settings, terminal, store } = context;
  const accountId = options.accountId ?? DEFAULT_ACCOUNT;
  await store.requireAccount(accountId, terminal.now());
  const { role = "member", teams = [] } = grant;
  const teamIds = await teamIdsOf(teams, accountId, context);
  const wanted = { email, role, accountId, teamIds, invitedBy: COMMAND_LINE, within: null };
  const { invitation, token } = await invitations.invite(wanted);
  const link = linkTo(`invite?token=${token}`, url, settings);
  if (isJson) printJson({ ...writeInvitation(invitation), link }, terminal);
  else {
    terminal.say(TEXT.invited(invitation.email, role, accountId));
    terminal.out(`${link}\n`);
  }
  return 0;
}

async function set(options: MemberOptionsOf<"set">, user: User, context: MemberContext): Promise<number> {
  const { role, teams } = options.grant;
  const teamIds = teams === undefined ? undefined : await teamIdsOf(teams, user.accountId, context);
  const grant: UserGrant = { ...(role === undefined ? {} : { role }), ...(teamIds === undefined ? {} : { teamIds }) };
  const changed = await context.users.change(user.id, grant);
  if (changed === null) throw new Error(TEXT.memberGone);
  if (options.isJson) printJson(writeUser(changed), context.terminal);
  else context.terminal.say(`Updated ${changed.email}: ${changed.role} of ${changed.accountId}.\n`);
  return 0;
}

/** Names become ids. A team of another account is refused, since its id would say nothing here. */
async function teamIdsOf(names: readonly string[], accountId: string, { store: { db } }: MemberContext) {
  const ids = await Promise.all(names.map((name) => teamIdOf(db, accountId, name)));
  const stranger = await teamsOf(db).strangerOf(accountId, ids);
  if (stranger !== null) throw new UsageError(TEXT.noTeam(stranger, command("teams list")).trimEnd());
  return ids;
}

async function remove(options: MemberOptionsOf<"remove">, user: User, context: MemberContext): Promise<number> {
  const { users, terminal } = context;
  const { isConfirmed, isJson } = options;
  const question = TEXT.removeQuestion(user.email);
  const exitCode = await exitUnlessConfirmed({ question, command: "members remove", isConfirmed }, terminal);
  if (exitCode !== null) return exitCode;
  await users.delete(user.id);
  terminal.say(`Removed ${user.email}.\n`);
  if (isJson) printJson(writeUser(user), terminal);
  return 0;
}

/** Nobody loses anything but a link, so it needs no question. */
async function withdraw(
  { isJson }: MemberOptions,
  invitation: Invitation,
  { invitations, terminal }: MemberContext,
): Promise<number> {
  await invitations.delete(invitation.id);
  terminal.say(`Withdrew the invitation of ${invitation.email}.\n`);
  if (isJson) printJson(writeInvitation(invitation), terminal);
  return 0;
}

/** Most words after each subcommand. */
const SUBCOMMANDS = { list: 0, invite: 1, set: 1, remove: 1 };
const GRANT_FLAGS = ["role", "teams"];
/** Flags beside --account and --json. */
const OWN_FLAGS: Readonly<Record<MemberOptions["kind"], readonly string[]>> = {
  list: [],
  invite: [...GRANT_FLAGS, "url"],
  set: GRANT_FLAGS,
  remove: ["yes"],
};

function parseMembers({ words, flags }: Arguments): Parsed<MemberOptions> {
  const [kind, word] = parseSubcommand(words, "members", SUBCOMMANDS);
  const { own, config } = splitFlags(flags, [...OWN_FLAGS[kind], "account", "json", "no-color"]);
  const common = { accountId: textOf(own, "account"), isJson: isOn(own, "json") };
  if (kind === "list") return { options: { ...common, kind }, config };
  if (word === undefined) throw new UsageError(TEXT.needsEmail(kind));
  const email = word.trim().toLowerCase();
  if (kind === "remove") return { options: { ...common, kind, email, isConfirmed: isOn(own, "yes") }, config };
  const grant = parseGrant(own);
  if (kind === "invite") {
    return { options: { ...common, kind, email, grant, url: parseUrl(textOf(own, "url")) }, config };
  }
  if (grant.role === undefined && grant.teams === undefined) {
    throw new UsageError(TEXT.needsChange("members set", GRANT_FLAGS));
  }
  return { options: { ...common, kind, email, grant }, config };
}

/** `none` for the teams leaves all of them. */
function parseGrant(flags: Flags): Grant {
  const [role, teams] = [textOf(flags, "role"), textOf(flags, "teams")];
  return {
    role: role === null ? undefined : givenRole(parseWord(role, GIVEN_ROLES, "role")),
    teams: teams === null ? undefined : teams === "none" ? [] : teams.split(",").map((name) => name.trim()),
  };
}
