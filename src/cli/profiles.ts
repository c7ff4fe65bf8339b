// `switchyard profiles`: routing profiles, directly on the store. A server on the same database notices within seconds.

import { DEFAULT_ACCOUNT } from "../accounts/accounts.ts";
import { createDirectory } from "../accounts/directory.ts";
import { createProfiles, type Profiles } from "../accounts/profiles.ts";
import type { Catalog } from "../catalog/catalog.ts";
import { findModel } from "../catalog/model-names.ts";
import { command } from "../config/package.ts";
import type { Profile } from "../core/accounts.ts";
import type { Db } from "../core/db.ts";
import { type Constraints, NO_CONSTRAINTS } from "../core/decision.ts";
import type { KeyRecord } from "../core/keys.ts";
import { PROFILE_CONTROLS } from "../core/requests/controls.ts";
import { TIERS } from "../core/tiers.ts";
import { writeProfile } from "../http/api/profiles.ts";
import { createAccountStore } from "../store/accounts/accounts.ts";
import { createKeyStore } from "../store/accounts/keys.ts";
import { createProfileStore } from "../store/accounts/profiles.ts";
import { createTeamStore } from "../store/accounts/teams.ts";
import { SILENT_LOG } from "../telemetry/log.ts";
import type { Arguments, Flags } from "./command/arguments.ts";
import { exitUnlessConfirmed, type Parsed, parseSubcommand, printJson, runCommand } from "./command/command.ts";
import { isOn, parseControl, splitFlags, textOf } from "./command/flags.ts";
import { type CommandStore, withStore } from "./command/store.ts";
import { formatTable } from "./command/table.ts";
import { type Terminal, thisTerminal } from "./command/terminal.ts";
import * as TEXT from "./command/text.ts";
import { FAILED, UsageError } from "./command/usage.ts";

/** Runs one subcommand on the store. */
export function profiles(args: Arguments, terminal: Terminal = thisTerminal()): Promise<number> {
  return runCommand({
    ...{ name: "profiles", terminal, isEffective: true, parse: () => parseProfiles(args) },
    run: (options, { database, catalog }) =>
      withStore(database, async (store) => {
        await store.requireAccount(options.accountId, terminal.now());
        return run(options, { store, service: profilesOf(store.db), catalog, terminal });
      }),
  });
}

/** No background work is started: a command asks the database each time. */
export function profilesOf(db: Db): Profiles {
  const store = createProfileStore(db);
  const [accounts, keys, teams] = [createAccountStore(db), createKeyStore(db), createTeamStore(db)];
  const directory = createDirectory({ accounts, keys, profiles: store, teams, log: SILENT_LOG });
  return createProfiles({ store, directory });
}

/** A profile by its id, or by its name where only one has it. */
export async function findProfile(service: Profiles, accountId: string, named: string): Promise<Profile | null> {
  const all = await allProfiles(service, accountId);
  const found = all.filter(({ id, name }) => id === named || name === named);
  if (found.length > 1) throw new UsageError(TEXT.sameNames(found.length, named));
  return found[0] ?? null;
}

/** Profiles are read by pages of this size. */
const PAGE = 500;

export async function allProfiles(service: Profiles, accountId: string): Promise<readonly Profile[]> {
  const all: Profile[] = [];
  for (;;) {
    const page = await service.list(accountId, { limit: PAGE, after: all.at(-1)?.id ?? null });
    all.push(...page);
    if (page.length < PAGE) return all;
  }
}

type ProfileOptions = { readonly accountId: string; readonly isJson: boolean } & (
  | { readonly kind: "list" }
  | { readonly kind: "show"; readonly named: string }
  | {
      readonly kind: "set";
      readonly named: string;
      readonly changes: Partial<Constraints>;
      readonly description?: string | null;
    }
  | { readonly kind: "delete"; readonly named: string; readonly isConfirmed: boolean }
);

/** Services and terminal of every subcommand. */
interface ProfileContext {
  readonly store: CommandStore;
  readonly service: Profiles;
  readonly catalog: Catalog;
  readonly terminal: Terminal;
}

async function run(options: ProfileOptions, context: ProfileContext): Promise<number> {
  if (options.kind === "list") return list(options, context);
  const profile = await findProfile(context.service, options.accountId, options.named);
  if (options.kind === "set") return set(options, profile, context);
  if (profile === null) {
    context.terminal.say(TEXT.noProfile(options.named, command("profiles list")));
    return FAILED;
  }
  return options.kind === "show" ? show(options, profile, context) : remove(options, profile, context);
}

async function list({ accountId, isJson }: ProfileOptions, { service, terminal }: ProfileContext): Promise<number> {
  const all = await allProfiles(service, accountId);
  if (isJson) printJson({ data: all.map(writeProfile) }, terminal);
  else if (all.length === 0) terminal.say(TEXT.noProfiles(command("profiles set NAME")));
  else terminal.out(formatTable([["ID", "NAME", "RULES"], ...all.map((each) => [each.id, each.name, rulesOf(each)])]));
  return 0;
}

/** One profile with its rules and the names of the keys that use it. */
async function show(options: ProfileOptions, profile: Profile, { store, terminal }: ProfileContext): Promise<number> {
  if (options.isJson) {
    printJson(writeProfile(profile), terminal);
    return 0;
  }
  const keys = await keysOf(store, profile);
  const { id, name, description } = profile;
  const about = description === null ? [] : [["description", description]];
  const rows = [["id", id], ["name", name], ...about, ...describe(profile.constraints)];
  terminal.out(formatTable([...rows, ["keys", keys.map(({ name }) => name).join(", ") || "none"]]));
  return 0;
}

