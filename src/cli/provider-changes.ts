// `switchyard providers add`, `set`, `remove`, `test` and those about keys: providers of the run-time configuration,
// directly on the store.

import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { command } from "../config/package.ts";
import type { Settings } from "../config/settings.ts";
import { GatewayError } from "../core/errors.ts";
import type { JsonMap, Overlay } from "../core/overlay.ts";
import { draftCatalog, type Probed, probe } from "../gateway/operate/probe.ts";
import { createRegistry } from "../providers/registry.ts";
import { entryAt, patched, withEntry } from "../versions/document.ts";
import { storedKeys, withKey, withoutKey } from "../versions/provider-keys.ts";
import type { Versions } from "../versions/versions.ts";
import type { Flags } from "./command/arguments.ts";
import { COMMAND_LINE, printJson } from "./command/command.ts";
import { isOn, parseNumber, textOf } from "./command/flags.ts";
import { formatTable } from "./command/table.ts";
import type { Terminal } from "./command/terminal.ts";
import * as TEXT from "./command/text.ts";
import { FAILED, reasonOf, UsageError } from "./command/usage.ts";
import { printPublished, withVersions } from "./command/versions.ts";

export interface ProviderChange {
  readonly kind: "add" | "set" | "remove" | "test" | "keys" | "add-key" | "remove-key";
  readonly id: string;
  readonly fields: JsonMap;
  /** The id of the key to remove. */
  readonly keyId: string;
  /** Weight of an added key. */
  readonly weight: number;
  /** A file with the key, or - for standard input: arguments are visible to everybody on a machine. */
  readonly keyFrom: string | null;
  readonly note: string | null;
  readonly isJson: boolean;
}

export const CHANGE_FLAGS = ["kind", "base-url", "key-from", "weight", "note", "json"];

/** A flag that does nothing is refused: somebody expects something of it. */
const FLAGS_OF: Readonly<Record<ProviderChange["kind"], readonly string[]>> = {
  add: ["kind", "base-url", "key-from", "note"],
  set: ["kind", "base-url", "key-from", "note"],
  remove: ["note"],
  test: ["kind", "base-url", "key-from"],
  keys: [],
  "add-key": ["key-from", "weight", "note"],
  "remove-key": ["note"],
};

const WEIGHT_MAX = 1_000;

export function parseChange(kind: ProviderChange["kind"], [id, keyId]: readonly string[], own: Flags): ProviderChange {
  if (id === undefined) throw new UsageError(TEXT.needsProvider(kind));
  if (kind === "remove-key" && keyId === undefined)
    throw new UsageError(TEXT.needsProviderKey(command(`providers keys ${id}`)));
  const weight = textOf(own, "weight");
  const keyFrom = textOf(own, "key-from");
  if (kind === "add-key" && keyFrom === null) throw new UsageError(TEXT.needsKeyFrom);
  for (const flag of Object.keys(own)) {
    if (!["json", ...FLAGS_OF[kind]].includes(flag)) throw new UsageError(TEXT.takesNoFlag(kind, flag));
  }
  const [providerKind, baseUrl] = [textOf(own, "kind"), textOf(own, "base-url")];
  const fields = {
    ...(providerKind === null ? {} : { kind: providerKind }),
    ...(baseUrl === null ? {} : { baseUrl }),
  };
  return {
    ...{ kind, id, fields, keyFrom, keyId: keyId ?? "", note: textOf(own, "note"), isJson: isOn(own, "json") },
    weight: weight === null ? 1 : parseNumber(weight, "weight", WEIGHT_MAX),
  };
}

export async function changeProvider(wanted: ProviderChange, settings: Settings, terminal: Terminal): Promise<number> {
  const fields = { ...wanted.fields, ...(await keyOf(wanted, terminal)) };
  return withVersions(settings, async (versions) => {
    if (wanted.kind === "test") return test(wanted, fields, { versions, terminal });
    if (wanted.kind === "keys") return listKeys(wanted, versions, terminal);
    const by = { author: COMMAND_LINE, ...(wanted.note === null ? {} : { note: wanted.note }) };
    const change = (document: Overlay): Overlay => changed(document, wanted, fields);
    printPublished(await versions.publish({ ...by, change }), wanted.isJson, terminal);
    return 0;
  });
}

async function keyOf({ keyFrom }: ProviderChange, terminal: Terminal): Promise<JsonMap> {
  if (keyFrom === null) return {};
  const text = keyFrom === "-" ? await terminal.readInput() : readKeyFile(resolve(terminal.cwd, keyFrom));
  if (text.trim() === "") throw new UsageError(TEXT.keyEmpty);
  return { apiKey: text.trim() };
}

function readKeyFile(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new UsageError(TEXT.keyUnreadable(reasonOf(error)));
  }
}

function listKeys({ id, isJson }: ProviderChange, versions: Versions, terminal: Terminal): number {
  const keys = storedKeys(versions.newest().document, id);
  if (isJson) printJson({ data: keys }, terminal);
  else {
    const rows = keys.map((key) => [key.id, `…${key.lastFour}`, String(key.weight), key.setBy, key.setAt]);
    terminal.out(formatTable([["KEY", "ENDS IN", "WEIGHT", "SET BY", "SET AT"], ...rows]));
  }
  return 0;
}

function changed(document: Overlay, wanted: ProviderChange, fields: JsonMap): Overlay {
  const { kind, id, keyId, weight } = wanted;
  if (kind === "add-key") return withKey(document, id, { key: String(fields.apiKey), weight });
  if (kind === "remove-key") return withoutKey(document, id, keyId);
  const known = entryAt(document, "providers", id);
  if (kind === "add" && known !== undefined) throw new GatewayError("conflict", TEXT.providerExists(id));
  if (kind === "remove" && known === undefined) throw new GatewayError("notFound", TEXT.noProviderAdded(id));
  return withEntry(document, "providers", id, kind === "remove" ? null : patched(known, fields));
}

interface TestContext {
  readonly versions: Versions;
  readonly terminal: Terminal;
}

/** With what is published and the fields given here, so that a key can be tried before it is stored. */
async function test(wanted: ProviderChange, fields: JsonMap, { versions, terminal }: TestContext): Promise<number> {
  const { provider, catalog: own } = await versions.draftProvider(wanted.id, fields, COMMAND_LINE);
  const catalog = draftCatalog(provider, own);
  const registry = createRegistry(new Map([[wanted.id, provider]]));
  const outcome = await probe({ provider, model: null }, { catalog, registry, now: Date.now }).finally(registry.close);
  if (wanted.isJson) printJson({ provider: wanted.id, ...outcome }, terminal);
  else if (outcome.ok)
    terminal.say(`${wanted.id} answers (${outcome.model ?? "its list of models"}, ${said(outcome)}).\n`);
  else terminal.say(`${outcome.problem} ${outcome.fix}\n`);
  return outcome.ok ? 0 : FAILED;
}

function said({ durationMs, costUsd }: Probed): string {
  return costUsd === null ? `${durationMs} ms` : `${durationMs} ms, $${costUsd}`;
}
