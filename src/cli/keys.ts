// `switchyard keys`: API keys, directly on the store. A server on the same database notices changes within seconds.

import { DEFAULT_ACCOUNT } from "../accounts/accounts.ts";
import { keyStatus, type MadeKey } from "../accounts/keys.ts";
import type { Spent } from "../accounts/spending.ts";
import { command } from "../config/package.ts";
import type { KeyChange, KeyRecord } from "../core/keys.ts";
import { SPEND_RESETS, type SpendReset } from "../core/keys.ts";
import { formatUsd, type NanoUsd, parseUsd } from "../core/money.ts";
import { writeKey } from "../http/api/key-json.ts";
import { createTeamStore } from "../store/accounts/teams.ts";
import { createUserStore } from "../store/accounts/users.ts";
import type { Arguments, Flags } from "./command/arguments.ts";
import { exitUnlessConfirmed, type Parsed, parseSubcommand, printJson, runCommand } from "./command/command.ts";
import { parseExpiry } from "./command/expiry.ts";
import { isOn, splitFlags, textOf } from "./command/flags.ts";
import { type CommandStore, withStore } from "./command/store.ts";
import { formatTable } from "./command/table.ts";
import { type Terminal, thisTerminal } from "./command/terminal.ts";
import * as TEXT from "./command/text.ts";
import { FAILED, UsageError } from "./command/usage.ts";
import { allProfiles, findProfile, profilesOf } from "./profiles.ts";

/** Runs one subcommand on the store. */
export function keys(args: Arguments, terminal: Terminal = thisTerminal()): Promise<number> {
  return runCommand({
    ...{ name: "keys", terminal, callsNobody: true, parse: () => parseKeys(args, terminal.now()) },
    run: (options, { database }) => withStore(database, (store) => run(options, { store, terminal })),
  });
}

/** Services and terminal of every subcommand. */
interface KeyContext {
  readonly store: CommandStore;
  readonly terminal: Terminal;
}

type KeyOptions = KeySubcommand & {
  /** The account; null if none was named. */
  readonly accountId: string | null;
  readonly isJson: boolean;
};

/** Options of one subcommand. */
type KeySubcommand =
  | { readonly kind: "create"; readonly key: Required<KeyChange> }
  | { readonly kind: "list" }
  | { readonly kind: "set"; readonly id: string; readonly change: KeyChange }
  | { readonly kind: "reset-spend"; readonly id: string }
  /** The old key goes on working for `graceMs`. */
  | { readonly kind: "rotate"; readonly id: string; readonly graceMs: number }
  | { readonly kind: "revoke"; readonly id: string; readonly isConfirmed: boolean };

/** The options of one subcommand. */
type KeyOptionsOf<Kind extends KeyOptions["kind"]> = Extract<KeyOptions, { kind: Kind }>;

function run(options: KeyOptions, context: KeyContext): Promise<number> {
  if (options.kind === "create") return create(options, context);
  if (options.kind === "list") return list(options, context);
  if (options.kind === "set") return set(options, context);
  if (options.kind === "reset-spend") return resetSpend(options, context);
  return options.kind === "rotate" ? rotate(options, context) : revoke(options, context);
}

/** Without a profile the key may use every model, so the way to give it rules is printed. */
async function create({ key, accountId, isJson }: KeyOptionsOf<"create">, context: KeyContext): Promise<number> {
  const { store, terminal } = context;
  const account = accountId ?? DEFAULT_ACCOUNT;
  await store.requireAccount(account, terminal.now());
  const named = { ...key, ...(await idsOf(key, account, store)) };
  const made = await store.keys.create({ ...named, accountId: account });
  if (!isJson && named.profileId === null && named.teamId === null) {
    terminal.say(TEXT.keyUnrestricted(command(`keys set ${made.key.id} --profile NAME`)));
  }
  return showMade(made, isJson, context);
}

async function profileNamesOf(keys: readonly KeyRecord[], { db }: CommandStore): Promise<ReadonlyMap<string, string>> {
  const accounts = new Set(keys.filter(({ profileId }) => profileId !== null).map(({ accountId }) => accountId));
  const profiles = await Promise.all([...accounts].map((accountId) => allProfiles(profilesOf(db), accountId)));
  return new Map(profiles.flat().map(({ id, name }) => [id, name]));
}

/** A profile by its id or its name. A word that is neither goes on as it is, for the service to reject. */
async function profileIdOf(named: string | null, accountId: string, { db }: CommandStore): Promise<string | null> {
  if (named === null) return null;
  return (await findProfile(profilesOf(db), accountId, named))?.id ?? named;
}

