// `switchyard apply`: makes a gateway's configuration, profiles, teams, keys and budgets as a file says, over its API. With
// --plan it only says what differs.

import { DEFAULT_ACCOUNT } from "../../accounts/accounts.ts";
import { openableUrl } from "../../config/network.ts";
import type { JsonMap } from "../../core/overlay.ts";
import type { Arguments } from "../command/arguments.ts";
import { exitUnlessConfirmed, type Parsed, printJson, runCommand } from "../command/command.ts";
import { gatewayUrl, isOn, splitFlags, textOf } from "../command/flags.ts";
import { type Terminal, thisTerminal } from "../command/terminal.ts";
import { UsageError } from "../command/usage.ts";
import { configurationPlan } from "./configuration.ts";
import { readState, type StateFile } from "./file.ts";
import { type PlannedChange, planOf, type There } from "./plan.ts";
import { type Remote, remoteGateway } from "./remote.ts";
import { changeMethod, RESOURCE_KINDS, type ResourceKind, referencesIn } from "./resources.ts";
import * as TEXT from "./text.ts";

/** The exit code of --plan where something differs, so that a scheduled job notices. */
const DIFFERS = 3;

interface ApplyOptions {
  readonly path: string;
  readonly url: string | null;
  readonly isPlan: boolean;
  readonly prunes: boolean;
  readonly isConfirmed: boolean;
  readonly isJson: boolean;
}

export function apply(args: Arguments, terminal: Terminal = thisTerminal()): Promise<number> {
  return runCommand({
    ...{ name: "apply", terminal, callsNobody: true, parse: () => parseApply(args) },
    run: async (options, { server }) => {
      const token = terminal.env.SWITCHYARD_ADMIN_TOKEN ?? server.adminToken;
      if (!token) throw new UsageError(TEXT.needsToken);
      const state = await readState(options.path, terminal);
      const remote = remoteGateway(options.url ?? gatewayUrl(openableUrl(server)), token);
      return applyTo(remote, state, { options, terminal });
    },
  });
}

function parseApply({ words: [path, stray], flags }: Arguments): Parsed<ApplyOptions> {
  if (path === undefined || stray !== undefined) throw new UsageError(TEXT.needsFile);
  const { own, config } = splitFlags(flags, ["url", "plan", "prune", "yes", "json", "no-color"]);
  const url = textOf(own, "url");
  return {
    options: {
      ...{ path, url: url === null ? null : gatewayUrl(url), isPlan: isOn(own, "plan"), prunes: isOn(own, "prune") },
      ...{ isConfirmed: isOn(own, "yes"), isJson: isOn(own, "json") },
    },
    config,
  };
}

interface ApplyContext {
  readonly options: ApplyOptions;
  readonly terminal: Terminal;
}

async function applyTo(remote: Remote, state: StateFile, { options, terminal }: ApplyContext): Promise<number> {
  const account = state.account ?? DEFAULT_ACCOUNT;
  const configuration = state.configuration === null ? null : await plannedConfiguration(remote, state.configuration);
  const there = await thingsThere(remote, account);
  const { changes, left } = planOf(state.wanted, there, options.prunes);
  const words = [...(configuration?.words ?? []).map((each) => `~ ${each}`), ...changes.map((each) => each.words)];
  if (!options.isJson) for (const line of [...words, ...left]) terminal.say(`${line}\n`);
  if (words.length === 0 || options.isPlan) {
    if (options.isJson) printJson({ changes: words, left, keys: [] }, terminal);
    else terminal.say(words.length === 0 ? TEXT.nothing : TEXT.planned(words.length));
    return words.length === 0 ? 0 : DIFFERS;
  }
  const removals = changes.filter(({ action }) => action === "remove").length;
  if (removals > 0) {
    const wanted = { question: TEXT.removalQuestion(removals), command: "apply", isConfirmed: options.isConfirmed };
    const exitCode = await exitUnlessConfirmed(wanted, terminal);
    if (exitCode !== null) return exitCode;
  }
  if (configuration !== null && configuration.words.length > 0) await configuration.publish();
  const keys = await makeAll(changes, { remote, there, account, terminal, isJson: options.isJson });
  if (options.isJson) printJson({ changes: words, left, keys }, terminal);
  else terminal.say(TEXT.applied(words.length));
  return 0;
}

async function plannedConfiguration(remote: Remote, wanted: JsonMap) {
  const { version, document: shown } = await remote.call("GET", "/api/configuration");
  const { words, document } = configurationPlan(shown as JsonMap, wanted);
  // Somebody else's change in between is a 409, and nothing of theirs is lost.
  const body = { document, base: version as number, note: "apply" };
  return { words, publish: () => remote.call("PUT", "/api/configuration", body) };
}

async function thingsThere(remote: Remote, account: string): Promise<There> {
  const lists = await Promise.all(
    RESOURCE_KINDS.map(async ({ section, path, query }) => {
      const all = await remote.list(`${path}?account=${encodeURIComponent(account)}${query === "" ? "" : `&${query}`}`);
      return [section, all] as const;
    }),
  );
  return Object.fromEntries(lists) as unknown as There;
}

interface MakeContext {
  readonly remote: Remote;
  readonly there: There;
  readonly account: string;
  readonly terminal: Terminal;
  readonly isJson: boolean;
}

/** One after the other, because a later one may refer to an earlier one. Texts of new keys are printed at once. */
async function makeAll(changes: readonly PlannedChange[], context: MakeContext): Promise<readonly JsonMap[]> {
  const { there, terminal, isJson } = context;
  const ids = new Map(RESOURCE_KINDS.map(({ section }) => [section, idsByName(there[section])]));
  const keys: JsonMap[] = [];
  for (const [done, change] of changes.entries()) {
    try {
      const made = await make(change, ids, context);
      if (change.action === "create") ids.get(change.kind.section)?.set(change.name, String(made.id));
      if (typeof made.key !== "string") continue;
      keys.push({ name: change.name, id: made.id ?? null, key: made.key });
      if (!isJson) {
        terminal.say(TEXT.keyText(change.name));
        terminal.out(`${made.key}\n`);
      }
    } catch (error) {
      // A key that was made is shown whatever comes after it: nobody could see it again.
      if (isJson && keys.length > 0) printJson({ keys }, terminal);
      terminal.say(TEXT.stopped(done, changes.length));
      throw error;
    }
  }
  return keys;
}

function idsByName(things: readonly JsonMap[]): Map<string, string> {
  return new Map(things.map(({ name, id }) => [String(name), String(id)]));
}

type IdsBySection = ReadonlyMap<ResourceKind["section"], ReadonlyMap<string, string>>;

function make(change: PlannedChange, ids: IdsBySection, { remote, account }: MakeContext): Promise<JsonMap> {
  const { kind, action, id, fields } = change;
  const query = `?account=${encodeURIComponent(account)}`;
  if (action === "remove") return remote.call("DELETE", `${kind.path}/${id}${query}`);
  const body = { ...fields };
  for (const [field, section] of Object.entries(referencesIn(kind, fields))) {
    const name = fields[field];
    if (typeof name !== "string") continue;
    const found = ids.get(section)?.get(name);
    if (found === undefined) throw new Error(TEXT.noReference(section.slice(0, -1), name));
    body[field] = found;
  }
  if (action === "create") return remote.call("POST", `${kind.path}${query}`, body);
  return remote.call(changeMethod(kind), `${kind.path}/${id}${query}`, body);
}
