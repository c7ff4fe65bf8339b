// Routing profiles as a command, directly on the store; a server on the same database notices within seconds.

import { createDirectory } from "../../accounts/directory.ts";
import { createProfiles, type Profiles } from "../../accounts/profiles.ts";
import type { Catalog } from "../../catalog/catalog.ts";
import type { Db } from "../../core/db.ts";
import { type Constraints, NO_CONSTRAINTS } from "../../core/decision.ts";
import type { KeyRecord } from "../../core/keys.ts";
import type { Profile } from "../../core/profiles.ts";
import { TIERS } from "../../core/tiers.ts";
import { writeProfile } from "../../http/api/profiles.ts";
import { createKeyStore } from "../../store/accounts/keys.ts";
import { createProfileStore } from "../../store/accounts/profiles.ts";
import { SILENT_LOG } from "../../telemetry/log.ts";
import type { Arguments } from "../command/arguments.ts";
import { perform, printJson, refusal } from "../command/command.ts";
import { formatTable } from "../command/table.ts";
import { type Terminal, thisTerminal } from "../command/terminal.ts";
import { FAILED, UsageError } from "../command/usage.ts";
import { type KeyRing, withKeyRing } from "../keys/key-store.ts";
import { type ProfileOrder, readProfileOrder } from "./arguments.ts";

export function profiles(args: Arguments, terminal: Terminal = thisTerminal()): Promise<number> {
  return perform({
    ...{ name: "profiles", terminal, read: () => readProfileOrder(args) },
    carryOut: (order, { database, catalog }) =>
      withKeyRing(database, async (ring) => {
        await ring.requireAccount(order.accountId, terminal.now());
        return carryOut(order, { ring, service: profilesOf(ring.db), catalog, terminal });
      }),
  });
}

/** Nothing is started: a command asks the database itself. */
export function profilesOf(db: Db): Profiles {
  const store = createProfileStore(db);
  const directory = createDirectory({ keys: createKeyStore(db), profiles: store, log: SILENT_LOG });
  return createProfiles({ store, directory });
}

/** By its id, or by its name where only one has it. */
export async function findProfile(service: Profiles, accountId: string, named: string): Promise<Profile | null> {
  const all = await allOf(service, accountId);
  const found = all.filter(({ id, name }) => id === named || name === named);
  if (found.length > 1) throw new UsageError(`${found.length} profiles are called '${named}'; say which by its id.`);
  return found[0] ?? null;
}

const PAGE = 500;

async function allOf(service: Profiles, accountId: string): Promise<readonly Profile[]> {
  const all: Profile[] = [];
  for (;;) {
    const page = await service.list(accountId, { limit: PAGE, after: all.at(-1)?.id ?? null });
    all.push(...page);
    if (page.length < PAGE) return all;
  }
}

interface Surroundings {
  readonly ring: KeyRing;
  readonly service: Profiles;
  readonly catalog: Catalog;
  readonly terminal: Terminal;
}

async function carryOut(order: ProfileOrder, surroundings: Surroundings): Promise<number> {
  if (order.kind === "list") return list(order, surroundings);
  const profile = await findProfile(surroundings.service, order.accountId, order.named);
  if (order.kind === "set") return set(order, profile, surroundings);
  if (profile === null) {
    surroundings.terminal.say(`There is no profile '${order.named}'. See: switchyard profiles list\n`);
    return FAILED;
  }
  return order.kind === "show" ? show(order, profile, surroundings) : remove(order, profile, surroundings);
}

async function list({ accountId, isJson }: ProfileOrder, { service, terminal }: Surroundings): Promise<number> {
  const all = await allOf(service, accountId);
  if (isJson) printJson({ data: all.map(writeProfile) }, terminal);
  else if (all.length === 0) terminal.say("There are no profiles yet. Make one: switchyard profiles set NAME\n");
  else terminal.out(formatTable([["ID", "NAME", "RULES"], ...all.map((each) => [each.id, each.name, rulesOf(each)])]));
  return 0;
}

