// The frame every command runs in. Arguments are parsed before anything is opened, the settings are loaded, and whatever
// goes wrong is explained in one place.

import { load } from "../../config/load.ts";
import { formatProblems } from "../../config/report.ts";
import type { FileText, Loaded, Settings } from "../../config/settings.ts";
import { isJsonMap } from "../../core/overlay.ts";
import { type AuditEntry, withoutSecrets } from "../../store/audit/entry.ts";
import { inScope } from "../../store/audit/scope.ts";
import type { Flags } from "./arguments.ts";
import { effective } from "./effective.ts";
import { type Terminal, thisTerminal } from "./terminal.ts";
import * as TEXT from "./text.ts";
import { explainFailure, FAILED, UsageError, unknown } from "./usage.ts";

/** The exit code for a configuration that cannot be used: EX_CONFIG of sysexits.h. */
export const BAD_CONFIGURATION = 78;

/** The actor that the ledger records for movements made by commands. */
export const COMMAND_LINE = "command line";

/** A command's own arguments, checked, and the flags that belong to the configuration. */
export interface Parsed<Options> {
  readonly options: Options;
  readonly config: Flags;
}

/** One command: how it reads its arguments, and what it does with them. */
export interface Command<Options> {
  readonly name: string;
  readonly terminal: Terminal;
  /** True if the command also needs the run-time configuration. */
  readonly isEffective?: boolean;
  /** True if the command neither calls nor changes a provider. It then runs in a shell without their keys. */
  readonly callsNobody?: boolean;
  /** Throws UsageError. */
  parse(): Parsed<Options> | Promise<Parsed<Options>>;
  /** The exit code. */
  run(options: Options, settings: Settings): Promise<number>;
}

/** Runs a command to its exit code. */
export async function runCommand<Options>(wanted: Command<Options>): Promise<number> {
  const { name, terminal, parse, run, isEffective = false, callsNobody = false } = wanted;
  try {
    const { options, config } = await parse();
    const { env, cwd } = terminal;
    const loaded = load({ flags: config, env, cwd, callsNobody });
    if (!loaded.ok) return printProblems(loaded, terminal);
    // Only warnings about this very command line; `switchyard doctor` shows the others.
    const warnings = loaded.warnings.filter(({ place }) => place.startsWith("flag "));
    for (const { place, message } of warnings) terminal.say(`! ${place}: ${message}.\n`);
    const settings = isEffective ? await effective(loaded.settings, terminal) : loaded.settings;
    return await inScope(entryOf(name, options, terminal.now()), () => run(options, settings));
  } catch (error) {
    return explainFailure(error, name, terminal);
  }
}

/** Describes the command for the audit log. `withStore` appends it once something was written. */
function entryOf(name: string, options: unknown, atMs: number): AuditEntry {
  const given = withoutSecrets(options);
  const { kind, isJson: _, isConfirmed: __, ...after } = isJsonMap(given) ? given : {};
  return {
    ...{ atMs, actor: { kind: "command_line", name: COMMAND_LINE, accountId: null }, object: name },
    action: typeof kind === "string" ? `${name} ${kind}` : name,
    ...{ accountId: null, outcome: "done", address: null, requestId: null, before: null, after },
  };
}

/** Takes the configuration's flags only: any other one is a problem. */
export function loadSettings(flags: Flags, { env, cwd }: Pick<Terminal, "env" | "cwd"> = thisTerminal()): Loaded {
  return load({ flags, env, cwd });
}

/** Loads the settings that another process of the same gateway has, even if the file has changed. */
export function loadSame(flags: Flags, file: FileText | null): Loaded {
  const { env, cwd } = thisTerminal();
  return load({ flags, env, cwd, file });
}

/** Prints every problem at once. The exit code to end with. */
export function printProblems(loaded: Extract<Loaded, { ok: false }>, terminal: Terminal = thisTerminal()): number {
  terminal.say(`${formatProblems(loaded.problems)}\n`);
  return BAD_CONFIGURATION;
}

/**
 * The first word as one of the known subcommands, and the words after it. `known` says how many words each one takes at
 * most.
 */
export function parseSubcommand<Kind extends string>(
  words: readonly string[],
  command: string,
  known: Readonly<Record<Kind, number>>,
): readonly [kind: Kind, ...rest: string[]] {
  const [word, ...rest] = words;
  const names = Object.keys(known) as Kind[];
  const listed = `${names.slice(0, -1).join(", ")}${names.length > 1 ? " or " : ""}${names.at(-1)}`;
  const advice = TEXT.use(command, listed);
  if (word === undefined) throw new UsageError(advice);
  const kind = names.find((name) => name === word);
  if (kind === undefined) throw unknown({ what: "subcommand", word, known: names, advice });
  const stray = rest[known[kind]];
  if (stray !== undefined) throw new UsageError(TEXT.unexpectedArgument(stray));
  return [kind, ...rest];
}

export function printJson(value: object, terminal: Terminal): void {
  terminal.out(`${JSON.stringify(value, null, 2)}\n`);
}

/** Something that cannot be undone, and whether the caller has agreed to it already. */
interface Confirmation {
  readonly question: string;
  /** The command's words, for the message where nobody can be asked. */
  readonly command: string;
  /** True if --yes was given. */
  readonly isConfirmed: boolean;
}

/** Asks before something that cannot be undone. Null to go on; otherwise the exit code to end with. */
export async function exitUnlessConfirmed(
  { question, command, isConfirmed }: Confirmation,
  terminal: Terminal,
): Promise<number | null> {
  if (isConfirmed) return null;
  if (terminal.ask === null) throw new UsageError(TEXT.confirmWithYes(command));
  if (/^y(es)?$/i.test((await terminal.ask(`${question} [y/N] `)).trim())) return null;
  terminal.say(TEXT.nothingChanged);
  return FAILED;
}
