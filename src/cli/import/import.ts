// `switchyard import`: writes a configuration from that of another gateway or from the environment, and says what it
// could not take over.

import { existsSync, readFileSync } from "node:fs";
import { basename, resolve } from "node:path";
import { readBuiltin } from "../../catalog/builtin.ts";
import { command } from "../../config/package.ts";
import type { Arguments } from "../command/arguments.ts";
import { parseSubcommand, printJson } from "../command/command.ts";
import { isOn, textOf } from "../command/flags.ts";
import { type Terminal, thisTerminal } from "../command/terminal.ts";
import { explainFailure, FAILED, reasonOf, UsageError, unknown } from "../command/usage.ts";
import { fromEnvironment, fromOpenrouter } from "./environment.ts";
import { type Imported, variablesOf } from "./imported.ts";
import { fromLitellm } from "./litellm.ts";
import * as TEXT from "./text.ts";
import { configurationText, writeConfiguration } from "./write.ts";

const FLAGS = ["out", "force", "json", "no-color"];
const SUBCOMMANDS = { litellm: 1, openrouter: 0, env: 0 };

/** Reads no settings: there is perhaps no configuration yet, or one that is about to be replaced. */
export async function importConfiguration(
  { words, flags }: Arguments,
  terminal: Terminal = thisTerminal(),
): Promise<number> {
  try {
    for (const name of Object.keys(flags))
      if (!FLAGS.includes(name))
        throw unknown({ what: "flag", word: `--${name}`, known: FLAGS.map((each) => `--${each}`) });
    const [kind, file] = parseSubcommand(words, "import", SUBCOMMANDS);
    const out = textOf(flags, "out") ?? "switchyard.yaml";
    const isForced = isOn(flags, "force");
    const isJson = isOn(flags, "json");
    const source = kind === "litellm" ? await sourceOf(file, terminal) : null;
    const imported =
      source !== null
        ? fromLitellm(source.text, source.name)
        : kind === "env"
          ? fromEnvironment(terminal.env)
          : fromOpenrouter();
    if (Object.keys(imported.config).length === 0) {
      terminal.say(kind === "env" ? TEXT.noVariables(someVariables()) : TEXT.nothing);
      return FAILED;
    }
    const text = configurationText(imported, TEXT.title(source?.name ?? SOURCES[kind]));
    const path = resolve(terminal.cwd, out);
    if (out !== "-" && existsSync(path) && !isForced) {
      terminal.say(TEXT.exists(path));
      return FAILED;
    }
    const kept = out === "-" ? null : writeConfiguration(path, text);
    report(imported, { text, path: out === "-" ? null : path, kept, isJson }, terminal);
    return 0;
  } catch (error) {
    return explainFailure(error, "import", terminal);
  }
}

const SOURCES = { litellm: "LiteLLM", openrouter: "OpenRouter", env: "the environment" } as const;

async function sourceOf(file: string | undefined, terminal: Terminal) {
  if (file === undefined) throw new UsageError(TEXT.needsFile);
  if (file === "-") return { text: await terminal.readInput(), name: "standard input" };
  try {
    return { text: readFileSync(resolve(terminal.cwd, file), "utf8"), name: basename(file) };
  } catch (error) {
    throw new UsageError(TEXT.unreadable(file, reasonOf(error)));
  }
}

function someVariables(): string {
  return readBuiltin()
    .providers.slice(0, 3)
    .map(({ keyVariable }) => keyVariable)
    .join(", ");
}

interface ImportReport {
  readonly text: string;
  /** Path of the file; null where the text goes to standard output. */
  readonly path: string | null;
  readonly kept: string | null;
  readonly isJson: boolean;
}

function report(imported: Imported, { text, path, kept, isJson }: ImportReport, terminal: Terminal): void {
  const { mapped, unmapped, config } = imported;
  const variables = variablesOf(config);
  const notes = hasModels(imported) ? [...imported.notes, honourNote()] : imported.notes;
  if (isJson) {
    printJson({ path, kept, mapped, unmapped, notes, variables }, terminal);
    return;
  }
  if (path === null) terminal.out(text);
  else terminal.say(TEXT.written(path, kept));
  terminal.say(TEXT.mapped(mapped.length) + listed(mapped));
  if (unmapped.length > 0)
    terminal.say(TEXT.unmapped(unmapped.length) + listed(unmapped.map(({ what, why }) => `${what}: ${why}`)));
  if (notes.length > 0) terminal.say(TEXT.look + listed(notes));
  if (variables.length > 0) terminal.say(TEXT.variables(variables.join(", ")));
  terminal.say(TEXT.check(command("doctor")));
}

function hasModels({ config }: Imported): boolean {
  return config.models !== undefined;
}

/** Other gateways use the model that a request names; ours asks the key's profile. */
function honourNote(): string {
  return TEXT.direct(
    command("profiles set named --honour-model on"),
    command("keys create --name app --profile named"),
  );
}

function listed(lines: readonly string[]): string {
  return `${lines.map((line) => `  ${line}`).join("\n")}\n`;
}
