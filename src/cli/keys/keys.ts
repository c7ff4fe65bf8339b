// API keys as a command, directly on the store; a server on the same database notices within seconds.

import { DEFAULT_ACCOUNT } from "../../accounts/accounts.ts";
import { keyStatus, type MadeKey } from "../../accounts/keys.ts";
import type { Spent } from "../../accounts/spending.ts";
import type { KeyRecord } from "../../core/keys.ts";
import { formatUsd } from "../../core/money.ts";
import { writeKey } from "../../http/api/keys.ts";
import type { Arguments } from "../command/arguments.ts";
import { perform, printJson, refusal } from "../command/command.ts";
import { formatTable } from "../command/table.ts";
import { type Terminal, thisTerminal } from "../command/terminal.ts";
import { FAILED } from "../command/usage.ts";
import { findProfile, profilesOf } from "../profiles/profiles.ts";
import {
  type CreateOrder,
  type KeyOrder,
  type ListOrder,
  type ResetOrder,
  type RevokeOrder,
  type RotateOrder,
  readKeyOrder,
  type SetOrder,
} from "./arguments.ts";
import { type KeyRing, withKeyRing } from "./key-store.ts";

export function keys(args: Arguments, terminal: Terminal = thisTerminal()): Promise<number> {
  return perform({
    ...{ name: "keys", terminal, read: () => readKeyOrder(args, terminal.now()) },
    carryOut: (order, { database }) => withKeyRing(database, (ring) => carryOut(order, ring, terminal)),
  });
}

function carryOut(order: KeyOrder, ring: KeyRing, terminal: Terminal): Promise<number> {
  if (order.kind === "create") return create(order, ring, terminal);
  if (order.kind === "list") return list(order, ring, terminal);
  if (order.kind === "set") return set(order, ring, terminal);
  if (order.kind === "reset-spend") return resetSpend(order, ring, terminal);
  return order.kind === "rotate" ? rotate(order, ring, terminal) : revoke(order, ring, terminal);
}

async function create(order: CreateOrder, ring: KeyRing, terminal: Terminal): Promise<number> {
  const { kind: _, isJson, accountId, ...wanted } = order;
  const account = accountId ?? DEFAULT_ACCOUNT;
  await ring.requireAccount(account, terminal.now());
  const profileId = await profileIdOf(wanted.profileId, account, ring);
  const made = await ring.keys.create({ ...wanted, profileId, accountId: account });
  if (!isJson && profileId === null) terminal.say(NEXT_RULES.replace("ID", made.key.id));
  return showMade(made, { isJson, ring, terminal });
}

const NEXT_RULES = "It may use every model; rules for it: switchyard keys set ID --profile NAME\n";

/** By its id or its name; what is neither is left to be refused. */
async function profileIdOf(named: string | null, accountId: string, { db }: KeyRing): Promise<string | null> {
  if (named === null) return null;
  return (await findProfile(profilesOf(db), accountId, named))?.id ?? named;
}

interface Showing {
  readonly isJson: boolean;
  readonly ring: KeyRing;
  readonly terminal: Terminal;
}

async function showMade({ key, text }: MadeKey, { isJson, ring, terminal }: Showing): Promise<number> {
  if (isJson) {
    printJson({ ...(await written(key, ring, terminal)), key: text }, terminal);
    return 0;
  }
  terminal.say(`Made ${describe(key)}. The key is shown this once; keep it safe.\n`);
  terminal.out(`${text}\n`);
  return 0;
}

async function set({ id, accountId, change, isJson }: SetOrder, ring: KeyRing, terminal: Terminal): Promise<number> {
  const key = await find(ring, id, accountId);
  if (key === null) return missingKey(id, accountId, terminal);
  const { profileId = null } = change;
  const profile = profileId === null ? {} : { profileId: await profileIdOf(profileId, key.accountId, ring) };
  const changed = await ring.keys.change(key.accountId, id, { ...change, ...profile });
  if (changed === null) return missingKey(id, accountId, terminal);
  terminal.say(`Changed ${describe(changed)}.\n`);
  if (isJson) printJson(await written(changed, ring, terminal), terminal);
  return 0;
}

