// `switchyard providers`: changes at run time, and model servers on this machine with what each of their models can do.

import type { Catalog } from "../catalog/catalog.ts";
import { command } from "../config/package.ts";
import type { Settings } from "../config/settings.ts";
import type { Overlay } from "../core/overlay.ts";
import {
  adoptable,
  compareFound,
  type KnownModel,
  type KnownServer,
  nameFound,
} from "../gateway/operate/local-servers.ts";
import { discover, WrongAddress } from "../providers/local/discover.ts";
import { withLocal } from "../versions/adoption.ts";
import type { Published, Versions } from "../versions/versions.ts";
import type { Arguments } from "./command/arguments.ts";
import { COMMAND_LINE, type Parsed, parseSubcommand, printJson, runCommand } from "./command/command.ts";
import { isOn, splitFlags } from "./command/flags.ts";
import { formatTable } from "./command/table.ts";
import { type Terminal, thisTerminal } from "./command/terminal.ts";
import * as TEXT from "./command/text.ts";
import { UsageError } from "./command/usage.ts";
import { withVersions } from "./command/versions.ts";
import { CHANGE_FLAGS, changeProvider, type ProviderChange, parseChange } from "./provider-changes.ts";

interface DiscoverOptions {
  readonly kind: "discover";
  readonly address: string | null;
  readonly isJson: boolean;
  /** True if found servers become providers, with models at price zero. */
  readonly adds: boolean;
}

type ProviderOptions = DiscoverOptions | ProviderChange;

/** Long enough for a server that describes many models, short enough for somebody who waits. */
const DISCOVERY_MS = 5_000;

export function providers(args: Arguments, terminal: Terminal = thisTerminal()): Promise<number> {
  return runCommand({
    ...{ name: "providers", terminal, parse: () => parseProviders(args) },
    run: (options, settings) =>
      options.kind === "discover"
        ? findServers(options, settings, terminal)
        : changeProvider(options, settings, terminal),
  });
}

function parseProviders({ words, flags }: Arguments): Parsed<ProviderOptions> {
  const changes = { add: 1, set: 1, remove: 1, test: 1, keys: 1, "add-key": 1, "remove-key": 2 };
  const [kind, ...named] = parseSubcommand(words, "providers", { discover: 1, ...changes });
  const { own, config } = splitFlags(flags, kind === "discover" ? ["json", "add"] : CHANGE_FLAGS);
  if (kind !== "discover") return { options: parseChange(kind, named, own), config };
  return { options: { kind, address: named[0] ?? null, isJson: isOn(own, "json"), adds: isOn(own, "add") }, config };
}

async function findServers(options: DiscoverOptions, settings: Settings, terminal: Terminal): Promise<number> {
  const { address, isJson, adds } = options;
  const found = await search(address, settings.server.port);
  return withVersions(settings, async (versions, catalog) => {
    const servers = compareFound(found, catalog());
    const added = adds && servers.length > 0 ? await add(servers, versions, catalog()) : null;
    if (isJson) printJson({ data: servers, version: added?.version.number ?? null }, terminal);
    else terminal.out(servers.length === 0 ? nothingFound(address) : servers.map(describe).join("\n"));
    if (!isJson) terminal.say(added === null ? adviceOn(servers, address) : describeAdded(added));
    return 0;
  });
}

/** A server that needs a key is left to somebody who has it. */
async function add(servers: readonly KnownServer[], versions: Versions, catalog: Catalog): Promise<Published> {
  const open = servers.filter(({ needsKey }) => !needsKey).map((server) => adoptable(server, catalog));
  const change = (document: Overlay): Overlay => open.reduce(withLocal, document);
  return versions.publish({ author: COMMAND_LINE, note: "Models on this machine", change });
}

function describeAdded({ version, changes }: Published): string {
  if (changes.length === 0) return TEXT.nothingToAdd;
  return TEXT.addedFree(version.number);
}

function adviceOn(servers: readonly KnownServer[], address: string | null): string {
  const isNew = servers.some(({ models }) => models.some(({ model }) => model === null));
  const again = ["providers discover", ...(address === null ? [] : [address]), "--add"].join(" ");
  return isNew ? TEXT.useFree(command(again)) : "";
}

async function search(address: string | null, ownPort: number) {
  try {
    return await discover({ address, withinMs: DISCOVERY_MS, hasDetails: true, ownPort });
  } catch (error) {
    if (error instanceof WrongAddress) throw new UsageError(error.message);
    throw error;
  }
}

function nothingFound(address: string | null): string {
  const kinds = TEXT.noServer;
  if (address === null) return TEXT.noServerHere(kinds, command("providers discover HOST:PORT"));
  return TEXT.noServerAt(kinds, address, command("help providers"));
}

const HEADINGS = ["MODEL", "CONTEXT", "CAN", "IN THE CATALOGUE AS"];

function describe(server: KnownServer): string {
  const use = server.provider === null ? TEXT.notConfigured : TEXT.configuredAs(server.provider);
  const notes = [...new Set(server.models.flatMap(({ note }) => note ?? []))].map((note) => `  ${note}\n`).join("");
  const table = server.models.length === 0 ? "" : formatTable([HEADINGS, ...server.models.map(rowOf)]);
  return `${nameFound(server)} (${use})\n${table}${notes}`;
}

function rowOf({ upstream, context, capabilities, model }: KnownModel): readonly string[] {
  return [upstream, String(context ?? "-"), capabilities.join(" ") || "-", model ?? "-"];
}
