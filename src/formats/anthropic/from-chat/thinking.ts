// Thinking and effort of a Messages request, in the form that the model accepts.

import type { HostedModel } from "../../../core/model.ts";
import { type Effort, isEffort } from "../../../core/requests/effort.ts";
import type { Conversion } from "../../convert/conversion.ts";
import { budgetForEffort, effortForBudget, nearestEffort } from "../../convert/effort.ts";
import { isObject, type JsonObject } from "../../json/fields.ts";
import { blocksIn, isThinking, type Turn } from "../blocks.ts";

/** The least budget the API accepts. */
const BUDGET_MIN = 1024;

/** Facts that decide in which form a model can be asked to think. */
interface ThinkingInput {
  readonly body: JsonObject;
  readonly turns: readonly Turn[];
  readonly model: HostedModel;
  readonly maxTokens: number;
  /** Set where the thinking of earlier turns was left out because the provider refused it. */
  readonly isHistoryStripped?: boolean;
}

/** Fields to be changed, null for those to be left out; nothing when the model takes the request as it is. */
export function adaptThinking(input: ThinkingInput, conversion: Conversion): JsonObject {
  const thinking = isObject(input.body.thinking) ? input.body.thinking : null;
  const output = isObject(input.body.output_config) ? input.body.output_config : null;
  return { ...changedThinking(thinking, input, conversion), ...changedOutput({ thinking, output }, input, conversion) };
}

/** Thinking for a wish that came as an effort alone, from chat-completions. */
export function thinkingForEffort(
  effort: Effort,
  { turns, model, maxTokens }: Omit<ThinkingInput, "body">,
): JsonObject | null {
  const form = model.dialect.thinking ?? "adaptive";
  if (effort === "none" || form === "none" || !model.capabilities.has("reasoning")) return null;
  if (form === "adaptive") return { type: "adaptive" };
  return lacksThinking(turns) ? null : withBudget(budgetForEffort(effort), maxTokens);
}

/**
 * Asks for an effort in a client's own request. Models that think adaptively need no more: a field that asks for thinking
 * would put it before the text of an answer whose client expects none.
 */
export function effortFields(
  effort: Effort,
  { body, model }: { readonly body: JsonObject; readonly model: HostedModel },
): JsonObject {
  if (effort === "none") return thinkingOff(model);
  return { output_config: { ...(isObject(body.output_config) ? body.output_config : {}), effort } };
}

/** Keeps a model from thinking, where it would by itself. */
export function thinkingOff({
  dialect: { thinking = "adaptive", efforts = [], thinkingOff: type },
}: HostedModel): JsonObject {
  if (thinking !== "adaptive" || !efforts.includes("none")) return {};
  return { thinking: { type: type ?? "disabled" } };
}

function changedThinking(thinking: JsonObject | null, input: ThinkingInput, conversion: Conversion): JsonObject {
  const { body, turns, model, maxTokens } = input;
  const form = model.dialect.thinking;
  if (thinking === null || thinking.type === "disabled") return {};
  if (form === undefined) {
    const isRefused = input.isHistoryStripped === true && thinking.type === "enabled" && lacksThinking(turns);
    return isRefused ? without("thinking", "the open tool call was made without it", conversion) : {};
  }
  if (form === "none") return without("thinking", "it does not think", conversion);
  if (form === "adaptive") {
    if (thinking.type !== "enabled") return {};
    conversion.note("option_changed", "asked for adaptive thinking: the model takes no budget");
    const { budget_tokens: _, ...rest } = thinking;
    return { thinking: { ...rest, type: "adaptive" } };
  }
  if (lacksThinking(turns)) return without("thinking", "the open tool call was made without it", conversion);
  if (thinking.type === "enabled" && Number(thinking.budget_tokens) < maxTokens) return {};
  const budget = thinking.type === "enabled" ? Number(thinking.budget_tokens) : budgetForEffort(effortOf(body));
  const changed = withBudget(budget, maxTokens);
  if (changed === null) return without("thinking", "the output cap leaves no room for it", conversion);
  conversion.note(
    "option_changed",
    `asked for thinking with a budget of ${String(changed.budget_tokens)} tokens: the model takes no other form`,
  );
  return { thinking: changed };
}

function changedOutput(
  { thinking, output }: { thinking: JsonObject | null; output: JsonObject | null },
  { model }: ThinkingInput,
  conversion: Conversion,
): JsonObject {
  const { dialect } = model;
  if (dialect.efforts === undefined || dialect.thinking === undefined) return {};
  const isBudgetLost = dialect.thinking === "adaptive" && thinking?.type === "enabled" && output?.effort === undefined;
  const wanted = isBudgetLost ? effortForBudget(Number(thinking.budget_tokens)) : output?.effort;
  if (!isEffort(wanted)) return {};
  const effort = nearestEffort(wanted, dialect);
  if (effort === output?.effort) return {};
  conversion.note("option_changed", `asked for effort '${effort ?? "as usual"}' instead of '${wanted}'`);
  const { effort: _, ...rest } = output ?? {};
  const changed = effort === null ? rest : { ...rest, effort };
  return { output_config: Object.keys(changed).length === 0 ? null : changed };
}

function effortOf({ output_config: output }: JsonObject): Effort {
  return isObject(output) && isEffort(output.effort) ? output.effort : "medium";
}

function without(name: string, reason: string, conversion: Conversion): JsonObject {
  conversion.note("option_dropped", `dropped '${name}': ${reason}`);
  return { [name]: null };
}

/** The budget must leave room for the answer; null when there is none. */
function withBudget(wanted: number, maxTokens: number): JsonObject | null {
  const budget = Math.min(wanted, Math.floor(maxTokens / 2));
  return budget < BUDGET_MIN ? null : { type: "enabled", budget_tokens: budget };
}

/** Inside a tool loop a budget is refused when the turn that called the tool has no thinking to show for it. */
function lacksThinking(turns: readonly Turn[]): boolean {
  const lastAssistant = turns.findLastIndex((turn) => turn.role === "assistant");
  const answer = turns.slice(lastAssistant + 1).flatMap(blocksIn);
  const asked = turns[lastAssistant];
  if (asked === undefined || !answer.some((block) => block.type === "tool_result")) return false;
  const first = blocksIn(asked)[0];
  return first !== undefined && !isThinking(first);
}
