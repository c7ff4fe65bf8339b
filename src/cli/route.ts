// `switchyard route "prompt"`: the decision a request would get, as a card. It is decided here, from the configuration
// that a server would have now: no provider is called, nothing is charged, and no server need run.

import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { DEFAULT_ACCOUNT } from "../accounts/accounts.ts";
import { baselineText } from "../catalog/catalog.ts";
import { command } from "../config/package.ts";
import type { Settings } from "../config/settings.ts";
import { type CascadeBounds, type Constraints, type Decision, NO_CONSTRAINTS } from "../core/decision.ts";
import { GatewayError } from "../core/errors.ts";
import { roughUsd, usdNumber } from "../core/money.ts";
import type { CascadeWebhooks } from "../core/requests/cascade.ts";
import { REQUEST_CONTROLS } from "../core/requests/controls.ts";
import type { SessionView } from "../core/session.ts";
import type { ClientRequest } from "../formats/format.ts";
import { parseBody } from "../formats/json/parse.ts";
import { type PlannedCascade, planCascade } from "../gateway/cascade/plan.ts";
import { withServiceTier } from "../gateway/constraints.ts";
import { createSessionMemory } from "../gateway/sessions/memory.ts";
import { createSessions } from "../gateway/sessions/sessions.ts";
import { readDebugChat, writeCascade, writeDecision } from "../http/v1/routing-debug.ts";
import { decide } from "../routing/decide.ts";
import type { Arguments, Flags } from "./command/arguments.ts";
import { printJson, runCommand } from "./command/command.ts";
import { isOn, parseControl, parseCount, splitFlags, textOf } from "./command/flags.ts";
import { withStore } from "./command/store.ts";
import { formatTable } from "./command/table.ts";
import { type Terminal, thisTerminal } from "./command/terminal.ts";
import * as TEXT from "./command/text.ts";
import { reasonOf, UsageError } from "./command/usage.ts";
import { findProfile, profilesOf } from "./profiles.ts";

/** Turns the text of a flag into the value of a field. */
type Parse = (text: string, flag: string) => unknown;

const asIs: Parse = (text) => text;

/** Each flag that becomes a field of the debug endpoint's request. */
const FIELDS: ReadonlyMap<string, { readonly field: string; readonly parse: Parse }> = new Map([
  ["system", { field: "system_prompt", parse: asIs }],
  ["model", { field: "model", parse: asIs }],
  ...REQUEST_CONTROLS.flatMap((control) => {
    const parse: Parse = (text) => parseControl(text, control);
    return control.flag === undefined ? [] : [[control.flag, { field: control.field, parse }] as const];
  }),
  ["max-output", { field: "max_output_tokens", parse: parseCount }],
]);

const OWN_FLAGS = [...FIELDS.keys(), "tools", "messages", "profile", "account", "json", "no-color"];

/** Prints the decision for one prompt. */
export function route({ words, flags }: Arguments, terminal: Terminal = thisTerminal()): Promise<number> {
  return runCommand({
    ...{ name: "route", terminal, isEffective: true },
    async parse() {
      const { own, config } = splitFlags(flags, OWN_FLAGS);
      const question = readQuestion(await readBody(words, own, terminal));
      return { options: { own, ...question, isJson: isOn(own, "json") }, config };
    },
    async run({ own, format, request, isJson }, settings) {
      const constraints = await constraintsOf(own, settings);
      const asked = withServiceTier(request, constraints, settings.catalog);
      const { chat, controls } = asked;
      const sessionView = firstTurn(asked, settings);
      const routeWithin = (cascade?: CascadeBounds): Decision =>
        decide(
          { chat, controls, constraints, restingModels: new Map(), sessionView, ...(cascade && { cascade }) },
          settings.catalog,
        );
      const decision = routeWithin();
      const planning = { catalog: settings.catalog, cascadeWebhooks: NO_WEBHOOKS, routeWithin };
      const cascade = planCascade({ format, request: asked, profile: null, constraints }, decision, planning);
      if (isJson) {
        const { candidates, classifiedTier = null, score = null } = decision;
        const written = { ...writeDecision(decision, settings.catalog), ...writeCascade(cascade) };
        printJson({ decision: written, classifiedTier, score, candidates }, terminal);
      } else {
        terminal.out(card(decision, baselineText(settings.catalog), cascade));
        terminal.say(TEXT.notCalled(command("help profiles"), command("serve")));
      }
      return 0;
    },
  });
}

/** The request as the first turn of a conversation that the server has never seen. */
function firstTurn(request: ClientRequest, { routing: { sessionMinutes } }: Settings): SessionView | null {
  const memory = createSessionMemory(() => 0, Date.now);
  const sessions = createSessions({ memory, isOn: () => sessionMinutes > 0, now: Date.now, share: () => undefined });
  return sessions.view({ request, caller: { key: { accountId: DEFAULT_ACCOUNT } } });
}

