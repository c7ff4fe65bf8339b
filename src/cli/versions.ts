// `switchyard versions` and `switchyard chains`: the history of the run-time configuration, the way back, and the chains.

import { stringify } from "yaml";
import { command } from "../config/package.ts";
import { TIERS } from "../core/tiers.ts";
import { changesBetween } from "../versions/changes.ts";
import { drafted } from "../versions/document.ts";
import { shownDocument } from "../versions/secrets.ts";
import type { Versions } from "../versions/versions.ts";
import type { Arguments } from "./command/arguments.ts";
import { COMMAND_LINE, type Parsed, parseSubcommand, printJson, runCommand } from "./command/command.ts";
import { isOn, parseWord, splitFlags, textOf } from "./command/flags.ts";
import { formatTable } from "./command/table.ts";
import { type Terminal, thisTerminal } from "./command/terminal.ts";
import { FAILED, UsageError } from "./command/usage.ts";
import { printPublished, withVersions } from "./command/versions.ts";

interface VersionOptions {
  readonly kind: "list" | "show" | "rollback";
  readonly number: number;
  readonly note: string | null;
  readonly isJson: boolean;
}

const LISTED = 50;

export function versions(args: Arguments, terminal: Terminal = thisTerminal()): Promise<number> {
  return runCommand({
    ...{ name: "versions", terminal, parse: () => parseVersions(args) },
    run: (options, settings) => withVersions(settings, (service) => runVersions(options, service, terminal)),
  });
}

function parseVersions({ words, flags }: Arguments): Parsed<VersionOptions> {
  const [kind, word] = parseSubcommand(words, "versions", { list: 0, show: 1, rollback: 1 });
  const { own, config } = splitFlags(flags, kind === "rollback" ? ["note", "json"] : ["json"]);
  if (kind !== "list" && !/^\d{1,15}$/.test(word ?? "")) throw new UsageError(`versions ${kind} needs a number.`);
  return { options: { kind, number: Number(word ?? 0), note: textOf(own, "note"), isJson: isOn(own, "json") }, config };
}

async function runVersions(options: VersionOptions, service: Versions, terminal: Terminal): Promise<number> {
  const { kind, number, note, isJson } = options;
  if (kind === "list") return list(isJson, service, terminal);
  if (kind === "show") return show(options, service, terminal);
  const by = { author: COMMAND_LINE, ...(note === null ? {} : { note }) };
  printPublished(await service.rollBack(number, by), isJson, terminal);
  return 0;
}

async function list(isJson: boolean, service: Versions, terminal: Terminal): Promise<number> {
  const rows = await service.list({ limit: LISTED + 1, before: Number.MAX_SAFE_INTEGER });
  const described = rows.slice(0, LISTED).map(({ number, author, atMs, note, document }, index) => ({
    ...{ number, author, at: new Date(atMs).toISOString(), note },
    changes: changesBetween(rows[index + 1]?.document ?? {}, document).map(({ words }) => words),
  }));
  const cells = described.map(({ number, author, at, note, changes }) => [
    String(number),
    at,
    author,
    changes[0] ?? "-",
    note,
  ]);
  if (isJson) printJson({ data: described }, terminal);
  else if (rows.length === 0) terminal.say("Nothing was changed at run time yet.\n");
  else terminal.out(formatTable([["VERSION", "TIME", "AUTHOR", "CHANGE", "NOTE"], ...cells]));
  return 0;
}

/** As JSON either way: a document is nothing for a table. */
/** As the file would have it, or as JSON. */
async function show({ number, isJson }: VersionOptions, service: Versions, terminal: Terminal): Promise<number> {
  const version = await service.find(number);
  if (version === null) {
    terminal.say(`No version ${number}. See: ${command("versions list")}\n`);
    return FAILED;
  }
  const document = shownDocument(version.document);
  if (isJson) printJson(document, terminal);
  else terminal.out(stringify(document));
  return 0;
}

interface ChainOptions {
  readonly tier: (typeof TIERS)[number];
  /** Null for the chain that ships. */
  readonly models: readonly string[] | null;
  readonly note: string | null;
  readonly isJson: boolean;
}

export function chains(args: Arguments, terminal: Terminal = thisTerminal()): Promise<number> {
  return runCommand({
    ...{ name: "chains", terminal, parse: () => parseChains(args) },
    run: ({ tier, models, note, isJson }, settings) =>
      withVersions(settings, async (service) => {
        const change = (document: Parameters<typeof drafted>[0]) => drafted(document, { tiers: { [tier]: models } });
        const by = { author: COMMAND_LINE, ...(note === null ? {} : { note }) };
        printPublished(await service.publish({ ...by, change }), isJson, terminal);
        return 0;
      }),
  });
}

function parseChains({ words, flags }: Arguments): Parsed<ChainOptions> {
  const [, tier, models] = parseSubcommand(words, "chains", { set: 2 });
  if (tier === undefined || models === undefined) throw new UsageError("chains set needs a tier and its models.");
  const { own, config } = splitFlags(flags, ["note", "json"]);
  const ids = models === "none" ? null : models.split(",").map((id) => id.trim());
  const named = parseWord(tier, TIERS, "tier");
  return { options: { tier: named, models: ids, note: textOf(own, "note"), isJson: isOn(own, "json") }, config };
}