/** The change with ids for the names in it. A member is named by e-mail address. */
async function idsOf(change: KeyChange, accountId: string, store: CommandStore): Promise<KeyChange> {
  const { profileId = null, teamId = null, memberId = null } = change;
  const teams = teamId === null ? [] : await createTeamStore(store.db).all();
  const team = teams.find((each) => each.accountId === accountId && [each.id, each.name].includes(teamId ?? ""));
  const member = memberId === null ? null : await createUserStore(store.db).byEmail(memberId.toLowerCase());
  return {
    ...(profileId === null ? {} : { profileId: await profileIdOf(profileId, accountId, store) }),
    ...(team === undefined ? {} : { teamId: team.id }),
    ...(member === null ? {} : { memberId: member.id }),
  };
}

/** Prints a new key: the text alone on standard output, so that a shell can capture it. */
async function showMade({ key, text }: MadeKey, isJson: boolean, context: KeyContext): Promise<number> {
  const { terminal } = context;
  if (isJson) {
    printJson({ ...(await keyJson(key, context)), key: text }, terminal);
    return 0;
  }
  terminal.say(TEXT.keyCreated(describe(key)));
  terminal.out(`${text}\n`);
  return 0;
}

async function list({ accountId, isJson }: KeyOptionsOf<"list">, context: KeyContext): Promise<number> {
  const { store, terminal } = context;
  if (accountId !== null) await store.requireAccount(accountId, terminal.now());
  const found = (await store.allKeys()).filter((key) => accountId === null || key.accountId === accountId);
  if (isJson) {
    printJson({ data: await Promise.all(found.map((key) => keyJson(key, context))) }, terminal);
    return 0;
  }
  const [spents, profiles] = await Promise.all([store.spending.of(found), profileNamesOf(found, store)]);
  const rows = found.map((key) => rowOf(key, { spent: spents.get(key.id) ?? null, profiles }, terminal.now()));
  if (found.length > 0) terminal.out(formatTable([HEADINGS, ...rows]));
  else terminal.say(TEXT.noKeys(command("keys create --name NAME")));
  return 0;
}

/** A profile may be named by id or name; everything else goes to the service as it is. */
async function set(options: KeyOptionsOf<"set">, context: KeyContext): Promise<number> {
  const { id, change, isJson } = options;
  const { store, terminal } = context;
  const key = await findKey(options, store);
  if (key === null) return missingKey(options, terminal);
  const named = { ...change, ...(await idsOf(change, key.accountId, store)) };
  const changed = await store.keys.change(key.accountId, id, named);
  if (changed === null) return missingKey(options, terminal);
  terminal.say(TEXT.keyUpdated(describe(changed)));
  if (isJson) printJson(await keyJson(changed, context), terminal);
  return 0;
}

/** Only an active key: for one that was revoked or has expired there is nothing to reset. */
async function resetSpend(options: KeyOptionsOf<"reset-spend">, context: KeyContext): Promise<number> {
  const { store, terminal } = context;
  const found = await findKey(options, store);
  const key = found === null ? null : await store.keys.active(found.accountId, found.id);
  if (key === null) return missingKey(options, terminal);
  await store.spending.reset(key);
  const limit = key.spendLimitNano === null ? TEXT.noSpendLimit : TEXT.spendLimit(formatUsd(key.spendLimitNano));
  terminal.say(TEXT.spendReset(describe(key), limit));
  if (options.isJson) printJson(await keyJson(key, context), terminal);
  return 0;
}

/** The new key has the limits of the old one; both work until the grace period ends. */
async function rotate(options: KeyOptionsOf<"rotate">, context: KeyContext): Promise<number> {
  const { id, graceMs, isJson } = options;
  const { store, terminal } = context;
  const key = await findKey(options, store);
  const made = key === null ? null : await store.keys.rotate(key.accountId, id, graceMs);
  if (made === null) return missingKey(options, terminal);
  terminal.say(`The old key expires ${graceMs === 0 ? "now" : minuteOf(terminal.now() + graceMs)}. `);
  return showMade(made, isJson, context);
}

/** The record stays, so that its requests and charges keep their name. */
async function revoke(options: KeyOptionsOf<"revoke">, context: KeyContext): Promise<number> {
  const { store, terminal } = context;
  const key = await findKey(options, store);
  if (key === null) return missingKey(options, terminal);
  const isNew = key.revokedAtMs === null;
  const question = TEXT.revokeQuestion(describe(key));
  // Revoking twice changes nothing, so the second time needs no question.
  const isConfirmed = options.isConfirmed || !isNew;
  const exitCode = await exitUnlessConfirmed({ question, command: "keys revoke", isConfirmed }, terminal);
  if (exitCode !== null) return exitCode;
  await store.keys.revoke(key.accountId, [key.id]);
  terminal.say(`${isNew ? "Revoked" : "Already revoked:"} ${describe(key)}.\n`);
  const revoked = { ...key, revokedAtMs: key.revokedAtMs ?? terminal.now() };
  if (options.isJson) printJson(await keyJson(revoked, context), terminal);
  return 0;
}

