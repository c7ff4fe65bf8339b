// `switchyard route "prompt"`: the decision a request would get, as a card. Decided here, from the configuration: no
// provider is called, nothing is charged, and no server need run.

import { DEFAULT_ACCOUNT } from "../accounts/accounts.ts";
import type { Settings } from "../config/settings.ts";
import { type Constraints, type Decision, NO_CONSTRAINTS } from "../core/decision.ts";
import { GatewayError } from "../core/errors.ts";
import { formatUsd } from "../core/money.ts";
import { TIERS, type Tier } from "../core/tiers.ts";
import { readDebugRequest, writeDecision } from "../formats/service/routing-debug.ts";
import { decide } from "../routing/decide.ts";
import type { Arguments } from "./command/arguments.ts";
import { perform, printJson } from "./command/command.ts";
import { readJsonArray, readText } from "./command/input.ts";
import { formatTable } from "./command/table.ts";
import { type Terminal, thisTerminal } from "./command/terminal.ts";
import { isOn, splitFlags, textOf, UsageError } from "./command/usage.ts";
import { withKeyRing } from "./keys/key-store.ts";
import { readCount, readNumber, readQuality, readWord } from "./profiles/arguments.ts";
import { findProfile, profilesOf } from "./profiles/profiles.ts";

type Flags = Arguments["flags"];

interface Field {
  readonly field: string;
  readonly read: (text: string, flag: string) => unknown;
}

const readTier = (text: string, flag: string): Tier => readWord(text, TIERS, flag);
const readAsIs = (text: string): string => text;

/** Flags that become fields of the debug endpoint's request. */
const FIELDS: Readonly<Record<string, Field>> = {
  system: { field: "system_prompt", read: readAsIs },
  model: { field: "model", read: readAsIs },
  tier: { field: "service_tier", read: readTier },
  floor: { field: "service_tier_floor", read: readTier },
  ceiling: { field: "service_tier_ceiling", read: readTier },
  "max-cost": { field: "service_max_cost", read: readNumber },
  "bfcl-min": { field: "service_bfcl_min", read: (text, flag) => readNumber(text, flag, 100) },
  "code-quality": { field: "service_code_quality", read: readQuality },
  "chat-quality": { field: "service_chat_quality", read: readQuality },
  "max-output": { field: "max_output_tokens", read: readCount },
};

const OWN_FLAGS = [...Object.keys(FIELDS), "tools", "messages", "profile", "account", "json", "no-color"];

export function route({ words, flags }: Arguments, terminal: Terminal = thisTerminal()): Promise<number> {
  return perform({
    name: "route",
    terminal,
    async read() {
      const { own, config } = splitFlags(flags, OWN_FLAGS);
      const question = readQuestion(await readBody(words, own, terminal));
      return { order: { own, question, isJson: isOn(own, "json") }, config };
    },
    async carryOut({ own, question, isJson }, settings) {
      const constraints = await constraintsOf(own, settings);
      const decision = decide({ ...question, constraints, restingModels: new Map() }, settings.catalog);
      if (isJson) {
        const { candidates, classifiedTier = null, score = null } = decision;
        printJson({ decision: writeDecision(decision), classifiedTier, score, candidates }, terminal);
      } else {
        terminal.out(card(decision, settings.catalog.baseline.id));
        terminal.say("\nNo provider was called. Rules to keep: switchyard help profiles. For real: switchyard serve\n");
      }
      return 0;
    },
  });
}

async function readBody(words: readonly string[], flags: Flags, terminal: Terminal): Promise<Record<string, unknown>> {
  const prompt = await readText(words.join(" "), terminal);
  const body: Record<string, unknown> = { prompt };
  for (const [flag, { field, read }] of Object.entries(FIELDS)) {
    const text = textOf(flags, flag);
    if (text !== null) body[field] = read(text, flag);
  }
  if (body.service_tier !== undefined && body.model !== undefined) {
    throw new UsageError("--tier forces a tier and --model a model; give one of them.");
  }
  if (body.service_tier !== undefined) body.service_profile = "tier";
  else if (body.model !== undefined && body.model !== "auto") body.service_profile = "direct";
  const [tools, messages] = [textOf(flags, "tools"), textOf(flags, "messages")];
  if (tools !== null) body.tools = await readJsonArray(tools, "tools", terminal);
  if (messages !== null) Object.assign(body, withTurns(prompt, await readJsonArray(messages, "messages", terminal)));
  else if (prompt.trim() === "") throw new UsageError('Say what to route: switchyard route "What is 2+2?"');
  return body;
}

/** The prompt is the newest of the turns; without one they are the whole conversation. */
function withTurns(prompt: string, turns: readonly unknown[]): object {
  if (prompt.trim() === "") return { prompt: "messages", messages: turns };
  return { messages: [...turns, { role: "user", content: prompt }] };
}

function readQuestion(body: Record<string, unknown>): ReturnType<typeof readDebugRequest> {
  try {
    return readDebugRequest(body);
  } catch (error) {
    throw error instanceof GatewayError ? new UsageError(error.message) : error;
  }
}

/** Only a profile needs the database. */
async function constraintsOf(flags: Flags, { database }: Settings): Promise<Constraints> {
  const named = textOf(flags, "profile");
  if (named === null) return NO_CONSTRAINTS;
  const account = textOf(flags, "account") ?? DEFAULT_ACCOUNT;
  const profile = await withKeyRing(database, ({ db }) => findProfile(profilesOf(db), account, named));
  if (profile === null) throw new UsageError(`There is no profile '${named}'. See: switchyard profiles list.`);
  return profile.constraints;
}

function card(decision: Decision, baselineModel: string): string {
  const { tier, classifiedTier = tier, chain, candidates, toolScenario, toolScore, historyFloor } = decision;
  const moved = classifiedTier === tier ? tier : `${tier}  (classified ${classifiedTier})`;
  const saved = `${Math.floor(decision.savings * 1000) / 10} % below ${baselineModel} at $${formatUsd(decision.baselineCost)}`;
  const rows: string[][] = [
    ["Tier", moved],
    ["Model", decision.model],
    ["Category", decision.category],
    ["Decided by", `${decision.method}, confidence ${decision.confidence.toFixed(2)}`],
    ["Why", decision.reasoning],
    ["Cost", `about $${formatUsd(decision.costEstimate)}, ${saved}`],
    ["Tokens", `about ${decision.estimatedTokens.input} in, ${decision.estimatedTokens.output} out`],
    ["Chain", chain.join(" → ")],
  ];
  if (toolScenario !== null) rows.push(["Tools", `${toolScenario}, function-calling score ${toolScore ?? "unknown"}`]);
  if (historyFloor !== null) rows.push(["History", `not below ${historyFloor}`]);
  const removed = candidates.filter(({ removedBecause }) => removedBecause !== null);
  for (const { model, removedBecause } of removed) rows.push(["Left out", `${model}: ${removedBecause}`]);
  return formatTable(rows.map((row) => [`  ${row[0]}`, row[1] ?? ""]));
}