/** The body of the debug endpoint, put together from words and flags. */
async function readBody(words: readonly string[], flags: Flags, terminal: Terminal): Promise<Record<string, unknown>> {
  const prompt = await readText(words.join(" "), terminal);
  const body: Record<string, unknown> = {};
  for (const [flag, { field, parse }] of FIELDS) {
    const text = textOf(flags, flag);
    if (text !== null) body[field] = parse(text, flag);
  }
  if (body.service_tier !== undefined && body.model !== undefined) {
    throw new UsageError(TEXT.tierOrModel);
  }
  if (body.service_tier !== undefined) body.service_profile = "tier";
  else if (body.model !== undefined && body.model !== "auto") body.service_profile = "direct";
  const [tools, messages] = [textOf(flags, "tools"), textOf(flags, "messages")];
  if (tools !== null) body.tools = await readJsonArray(tools, "tools", terminal);
  const isAsked = prompt.trim() !== "";
  if (messages === null && !isAsked) throw new UsageError(TEXT.promptMissing(command('route "What is 2+2?"')));
  if (isAsked) body.prompt = prompt;
  if (messages !== null) body.messages = withTurn(await readJsonArray(messages, "messages", terminal), body.prompt);
  return body;
}

/** The prompt is the newest turn; without one the turns are the whole conversation. */
function withTurn(turns: readonly unknown[], prompt: unknown): readonly unknown[] {
  return prompt === undefined ? turns : [...turns, { role: "user", content: prompt }];
}

/** Read as the endpoint reads it; what it rejects is wrong usage here. */
function readQuestion(body: Record<string, unknown>): ReturnType<typeof readDebugChat> {
  try {
    return readDebugChat(parseBody(Buffer.from(JSON.stringify(body))));
  } catch (error) {
    throw error instanceof GatewayError ? new UsageError(error.message) : error;
  }
}

/** Only a profile needs the database, so without one it is not opened. */
async function constraintsOf(flags: Flags, { database }: Settings): Promise<Constraints> {
  const named = textOf(flags, "profile");
  if (named === null) return NO_CONSTRAINTS;
  const account = textOf(flags, "account") ?? DEFAULT_ACCOUNT;
  const profile = await withStore(database, ({ db }) => findProfile(profilesOf(db), account, named));
  if (profile === null) throw new UsageError(TEXT.noProfileListed(named, command("profiles list")));
  return profile.constraints;
}

/** The decision as a table of two columns. */
function card(decision: Decision, baseline: string, cascade: PlannedCascade | null): string {
  const { tier, classifiedTier = tier, chain, candidates, toolScenario, toolScore, historyFloor } = decision;
  const moved = classifiedTier === tier ? tier : `${tier}  (classified ${classifiedTier})`;
  const saved = `${Math.floor(decision.savings * 1000) / 10}% below ${roughUsd(usdNumber(decision.baselineCost))} on the baseline`;
  const rows: string[][] = [
    ["Tier", moved],
    ["Model", decision.model],
    ["Category", decision.category],
    ["Decided by", `${decision.method}, confidence ${decision.confidence.toFixed(2)}`],
    ["Why", decision.reasoning],
    ["Cost", `about ${roughUsd(usdNumber(decision.costEstimate))}, ${saved}`],
    ["Baseline", baseline],
    ["Tokens", `about ${decision.estimatedTokens.input} in, ${decision.estimatedTokens.output} out`],
    ["Chain", chain.join(" → ")],
  ];
  if (toolScenario !== null) rows.push(["Tools", `${toolScenario}, BFCL score ${toolScore ?? "unknown"}`]);
  if (historyFloor !== null) rows.push(["History", `${historyFloor} or higher`]);
  if (cascade !== null) rows.push(["Cascade", cascadeText(cascade)]);
  const removed = candidates.filter(({ removedBecause }) => removedBecause !== null);
  for (const { model, removedBecause } of removed) rows.push(["Excluded", `${model}: ${removedBecause}`]);
  return formatTable(rows.map((row) => [`  ${row[0]}`, row[1] ?? ""]));
}

/** A webhook belongs to the keys of a profile, and the command has no key. */
const NO_WEBHOOKS: Pick<CascadeWebhooks, "has"> = { has: () => false };

function cascadeText(planned: PlannedCascade): string {
  if (planned.state === "unused") return `none: ${planned.because}`;
  return planned.plan.decisions.map(({ tier, model }) => `${tier} (${model})`).join(", then ");
}

const STANDARD_INPUT = "-";

/** `-` is standard input; anything else is the text itself. */
async function readText(word: string, terminal: Terminal): Promise<string> {
  return word === STANDARD_INPUT ? terminal.readInput() : word;
}

/** A JSON array in a file, on standard input (`-`), or in the word itself, which then starts with a bracket. */
async function readJsonArray(word: string, flag: string, terminal: Terminal): Promise<readonly unknown[]> {
  const isInline = word.trimStart().startsWith("[");
  const text = isInline ? word : await readSource(word, flag, terminal);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new UsageError(TEXT.flagNotJson(flag, reasonOf(error)));
  }
  if (Array.isArray(value)) return value;
  throw new UsageError(TEXT.flagNotArray(flag));
}

/** A file, or standard input. */
async function readSource(word: string, flag: string, terminal: Terminal): Promise<string> {
  if (word === STANDARD_INPUT) return terminal.readInput();
  try {
    return readFileSync(resolve(terminal.cwd, word), "utf8");
  } catch (error) {
    throw new UsageError(TEXT.flagFileUnreadable(flag, reasonOf(error)));
  }
}