type KeyReference = Pick<KeyOptionsOf<"set">, "id" | "accountId">;

/** With an account named, a key of another account is not found. */
async function findKey({ id, accountId }: KeyReference, store: CommandStore): Promise<KeyRecord | null> {
  const key = (await store.allKeys()).find((candidate) => candidate.id === id);
  return key === undefined || (accountId !== null && key.accountId !== accountId) ? null : key;
}

/** The exit code for an id that names no key. */
function missingKey({ id, accountId }: KeyReference, terminal: Terminal): number {
  const place = accountId === null ? "" : TEXT.inAccount(accountId);
  terminal.say(TEXT.noKey(id, place, command("keys list")));
  return FAILED;
}

function describe({ id, name, prefix }: KeyRecord): string {
  return `${id} (${JSON.stringify(name)}, ${prefix}…)`;
}

/** Writes a key like the dashboard API, with its account. */
async function keyJson(key: KeyRecord, { store, terminal }: KeyContext): Promise<object> {
  const spent = (await store.spending.of([key])).get(key.id) ?? null;
  return { ...writeKey(key, spent, terminal.now()), account: key.accountId };
}

const HEADINGS = [
  "ID",
  "NAME",
  "KEY",
  "STATUS",
  "ACCOUNT",
  "PROFILE",
  "RPM",
  "SPENT",
  "EXPIRES",
  "LAST USED",
  "CREATED",
];

interface KeyRow {
  readonly spent: Spent | null;
  /** Names by id. */
  readonly profiles: ReadonlyMap<string, string>;
}

/** One line of `keys list`. */
function rowOf(key: KeyRecord, { spent, profiles }: KeyRow, nowMs: number): readonly string[] {
  return [
    key.id,
    key.name,
    `${key.prefix}…`,
    keyStatus(key, nowMs),
    key.accountId,
    // A key whose profile was deleted is active, and refused all the same.
    profiles.get(key.profileId ?? "") ?? (key.profileId === null ? "-" : TEXT.profileDeleted(key.profileId)),
    String(key.requestsPerMinute ?? "-"),
    spentOf(key, spent),
    minuteOf(key.expiresAtMs),
    minuteOf(key.lastUsedAtMs),
    minuteOf(key.createdAtMs),
  ];
}

/** Spend, limit and reset; a dash without a limit. */
function spentOf({ spendLimitNano, spendReset }: KeyRecord, spent: Spent | null): string {
  if (spendLimitNano === null || spent === null) return "-";
  return `${formatUsd(spent.spent)} of ${formatUsd(spendLimitNano)}${spendReset === "never" ? "" : ` ${spendReset}`}`;
}

/** A time in UTC to the minute; a dash for none. */
function minuteOf(ms: number | null): string {
  return ms === null ? "-" : `${new Date(ms).toISOString().slice(0, 16).replace("T", " ")}Z`;
}

/** Most words after each subcommand. `create` takes one only to say what it may have meant. */
const SUBCOMMANDS = { create: 1, list: 0, set: 1, "reset-spend": 1, rotate: 1, revoke: 1 };

/** The flags that describe a key, for `create` and `set`. */
const KEY_FLAGS = ["name", "profile", "team", "member", "rpm", "spend-limit", "spend-reset", "expires"];

/** Flags beside --account and --json. */
const OWN_FLAGS: Readonly<Record<KeyOptions["kind"], readonly string[]>> = {
  create: KEY_FLAGS,
  list: [],
  set: KEY_FLAGS,
  "reset-spend": [],
  rotate: ["grace"],
  revoke: ["yes"],
};

/** Checks words and flags before anything is opened. Exported for its tests. */
export function parseKeys({ words, flags }: Arguments, nowMs: number): Parsed<KeyOptions> {
  const [kind, word] = parseSubcommand(words, "keys", SUBCOMMANDS);
  const { own, config } = splitFlags(flags, [...OWN_FLAGS[kind], "account", "json", "no-color"]);
  const common = { accountId: textOf(own, "account"), isJson: isOn(own, "json") };
  return { options: { ...common, ...parseKind(kind, { word, flags: own, nowMs }) }, config };
}

interface KeyWords {
  readonly word: string | undefined;
  readonly flags: Flags;
  readonly nowMs: number;
}

