// `switchyard teams`: teams of an account, directly on the store. A server on the same database notices within seconds.

import { DEFAULT_ACCOUNT } from "../../accounts/accounts.ts";
import { createDirectory } from "../../accounts/directory.ts";
import { createTeams, type Teams } from "../../accounts/teams.ts";
import type { Catalog } from "../../catalog/catalog.ts";
import { findModel } from "../../catalog/model-names.ts";
import { command } from "../../config/package.ts";
import type { Team, TeamChange } from "../../core/accounts.ts";
import type { Db } from "../../core/db.ts";
import { TIERS } from "../../core/tiers.ts";
import { writeTeam } from "../../http/api/people/teams.ts";
import { createAccountStore } from "../../store/accounts/accounts.ts";
import { createKeyStore } from "../../store/accounts/keys.ts";
import { createProfileStore } from "../../store/accounts/profiles.ts";
import { createTeamStore } from "../../store/accounts/teams.ts";
import { SILENT_LOG } from "../../telemetry/log.ts";
import type { Arguments, Flags } from "../command/arguments.ts";
import { exitUnlessConfirmed, type Parsed, parseSubcommand, printJson, runCommand } from "../command/command.ts";
import { isOn, parseWord, splitFlags, textOf } from "../command/flags.ts";
import { type CommandStore, withStore } from "../command/store.ts";
import { formatTable } from "../command/table.ts";
import { type Terminal, thisTerminal } from "../command/terminal.ts";
import * as TEXT from "../command/text.ts";
import { FAILED, UsageError } from "../command/usage.ts";
import { findProfile, profilesOf } from "../profiles.ts";
import * as OWN_TEXT from "./text.ts";

type TeamOptions = { readonly accountId: string; readonly isJson: boolean } & (
  | { readonly kind: "list" }
  | { readonly kind: "create"; readonly name: string; readonly change: TeamChange }
  | { readonly kind: "set"; readonly named: string; readonly change: TeamChange }
  | { readonly kind: "delete"; readonly named: string; readonly isConfirmed: boolean }
);
type TeamOptionsOf<Kind extends TeamOptions["kind"]> = Extract<TeamOptions, { kind: Kind }>;

/** Services and terminal of every subcommand. */
interface TeamContext {
  readonly store: CommandStore;
  readonly teams: Teams;
  readonly catalog: Catalog;
  readonly terminal: Terminal;
}

/** Runs one subcommand on the store. */
export function teams(args: Arguments, terminal: Terminal = thisTerminal()): Promise<number> {
  return runCommand({
    ...{ name: "teams", terminal, isEffective: true, callsNobody: true, parse: () => parseTeams(args) },
    run: (options, { database, catalog }) =>
      withStore(database, async (store) => {
        await store.requireAccount(options.accountId, terminal.now());
        return run(options, { store, teams: teamsOf(store.db), catalog, terminal });
      }),
  });
}

/** No background work is started: a command asks the database each time. */
export function teamsOf(db: Db): Teams {
  const store = createTeamStore(db);
  const [accounts, keys, profiles] = [createAccountStore(db), createKeyStore(db), createProfileStore(db)];
  return createTeams({
    store,
    directory: createDirectory({ accounts, keys, profiles, teams: store, log: SILENT_LOG }),
  });
}

/** The id of a team that is named by name or id. A word that is neither goes on as it is, for the service to reject. */
export async function teamIdOf(db: Db, accountId: string, named: string): Promise<string> {
  return (await teamsOf(db).idOf(accountId, named)) ?? named;
}

async function run(options: TeamOptions, context: TeamContext): Promise<number> {
  if (options.kind === "list") return list(options, context);
  if (options.kind === "create") return create(options, context);
  const id = await teamIdOf(context.store.db, options.accountId, options.named);
  const team = await context.teams.get(options.accountId, id);
  if (team === null) {
    context.terminal.say(OWN_TEXT.noTeam(options.named, command("teams list")));
    return FAILED;
  }
  return options.kind === "set" ? set(options, team, context) : remove(options, team, context);
}

async function list({ accountId, isJson }: TeamOptions, { store, teams, terminal }: TeamContext): Promise<number> {
  const found = (await createTeamStore(store.db).all())
    .filter((team) => team.accountId === accountId)
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  const keys = await teams.countKeys(accountId);
  const activeKeys = ({ id }: Team): number => keys.get(id) ?? 0;
  if (isJson)
    printJson({ data: found.map((team) => ({ ...writeTeam(team), activeKeys: activeKeys(team) })) }, terminal);
  else if (found.length === 0) terminal.say(OWN_TEXT.noTeams(command("teams create --name NAME")));
  else {
    const names = new Map(found.map(({ id, name }) => [id, name]));
    const rows = found.map((team) => [...rowOf(team, names), String(activeKeys(team))]);
    terminal.out(formatTable([HEADINGS, ...rows]));
  }
  return 0;
}

const HEADINGS = ["ID", "NAME", "PART OF", "PROFILE", "CEILING", "MODELS", "KEYS"];

function rowOf(team: Team, names: ReadonlyMap<string, string>): readonly string[] {
  const { id, name, parentId, profileId, tierCeiling, allowedModels } = team;
  const parent = parentId === null ? "-" : (names.get(parentId) ?? parentId);
  return [id, name, parent, profileId ?? "-", tierCeiling ?? "-", allowedModels?.join(" ") ?? "-"];
}