async function resetSpend({ id, accountId, isJson }: ResetOrder, ring: KeyRing, terminal: Terminal): Promise<number> {
  const found = await find(ring, id, accountId);
  const key = found === null ? null : await ring.keys.active(found.accountId, id);
  if (key === null) return missingKey(id, accountId, terminal);
  await ring.spending.reset(key);
  const limit =
    key.spendLimitNano === null ? "It has no spend limit" : `Its limit is ${formatUsd(key.spendLimitNano)} USD`;
  terminal.say(`What ${describe(key)} has spent counts from nothing again. ${limit}.\n`);
  if (isJson) printJson(await written(key, ring, terminal), terminal);
  return 0;
}

async function rotate(order: RotateOrder, ring: KeyRing, terminal: Terminal): Promise<number> {
  const { id, accountId, graceMs, isJson } = order;
  const key = await find(ring, id, accountId);
  const made = key === null ? null : await ring.keys.rotate(key.accountId, id, graceMs);
  if (made === null) return missingKey(id, accountId, terminal);
  terminal.say(`The old key ends ${graceMs === 0 ? "now" : minuteOf(terminal.now() + graceMs)}. `);
  return showMade(made, { isJson, ring, terminal });
}

async function find(ring: KeyRing, id: string, accountId: string | null): Promise<KeyRecord | null> {
  const key = (await ring.all()).find((candidate) => candidate.id === id);
  return key === undefined || (accountId !== null && key.accountId !== accountId) ? null : key;
}

function missingKey(id: string, accountId: string | null, terminal: Terminal): number {
  const place = accountId === null ? "" : ` in account '${accountId}'`;
  terminal.say(`There is no key '${id}'${place}. See: switchyard keys list\n`);
  return FAILED;
}

async function list({ accountId, isJson }: ListOrder, ring: KeyRing, terminal: Terminal): Promise<number> {
  if (accountId !== null) await ring.requireAccount(accountId, terminal.now());
  const found = (await ring.all()).filter((key) => accountId === null || key.accountId === accountId);
  if (isJson) {
    printJson({ data: await Promise.all(found.map((key) => written(key, ring, terminal))) }, terminal);
    return 0;
  }
  const spents = await ring.spending.of(found);
  const rows = found.map((key) => rowOf(key, spents.get(key.id) ?? null, terminal.now()));
  if (found.length > 0) terminal.out(formatTable([HEADINGS, ...rows]));
  else terminal.say("There are no keys yet. Make one: switchyard keys create --name NAME\n");
  return 0;
}

async function revoke(order: RevokeOrder, ring: KeyRing, terminal: Terminal): Promise<number> {
  const { id, accountId, isJson } = order;
  const key = await find(ring, id, accountId);
  if (key === null) return missingKey(id, accountId, terminal);
  const isNew = key.revokedAtMs === null;
  const question = `Revoke ${describe(key)}? Requests with it will be refused, for good.`;
  const isConfirmed = order.isConfirmed || !isNew;
  const refused = await refusal({ question, what: "keys revoke", isConfirmed }, terminal);
  if (refused !== null) return refused;
  await ring.keys.revoke(key.accountId, id);
  terminal.say(`${isNew ? "Revoked" : "Revoked already:"} ${describe(key)}.\n`);
  const revoked = { ...key, revokedAtMs: key.revokedAtMs ?? terminal.now() };
  if (isJson) printJson(await written(revoked, ring, terminal), terminal);
  return 0;
}

function describe({ id, name, prefix }: KeyRecord): string {
  return `${id} (${JSON.stringify(name)}, ${prefix}…)`;
}

/** As the admin API writes it, and whose it is. */
async function written(key: KeyRecord, { spending }: KeyRing, terminal: Terminal): Promise<object> {
  const spent = (await spending.of([key])).get(key.id) ?? null;
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

function rowOf(key: KeyRecord, spent: Spent | null, nowMs: number): readonly string[] {
  return [
    key.id,
    key.name,
    `${key.prefix}…`,
    keyStatus(key, nowMs),
    key.accountId,
    key.profileId ?? "-",
    String(key.requestsPerMinute ?? "-"),
    spentOf(key, spent),
    minuteOf(key.expiresAtMs),
    minuteOf(key.lastUsedAtMs),
    minuteOf(key.createdAtMs),
  ];
}

function spentOf({ spendLimitNano, spendReset }: KeyRecord, spent: Spent | null): string {
  if (spendLimitNano === null || spent === null) return "-";
  return `${formatUsd(spent.spent)} of ${formatUsd(spendLimitNano)}${spendReset === "never" ? "" : ` ${spendReset}`}`;
}

function minuteOf(ms: number | null): string {
  return ms === null ? "-" : `${new Date(ms).toISOString().slice(0, 16).replace("T", " ")}Z`;
}