/** Every subcommand but `create` and `list` needs an id. */
function parseKind(kind: KeyOptions["kind"], given: KeyWords): KeySubcommand {
  const { word: id, flags } = given;
  if (kind === "create") return { kind, key: parseNewKey(given) };
  if (kind === "list") return { kind };
  if (id === undefined) throw new UsageError(TEXT.needsKeyId(kind, command("keys list")));
  if (kind === "set") return { kind, id, change: parseChange(given) };
  if (kind === "rotate") return { kind, id, graceMs: parseGrace(textOf(flags, "grace")) };
  return kind === "revoke" ? { kind, id, isConfirmed: isOn(flags, "yes") } : { kind, id };
}

/** Reads the flags of a new key. A limit that is left out means none. */
function parseNewKey({ word, flags, nowMs }: KeyWords): Required<KeyChange> {
  const { name, ...limits } = parseKeyFlags(flags, nowMs);
  if (word !== undefined && name === undefined) {
    throw new UsageError(TEXT.createTakesName(word));
  }
  if (word !== undefined) throw new UsageError(TEXT.unexpectedArgument(word));
  if (name === undefined) throw new UsageError(TEXT.createNeedsName);
  const unlimited = { requires: null, requestsPerMinute: null, spendLimitNano: null, expiresAtMs: null };
  return { name, profileId: null, teamId: null, memberId: null, ...unlimited, spendReset: "never", ...limits };
}

/** A change of nothing is a mistake. */
function parseChange({ flags, nowMs }: KeyWords): KeyChange {
  const change = parseKeyFlags(flags, nowMs);
  if (Object.keys(change).length > 0) return change;
  const listed = KEY_FLAGS.map((flag) => `--${flag}`).join(", ");
  throw new UsageError(TEXT.setNeedsChange(listed));
}

/** Only what was given. Where a key may do without something, `none` takes it away. */
function parseKeyFlags(flags: Flags, nowMs: number): KeyChange {
  const orNull = <T>(flag: string, parse: (text: string) => T): T | null | undefined => {
    const text = textOf(flags, flag);
    if (text === null) return undefined;
    return text === "none" ? null : parse(text);
  };
  const name = textOf(flags, "name")?.trim();
  if ((name?.length ?? 0) > 200) throw new UsageError(TEXT.nameTooLong);
  const profileId = orNull("profile", (text) => text);
  const teamId = orNull("team", (text) => text);
  const memberId = orNull("member", (text) => text);
  const requestsPerMinute = orNull("rpm", parseRate);
  const spendLimitNano = orNull("spend-limit", parseAmount);
  const spendReset = orNull("spend-reset", parseReset);
  const expiresAtMs = orNull("expires", (text) => parseExpires(text, nowMs));
  return {
    ...(name === undefined ? {} : { name }),
    ...(profileId === undefined ? {} : { profileId }),
    ...(teamId === undefined ? {} : { teamId }),
    ...(memberId === undefined ? {} : { memberId }),
    ...(requestsPerMinute === undefined ? {} : { requestsPerMinute }),
    ...(spendLimitNano === undefined ? {} : { spendLimitNano }),
    ...(spendReset === undefined ? {} : { spendReset: spendReset ?? "never" }),
    ...(expiresAtMs === undefined ? {} : { expiresAtMs }),
  };
}

function parseRate(text: string): number {
  const rate = Number(text);
  if (/^\d+$/.test(text) && rate >= 1 && rate <= 1_000_000) return rate;
  throw new UsageError(TEXT.wrongRpm(text));
}

function parseAmount(text: string): NanoUsd {
  const amount = parseUsd(text);
  if (amount !== null) return amount;
  throw new UsageError(TEXT.wrongSpendLimit(text));
}

function parseReset(text: string): SpendReset {
  const found = SPEND_RESETS.find((known) => known === text);
  if (found !== undefined) return found;
  throw new UsageError(TEXT.wrongSpendReset(SPEND_RESETS.join(", "), text));
}

function parseExpires(text: string, nowMs: number): number {
  const atMs = parseExpiry(text, nowMs);
  if (atMs !== null) return atMs;
  throw new UsageError(TEXT.wrongExpiry(text));
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** A day to exchange the key everywhere, and a month at most. */
const GRACE_DEFAULT_MS = DAY_MS;
const GRACE_MAX_MS = 30 * DAY_MS;

function parseGrace(text: string | null): number {
  const graceMs = text === null ? GRACE_DEFAULT_MS : text === "0" ? 0 : parseExpiry(text, 0);
  if (graceMs !== null && graceMs <= GRACE_MAX_MS) return graceMs;
  throw new UsageError(TEXT.wrongGrace(text));
}
