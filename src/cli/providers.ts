// `switchyard providers`: changes at run time, and model servers on this machine with what each of their models can do.

import { command } from "../config/package.ts";
import type { Settings } from "../config/settings.ts";
import { compareFound, type KnownModel, type KnownServer, nameFound } from "../gateway/operate/local-servers.ts";
import { discover, WrongAddress } from "../providers/local/discover.ts";
import type { Arguments } from "./command/arguments.ts";
import { type Parsed, parseSubcommand, printJson, runCommand } from "./command/command.ts";
import { isOn, splitFlags } from "./command/flags.ts";
import { formatTable } from "./command/table.ts";
import { type Terminal, thisTerminal } from "./command/terminal.ts";
import { UsageError } from "./command/usage.ts";
import { CHANGE_FLAGS, changeProvider, type ProviderChange, parseChange } from "./provider-changes.ts";

interface DiscoverOptions {
  readonly kind: "discover";
  readonly address: string | null;
  readonly isJson: boolean;
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
  const known = { discover: 1, add: 1, set: 1, remove: 1, test: 1 };
  const [kind, word] = parseSubcommand(words, "providers", known);
  const { own, config } = splitFlags(flags, kind === "discover" ? ["json"] : CHANGE_FLAGS);
  if (kind !== "discover") return { options: parseChange(kind, word, own), config };
  return { options: { kind, address: word ?? null, isJson: isOn(own, "json") }, config };
}

async function findServers(
  { address, isJson }: DiscoverOptions,
  { catalog, server }: Settings,
  terminal: Terminal,
): Promise<number> {
  const servers = compareFound(await search(address, server.port), catalog);
  if (isJson) printJson({ data: servers }, terminal);
  else terminal.out(servers.length === 0 ? nothingFound(address) : servers.map(describe).join("\n"));
  return 0;
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
  const where = address === null ? "on this machine at the usual ports" : `at ${address}`;
  return `No model server answers ${where}. Name an address: ${command("providers discover HOST:PORT")}\n`;
}

const HEADINGS = ["MODEL", "CONTEXT", "CAN", "IN THE CATALOGUE AS"];

function describe(server: KnownServer): string {
  const use = server.provider === null ? "not configured" : `configured as '${server.provider}'`;
  const notes = [...new Set(server.models.flatMap(({ note }) => note ?? []))].map((note) => `  ${note}\n`).join("");
  const table = server.models.length === 0 ? "" : formatTable([HEADINGS, ...server.models.map(rowOf)]);
  return `${nameFound(server)} (${use})\n${table}${notes}`;
}

function rowOf({ upstream, context, capabilities, model }: KnownModel): readonly string[] {
  return [upstream, String(context ?? "-"), capabilities.join(" ") || "-", model ?? "-"];
}
