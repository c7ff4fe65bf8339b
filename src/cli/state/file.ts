// The file of `switchyard apply`: its sections checked, and references to variables replaced.

import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { parse } from "yaml";
import { isJsonMap, type Json, type JsonMap } from "../../core/overlay.ts";
import { isTooDeep } from "../../versions/document.ts";
import type { Terminal } from "../command/terminal.ts";
import { reasonOf, UsageError } from "../command/usage.ts";
import type { WantedState } from "./plan.ts";
import { RESOURCE_KINDS } from "./resources.ts";
import * as TEXT from "./text.ts";

export interface StateFile {
  /** The account of profiles, teams, keys and budgets; null for the usual one. */
  readonly account: string | null;
  /** Keys of switchyard.yaml that can change at run time. */
  readonly configuration: JsonMap | null;
  readonly wanted: WantedState;
}

const LISTS = RESOURCE_KINDS.map(({ section }) => section);
const SECTIONS: readonly string[] = ["account", "configuration", ...LISTS];

export async function readState(path: string, terminal: Terminal): Promise<StateFile> {
  const file = withVariables(parsed(await textOfFile(path, terminal)), terminal.env);
  if (!isJsonMap(file) || isTooDeep(file)) throw new UsageError(TEXT.notMap(SECTIONS.join(", ")));
  const stray = Object.keys(file).find((name) => !SECTIONS.includes(name));
  if (stray !== undefined) throw new UsageError(TEXT.unknownSection(stray, SECTIONS.join(", ")));
  const lists = LISTS.filter((section) => file[section] !== undefined && file[section] !== null);
  return {
    account: typeof file.account === "string" ? file.account : null,
    configuration: isJsonMap(file.configuration) ? file.configuration : null,
    wanted: Object.fromEntries(lists.map((section) => [section, namedEntries(section, file[section])])),
  };
}

function namedEntries(section: string, list: Json | undefined): readonly JsonMap[] {
  if (!Array.isArray(list)) throw new UsageError(TEXT.notList(section));
  const names = new Set<string>();
  return (list as readonly Json[]).map((entry) => {
    if (!isJsonMap(entry) || typeof entry.name !== "string") throw new UsageError(TEXT.notList(section));
    if (names.has(entry.name)) throw new UsageError(TEXT.twice(section, entry.name));
    names.add(entry.name);
    return entry;
  });
}

async function textOfFile(path: string, terminal: Terminal): Promise<string> {
  if (path === "-") return terminal.readInput();
  try {
    return readFileSync(resolve(terminal.cwd, path), "utf8");
  } catch (error) {
    throw new UsageError(TEXT.unreadable(path, reasonOf(error)));
  }
}

function parsed(text: string): Json {
  try {
    return parse(text) as Json;
  } catch (error) {
    throw new UsageError(TEXT.notYaml(reasonOf(error)));
  }
}

/** `${NAME}` in any text is the variable's value. All that are not set are named at once. */
function withVariables(value: Json, env: Terminal["env"]): Json {
  const missing = new Set<string>();
  const replaced = (each: Json): Json => {
    if (typeof each === "string")
      return each.replace(/\$\{([A-Za-z_]\w*)\}/g, (_, name: string) => {
        if (!env[name]) missing.add(name);
        return env[name] ?? "";
      });
    if (Array.isArray(each)) return (each as readonly Json[]).map(replaced);
    if (!isJsonMap(each)) return each;
    return Object.fromEntries(Object.entries(each).map(([key, one]) => [key, replaced(one)]));
  };
  const result = replaced(value);
  if (missing.size > 0) throw new UsageError(TEXT.unset([...missing].join(", ")));
  return result;
}