async function show(order: ProfileOrder, profile: Profile, { ring, terminal }: Surroundings): Promise<number> {
  if (order.isJson) {
    printJson(writeProfile(profile), terminal);
    return 0;
  }
  const keys = await keysOf(ring, profile);
  const { id, name, description } = profile;
  const about = description === null ? [] : [["description", description]];
  const rows = [["id", id], ["name", name], ...about, ...describe(profile.constraints)];
  terminal.out(formatTable([...rows, ["keys", keys.map(({ name }) => name).join(", ") || "none"]]));
  return 0;
}

async function set(
  order: Extract<ProfileOrder, { kind: "set" }>,
  known: Profile | null,
  { service, catalog, terminal }: Surroundings,
): Promise<number> {
  const { named, accountId, changes, isJson } = order;
  const stranger = [...(changes.allowedModels ?? []), ...(changes.blockedModels ?? [])].find(
    (id) => !catalog.models.has(id),
  );
  if (stranger !== undefined) throw new UsageError(`There is no model '${stranger}'. See: switchyard models list`);
  const constraints = { ...(known?.constraints ?? NO_CONSTRAINTS), ...changes };
  const { description = known?.description ?? null } = order;
  const saved =
    known === null
      ? await service.create(accountId, { name: named, description, constraints })
      : await service.update(accountId, known.id, { name: known.name, description, constraints });
  if (saved === null) throw new Error("The profile was deleted meanwhile.");
  if (isJson) printJson(writeProfile(saved), terminal);
  else terminal.say(`${known === null ? "Made" : "Changed"} ${nameOf(saved)}: ${rulesOf(saved)}.\n`);
  const { tierFloor, tierCeiling } = constraints;
  if (tierFloor !== null && tierCeiling !== null && TIERS.indexOf(tierFloor) > TIERS.indexOf(tierCeiling)) {
    terminal.say(`The floor ${tierFloor} is above the ceiling ${tierCeiling}: the ceiling wins.\n`);
  }
  if (known === null && !isJson)
    terminal.say(`Give it to a key: switchyard keys create --name NAME --profile ${named}\n`);
  return 0;
}

async function remove(
  { accountId, isConfirmed, isJson }: Extract<ProfileOrder, { kind: "delete" }>,
  profile: Profile,
  { ring, service, terminal }: Surroundings,
): Promise<number> {
  const keys = (await keysOf(ring, profile)).map(({ name }) => name).join(", ");
  const question = `Delete ${nameOf(profile)}?${keys === "" ? "" : ` Keys that will be refused: ${keys}.`}`;
  const refused = await refusal({ question, what: "profiles delete", isConfirmed }, terminal);
  if (refused !== null) return refused;
  await service.delete(accountId, profile.id);
  terminal.say(`Deleted ${nameOf(profile)}.${keys === "" ? "" : ` Refused from now on: ${keys}.`}\n`);
  if (isJson) printJson(writeProfile(profile), terminal);
  return 0;
}

async function keysOf(ring: KeyRing, { id }: Profile): Promise<readonly KeyRecord[]> {
  return (await ring.all()).filter(({ profileId, revokedAtMs }) => profileId === id && revokedAtMs === null);
}

function nameOf({ id, name }: Profile): string {
  return `${id} (${JSON.stringify(name)})`;
}

function rulesOf({ constraints }: Profile): string {
  return (
    describe(constraints)
      .map(([name, value]) => `${name} ${value}`)
      .join(", ") || "no rules"
  );
}

/** The rules that say something. */
function describe(constraints: Constraints): readonly [string, string][] {
  const rows: readonly (readonly [string, unknown])[] = [
    ["floor", constraints.tierFloor],
    ["ceiling", constraints.tierCeiling],
    ["needs", constraints.capabilities.join(" ")],
    ["max-cost", constraints.maxCostUsd],
    ["bfcl-min", constraints.toolScoreMin],
    ["code-quality", constraints.codeQuality],
    ["chat-quality", constraints.chatQuality],
    ["allow", constraints.allowedModels?.join(" ") ?? null],
    ["block", constraints.blockedModels.join(" ")],
  ];
  return rows.flatMap(([name, value]) => (value === null || value === "" ? [] : [[name, String(value)]]));
}
