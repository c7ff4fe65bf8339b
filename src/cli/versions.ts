// `switchyard versions` and `switchyard chains`: the history of the run-time configuration, the way back, and the chains.

import { stringify } from "yaml";
import { TIERS_WITH_TOOLS } from "../catalog/chains.ts";
import { command } from "../config/package.ts";
import { TIERS } from "../core/tiers.ts";
import { changesBetween } from "../versions/changes.ts";
import { drafted } from "../versions/document.ts";
import { shownDocument } from "../versions/secrets.ts";
import type { Publication, Versions } from "../versions/versions.ts";
import { applyChanges } from "./apply.ts";
import type { Arguments } from "./command/arguments.ts";
import { COMMAND_LINE, type Parsed, parseSubcommand, printJson, runCommand } from "./command/command.ts";
import { isOn, parseWord, splitFlags, textOf } from "./command/flags.ts";
import { formatTable } from "./command/table.ts";
import { type Terminal, thisTerminal } from "./command/terminal.ts";
import * as TEXT from "./command/text.ts";
import { FAILED, UsageError } from "./command/usage.ts";
import { printPublished, withVersions } from "./command/versions.ts";

interface VersionOptions {
  readonly kind: "list" | "show" | "rollback" | "apply" | "locked";
  readonly number: number;
  /** A file with changes, or - for standard input. */
  readonly path: string;
  /** True if past requests are replayed with the changes, instead of publishing them. */
  readonly replays: boolean;
  readonly note: string | null;
  readonly isJson: boolean;
}

const LISTED = 50;

export function versions(args: Arguments, terminal: Terminal = thisTerminal()): Promise<number> {
  return runCommand({
    ...{ name: "versions", terminal, parse: () => parseVersions(args) },
    run: (options, settings) =>
      options.kind === "apply"
        ? applyChanges(options, settings, terminal)
        : withVersions(settings, (service) => runVersions(options, service, terminal)),
  });
}

const FLAGS = { list: [], show: [], rollback: ["note"], apply: ["note", "replay"], locked: [] } as const;

function parseVersions({ words, flags }: Arguments): Parsed<VersionOptions> {
  const [kind, word = ""] = parseSubcommand(words, "versions", { list: 0, show: 1, rollback: 1, apply: 1, locked: 0 });
  const { own, config } = splitFlags(flags, [...FLAGS[kind], "json"]);
  const isNumbered = kind === "show" || kind === "rollback";
  if (isNumbered && !/^\d{1,15}$/.test(word)) throw new UsageError(TEXT.needsNumber(kind));
  if (kind === "apply" && word === "") throw new UsageError(TEXT.needsFile);
  const flagged = { replays: isOn(own, "replay"), note: textOf(own, "note"), isJson: isOn(own, "json") };
  return { options: { kind, number: isNumbered ? Number(word) : 0, path: word, ...flagged }, config };
}

async function runVersions(options: VersionOptions, service: Versions, terminal: Terminal): Promise<number> {
  const { kind, number, note, isJson } = options;
  if (kind === "list") return list(isJson, service, terminal);
  if (kind === "show") return show(options, service, terminal);
  if (kind === "locked") return locked(isJson, service, terminal);
  printPublished(await service.rollBack(number, by(note)), isJson, terminal);
  return 0;
}

function by(note: string | null): Pick<Publication, "author" | "note"> {
  return { author: COMMAND_LINE, ...(note === null ? {} : { note }) };
}

/** Prints what file, environment and flags set, and where. */
function locked(isJson: boolean, { locks }: Versions, terminal: Terminal): number {
  if (isJson) printJson({ data: locks }, terminal);
  else if (locks.length === 0) terminal.say(TEXT.nothingLocked);
  else terminal.out(formatTable([["SETTING", "SET IN"], ...locks.map(({ path, place }) => [path, place])]));
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
    inShort(changes),
    note,
  ]);
  if (isJson) printJson({ data: described }, terminal);
  else if (rows.length === 0) terminal.say(TEXT.noVersions);
  else terminal.out(formatTable([["VERSION", "TIME", "AUTHOR", "CHANGE", "NOTE"], ...cells]));
  return 0;
}

/** A version may change a hundred prices, and the row is one line. */
function inShort([first = "-", ...more]: readonly string[]): string {
  return more.length === 0 ? first : `${first}, and ${more.length} more`;
}

/** Prints a version in the form of the file, or as JSON. */
async function show({ number, isJson }: VersionOptions, service: Versions, terminal: Terminal): Promise<number> {
  const version = await service.find(number);
  if (version === null) {
    terminal.say(TEXT.noVersion(number, command("versions list")));
    return FAILED;
  }
  const document = shownDocument(version.document);
  if (isJson) printJson(document, terminal);
  else terminal.out(stringify(document));
  return 0;
}

interface ChainOptions {
  readonly section: "tiers" | typeof TIERS_WITH_TOOLS;
  readonly tier: (typeof TIERS)[number];
  /** Ids of the chain; null for the chain that ships. */
  readonly models: readonly string[] | null;
  readonly note: string | null;
  readonly isJson: boolean;
}

export function chains(args: Arguments, terminal: Terminal = thisTerminal()): Promise<number> {
  return runCommand({
    ...{ name: "chains", terminal, parse: () => parseChains(args) },
    run: ({ section, tier, models, note, isJson }, settings) =>
      withVersions(settings, async (service) => {
        const change = (document: Parameters<typeof drafted>[0]) =>
          drafted(document, { [section]: { [tier]: models } });
        printPublished(await service.publish({ ...by(note), change }), isJson, terminal);
        return 0;
      }),
  });
}

function parseChains({ words, flags }: Arguments): Parsed<ChainOptions> {
  const [, tier, models] = parseSubcommand(words, "chains", { set: 2 });
  if (tier === undefined || models === undefined) throw new UsageError(TEXT.needsTierAndModels);
  const { own, config } = splitFlags(flags, ["with-tools", "note", "json"]);
  const section: ChainOptions["section"] = isOn(own, "with-tools") ? TIERS_WITH_TOOLS : "tiers";
  const ids = models === "none" ? null : models.split(",").map((id) => id.trim());
  const named = parseWord(tier, TIERS, "tier");
  const options = { section, tier: named, models: ids, note: textOf(own, "note"), isJson: isOn(own, "json") };
  return { options, config };
}
