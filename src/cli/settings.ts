// `switchyard settings`: the options that can change at run time, their history, and the way back.

import { command } from "../config/package.ts";
import type { Settings, ShownOption } from "../config/settings.ts";
import { changeOfSettings, rollBackSettings, settingsHistory } from "../versions/settings.ts";
import type { Publication, Versions } from "../versions/versions.ts";
import type { Arguments } from "./command/arguments.ts";
import { COMMAND_LINE, type Parsed, parseSubcommand, printJson, runCommand } from "./command/command.ts";
import { isOn, splitFlags, textOf } from "./command/flags.ts";
import { formatTable } from "./command/table.ts";
import { type Terminal, thisTerminal } from "./command/terminal.ts";
import * as TEXT from "./command/text.ts";
import { UsageError, unknown } from "./command/usage.ts";
import { printPublished, withVersions } from "./command/versions.ts";

interface SettingsOptions {
  readonly kind: keyof typeof SUBCOMMANDS;
  /** Path of an option, or number of a version; null where none was given. */
  readonly word: string | null;
  readonly value: string | null;
  readonly note: string | null;
  readonly isJson: boolean;
}

/** The most words that each takes. */
const SUBCOMMANDS = { get: 1, set: 2, reset: 1, history: 0, rollback: 1 } as const;
const LISTED = 50;

export function settings(args: Arguments, terminal: Terminal = thisTerminal()): Promise<number> {
  return runCommand({
    ...{ name: "settings", terminal, isEffective: true, callsNobody: true, parse: () => parseSettings(args) },
    run: (options, loaded) =>
      options.kind === "get"
        ? Promise.resolve(print(options, loaded, terminal))
        : withVersions(loaded, (service) => runSettings(options, loaded, { service, terminal })),
  });
}

function parseSettings({ words, flags }: Arguments): Parsed<SettingsOptions> {
  const [kind, word = null, value = null] = parseSubcommand(words, "settings", SUBCOMMANDS);
  const { own, config } = splitFlags(flags, kind === "get" || kind === "history" ? ["json"] : ["note", "json"]);
  if (kind === "set" && value === null) throw new UsageError(NEEDS_VALUE);
  if (kind === "reset" && word === null) throw new UsageError(NEEDS_PATH);
  if (kind === "rollback" && !/^\d{1,15}$/.test(word ?? "")) throw new UsageError(TEXT.needsNumber(kind));
  return { options: { kind, word, value, note: textOf(own, "note"), isJson: isOn(own, "json") }, config };
}

const NEEDS_VALUE = `Give an option and its value, such as: ${command("settings set logging.retentionDays 90")}`;
const NEEDS_PATH = `Give an option, such as: ${command("settings reset logging.retentionDays")}`;

interface SettingsRun {
  readonly service: Versions;
  readonly terminal: Terminal;
}

async function runSettings(options: SettingsOptions, loaded: Settings, { service, terminal }: SettingsRun) {
  const { kind, word, value, note, isJson } = options;
  if (kind === "history") return history(isJson, service, terminal);
  const by: Pick<Publication, "author" | "note"> = { author: COMMAND_LINE, ...(note === null ? {} : { note }) };
  const published =
    kind === "rollback"
      ? await rollBackSettings(service, Number(word), by)
      : await service.publish({ ...by, change: changeOfSettings({ [word ?? ""]: value }, loaded.options) });
  printPublished(published, isJson, terminal);
  return 0;
}

/** Prints one option, or all that can change. What file, environment or flag set is shown with its place. */
function print({ word, isJson }: SettingsOptions, { options }: Settings, terminal: Terminal): number {
  const live = options.filter(({ isLive }) => isLive);
  const known = live.map(({ path }) => path ?? "");
  if (word !== null && !known.includes(word)) throw unknown({ what: "option", word, known });
  const shown = live.filter(({ path }) => word === null || path === word);
  if (isJson) printJson({ data: shown.map(written) }, terminal);
  else if (word !== null) terminal.out(`${shown[0]?.value}\n`);
  else {
    const rows = shown.map((option) => [option.path ?? "", option.value ?? "", option.default, placeOf(option)]);
    terminal.out(formatTable([["SETTING", "VALUE", "DEFAULT", "SET IN"], ...rows]));
  }
  return 0;
}

function written({ path, value, default: usual, origin, place, help }: ShownOption) {
  return { path, value, default: usual, origin, place, help };
}

function placeOf({ origin, place }: ShownOption): string {
  if (origin === "default") return "-";
  return origin === "version" ? "a change at run time" : (place ?? origin);
}

async function history(isJson: boolean, service: Versions, terminal: Terminal): Promise<number> {
  const { data } = await settingsHistory(service, { limit: LISTED, before: Number.MAX_SAFE_INTEGER });
  const described = data.map(({ version: { number, author, atMs, note }, changes }) => ({
    ...{ number, author, at: new Date(atMs).toISOString(), note },
    changes: changes.map(({ words }) => words),
  }));
  const rows = described.map(({ number, at, author, changes, note }) => [
    ...[String(number), at, author, changes.join("; "), note],
  ]);
  if (isJson) printJson({ data: described }, terminal);
  else if (rows.length === 0) terminal.say(TEXT.noVersions);
  else terminal.out(formatTable([["VERSION", "TIME", "AUTHOR", "CHANGE", "NOTE"], ...rows]));
  return 0;
}