async function create(options: TeamOptionsOf<"create">, context: TeamContext): Promise<number> {
  const { accountId, name } = options;
  const unset = { parentId: null, profileId: null, allowedModels: null, tierCeiling: null, requires: null };
  const change = await checked(options.change, accountId, context);
  return show(await context.teams.create(accountId, { ...unset, ...change, name }), "Created", options, context);
}

async function set(options: TeamOptionsOf<"set">, { id }: Team, context: TeamContext): Promise<number> {
  const change = await checked(options.change, options.accountId, context);
  const changed = await context.teams.change(options.accountId, id, change);
  if (changed === null) throw new Error(OWN_TEXT.teamGone);
  return show(changed, "Updated", options, context);
}

function show(team: Team, done: string, { isJson }: TeamOptions, { terminal }: TeamContext): number {
  if (isJson) printJson(writeTeam(team), terminal);
  else terminal.say(`${done} ${nameOf(team)}.\n`);
  return 0;
}

async function remove(
  { accountId, isConfirmed, isJson }: TeamOptionsOf<"delete">,
  team: Team,
  { teams, terminal }: TeamContext,
): Promise<number> {
  const question = `Delete ${nameOf(team)}?`;
  const exitCode = await exitUnlessConfirmed({ question, command: "teams delete", isConfirmed }, terminal);
  if (exitCode !== null) return exitCode;
  await teams.delete(accountId, team.id);
  terminal.say(`Deleted ${nameOf(team)}.\n`);
  if (isJson) printJson(writeTeam(team), terminal);
  return 0;
}

/** The change with ids for the names in it. An unknown model would never match. */
async function checked(change: TeamChange, accountId: string, { store, catalog }: TeamContext): Promise<TeamChange> {
  const { parentId, profileId, allowedModels } = change;
  const stranger = allowedModels?.find((model) => findModel(catalog, model) === undefined);
  if (stranger !== undefined) throw new UsageError(TEXT.unknownModel(stranger, command("models list")));
  const profile = profileId == null ? null : await findProfile(profilesOf(store.db), accountId, profileId);
  return {
    ...change,
    ...(parentId == null ? {} : { parentId: await teamIdOf(store.db, accountId, parentId) }),
    ...(profile === null ? {} : { profileId: profile.id }),
  };
}

function nameOf({ id, name }: Team): string {
  return `${id} (${JSON.stringify(name)})`;
}

/** Most words after each subcommand. `create` takes one only to say what it may have meant. */
const SUBCOMMANDS = { list: 0, create: 1, set: 1, delete: 1 };
const TEAM_FLAGS = ["name", "parent", "profile", "allow", "ceiling"];
/** Flags beside --account and --json. */
const OWN_FLAGS: Readonly<Record<TeamOptions["kind"], readonly string[]>> = {
  list: [],
  create: TEAM_FLAGS,
  set: TEAM_FLAGS,
  delete: ["yes"],
};

function parseTeams({ words, flags }: Arguments): Parsed<TeamOptions> {
  const [kind, word] = parseSubcommand(words, "teams", SUBCOMMANDS);
  const { own, config } = splitFlags(flags, [...OWN_FLAGS[kind], "account", "json", "no-color"]);
  const common = { accountId: textOf(own, "account") ?? DEFAULT_ACCOUNT, isJson: isOn(own, "json") };
  if (kind === "list") return { options: { ...common, kind }, config };
  if (kind === "create") return { options: { ...common, kind, ...parseNew(word, own) }, config };
  if (word === undefined) throw new UsageError(OWN_TEXT.needsTeam(kind, command("teams list")));
  if (kind === "delete") return { options: { ...common, kind, named: word, isConfirmed: isOn(own, "yes") }, config };
  const change = parseChange(own);
  if (Object.keys(change).length > 0) return { options: { ...common, kind, named: word, change }, config };
  throw new UsageError(OWN_TEXT.needsChange("teams set", TEAM_FLAGS));
}

function parseNew(word: string | undefined, flags: Flags): { readonly name: string; readonly change: TeamChange } {
  const { name, ...change } = parseChange(flags);
  if (name !== undefined && word === undefined) return { name, change };
  throw new UsageError(OWN_TEXT.needsName(word ?? "search"));
}

/** Only what was given; `none` takes a bound away. */
function parseChange(flags: Flags): TeamChange {
  const orNull = <T>(flag: string, parse: (text: string) => T): T | null | undefined => {
    const text = textOf(flags, flag);
    if (text === null) return undefined;
    return text === "none" ? null : parse(text);
  };
  const name = textOf(flags, "name")?.trim();
  const parentId = orNull("parent", (text) => text);
  const profileId = orNull("profile", (text) => text);
  const allowedModels = orNull("allow", (text) => text.split(",").map((word) => word.trim()));
  const tierCeiling = orNull("ceiling", (text) => parseWord(text, TIERS, "ceiling"));
  return {
    ...(name === undefined ? {} : { name }),
    ...(parentId === undefined ? {} : { parentId }),
    ...(profileId === undefined ? {} : { profileId }),
    ...(allowedModels === undefined ? {} : { allowedModels }),
    ...(tierCeiling === undefined ? {} : { tierCeiling }),
  };
}
