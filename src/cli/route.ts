// `switchyard route "prompt"`: the decision a request would get, as a card. Decided here, from the configuration: no
// provider is called, nothing is charged, and no server need run.

import { DEFAULT_ACCOUNT } from "../accounts/accounts.ts";
import type { Settings } from "../config/settings.ts";
import { type Constraints, type Decision, NO_CONSTRAINTS } from "../core/decision.ts";
import { formatUsd } from "../core/money.ts";
import { readDebugRequest, writeDecision } from "../formats/routing-debug.ts";
import { decide } from "../routing/decide.ts";
import type { Arguments } from "./arguments.ts";
import { withKeyRing } from "./key-ring.ts";
import { findProfile, profilesOf } from "./profiles.ts";
import { loadSettings, printProblems } from "./settings.ts";
import { formatTable } from "./table.ts";
import { type Terminal, thisTerminal } from "./terminal.ts";
import { explainFailure, isOn, splitFlags, textOf, UsageError } from "./usage.ts";

type Flags = Arguments["flags"];

/** Flags that become fields of the debug endpoint's request, which checks them. */
const FIELDS: Readonly<Record<string, { readonly field: string; readonly isNumber?: true }>> = {
  system: { field: "system_prompt" },
  model: { field: "model" },
  tier: { field: "service_tier" },
  floor: { field: "service_tier_floor" },
  ceiling: { field: "service_tier_ceiling" },
  "max-cost": { field: "service_max_cost", isNumber: true },
  "bfcl-min": { field: "service_bfcl_min", isNumber: true },
  "code-quality": { field: "service_code_quality", isNumber: true },
  "chat-quality": { field: "service_chat_quality", isNumber: true },
  "max-output": { field: "max_output_tokens", isNumber: true },
};

export async function route({ words, flags }: Arguments, terminal: Terminal = thisTerminal()): Promise<number> {
  try {
    const { own, config } = splitFlags(flags, [...Object.keys(FIELDS), "profile", "account", "json", "no-color"]);
    const prompt = words.join(" ");
    if (prompt.trim() === "") throw new UsageError('Say what to route: switchyard route "What is 2+2?"');
    const body = readBody(prompt, own);
    const loaded = loadSettings(config, terminal);
    if (!loaded.ok) return printProblems(loaded, terminal);
    const { catalog } = loaded.settings;
    const constraints = await constraintsOf(own, loaded.settings);
    const decision = decide({ ...readDebugRequest(body), constraints, restingModels: new Map() }, catalog);
    if (isOn(own, "json")) {
      const { candidates, classifiedTier = null, score = null } = decision;
      const answer = { decision: writeDecision(decision), classifiedTier, score, candidates };
      terminal.out(`${JSON.stringify(answer, null, 2)}\n`);
    } else terminal.out(card(decision, catalog.baseline.id));
    return 0;
  } catch (error) {
    return explainFailure(error, "route", terminal);
  }
}

function readBody(prompt: string, flags: Flags): Record<string, unknown> {
  const body: Record<string, unknown> = { prompt };
  for (const [flag, { field, isNumber }] of Object.entries(FIELDS)) {
    const text = textOf(flags, flag);
    if (text === null) continue;
    if (isNumber && !/^\d+(\.\d+)?$/.test(text)) throw new UsageError(`--${flag} is a number, not '${text}'.`);
    body[field] = isNumber ? Number(text) : field.startsWith("service_tier") ? text.toUpperCase() : text;
  }
  if (body.service_tier !== undefined) body.service_profile = "tier";
  else if (body.model !== undefined && body.model !== "auto") body.service_profile = "direct";
  return body;
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
  const saved = `${Math.round(decision.savings * 100)} % below ${baselineModel} at $${formatUsd(decision.baselineCost)}`;
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