/** Creates the profile, or changes only the rules that were given. */
async function set(
  options: Extract<ProfileOptions, { kind: "set" }>,
  known: Profile | null,
  { service, catalog, terminal }: ProfileContext,
): Promise<number> {
  const { named, accountId, changes, isJson } = options;
  const unknownModel = [...(changes.allowedModels ?? []), ...(changes.blockedModels ?? [])].find(
    (id) => findModel(catalog, id) === undefined,
  );
  if (unknownModel !== undefined) throw new UsageError(TEXT.unknownModel(unknownModel, command("models list")));
  const constraints = { ...(known?.constraints ?? NO_CONSTRAINTS), ...changes };
  const { description = known?.description ?? null } = options;
  const saved =
    known === null
      ? await service.create(accountId, { name: named, description, constraints })
      : await service.update(accountId, known.id, { name: known.name, description, constraints });
  if (saved === null) throw new Error(TEXT.profileGone);
  if (isJson) printJson(writeProfile(saved), terminal);
  else terminal.say(`${known === null ? "Created" : "Updated"} ${nameOf(saved)}: ${rulesOf(saved)}.\n`);
  const { tierFloor, tierCeiling } = constraints;
  if (tierFloor !== null && tierCeiling !== null && TIERS.indexOf(tierFloor) > TIERS.indexOf(tierCeiling)) {
    terminal.say(TEXT.floorAboveCeiling(tierFloor, tierCeiling));
  }
  if (known === null && !isJson) terminal.say(TEXT.useProfile(command(`keys create --name NAME --profile ${named}`)));
  return 0;
}

/** Keys with a deleted profile are rejected from then on, so they are named before and after. */
async function remove(
  { accountId, isConfirmed, isJson }: Extract<ProfileOptions, { kind: "delete" }>,
  profile: Profile,
  { store, service, terminal }: ProfileContext,
): Promise<number> {
  const keys = (await keysOf(store, profile)).map(({ name }) => name).join(", ");
  const question = `Delete ${nameOf(profile)}?${keys === "" ? "" : ` Keys that will be refused: ${keys}.`}`;
  const exitCode = await exitUnlessConfirmed({ question, command: "profiles delete", isConfirmed }, terminal);
  if (exitCode !== null) return exitCode;
  await service.delete(accountId, profile.id);
  terminal.say(`Deleted ${nameOf(profile)}.${keys === "" ? "" : ` Refused from now on: ${keys}.`}\n`);
  if (isJson) printJson(writeProfile(profile), terminal);
  return 0;
}

/** The keys that would be rejected without this profile. */
async function keysOf(store: CommandStore, { id }: Profile): Promise<readonly KeyRecord[]> {
  return (await store.allKeys()).filter(({ profileId, revokedAtMs }) => profileId === id && revokedAtMs === null);
}

function nameOf({ id, name }: Profile): string {
  return `${id} (${JSON.stringify(name)})`;
}

/** The rules in one line, for the list. */
function rulesOf({ constraints }: Profile): string {
  return (
    describe(constraints)
      .map(([name, value]) => `${name} ${value}`)
      .join(", ") || TEXT.noRules
  );
}

const ON_OFF = ["off", "on"];

/** The rules that are set, under the names of their flags. */
function describe(constraints: Constraints): readonly [string, string][] {
  return PROFILE_CONTROLS.flatMap(({ name, rule, flag = rule, takes }): [string, string][] => {
    const value = constraints[name];
    const text = Array.isArray(value)
      ? value.join(" ")
      : typeof value === "boolean"
        ? (ON_OFF[Number(value)] ?? "")
        : String(value);
    return value === takes.unset || text === "" ? [] : [[flag, text]];
  });
}

const NONE = "none";

const DESCRIPTION = "description";

/** Most words after each subcommand. */
const SUBCOMMANDS = { list: 0, show: 1, set: 1, delete: 1 };

/** Flags beside --account and --json. */
const OWN_FLAGS: Readonly<Record<ProfileOptions["kind"], readonly string[]>> = {
  list: [],
  show: [],
  set: [...PROFILE_CONTROLS.flatMap(({ flag = [] }) => flag), DESCRIPTION],
  delete: ["yes"],
};

/** Checks words and flags before anything is opened. */
function parseProfiles({ words, flags }: Arguments): Parsed<ProfileOptions> {
  const [kind, named] = parseSubcommand(words, "profiles", SUBCOMMANDS);
  const { own, config } = splitFlags(flags, [...OWN_FLAGS[kind], "account", "json", "no-color"]);
  const common = { accountId: textOf(own, "account") ?? DEFAULT_ACCOUNT, isJson: isOn(own, "json") };
  if (kind === "list") return { options: { kind, ...common }, config };
  if (named === undefined) throw new UsageError(TEXT.needsProfile(kind));
  if (kind === "show") return { options: { kind, named, ...common }, config };
  if (kind === "delete") return { options: { kind, named, isConfirmed: isOn(own, "yes"), ...common }, config };
  return { options: { kind, named, changes: parseRules(own), ...parseDescription(own), ...common }, config };
}

/** Only the rules that were given; `none` takes a rule away. */
function parseRules(flags: Flags): Partial<Constraints> {
  const changes = PROFILE_CONTROLS.flatMap((control) => {
    const { name, flag = "", takes } = control;
    const text = textOf(flags, flag);
    return text === null ? [] : [[name, text === NONE ? takes.unset : parseControl(text, control)]];
  });
  return Object.fromEntries(changes);
}

/** A description that was not given stays as it is. */
function parseDescription(flags: Flags): { description?: string | null } {
  const text = textOf(flags, DESCRIPTION);
  return text === null ? {} : { description: text === NONE ? null : text };
}
