// Plans of cascades with the catalogue that ships: neighbouring tiers often share a model and differ in its effort, so thinking
// decides which tier begins.

import { describe, expect, it } from "vitest";
import { buildCatalog } from "../../../../src/catalog/build.ts";
import { readBuiltin } from "../../../../src/catalog/builtin.ts";
import type { Catalog } from "../../../../src/catalog/catalog.ts";
import type { ChatRequest } from "../../../../src/core/chat.ts";
import { type CascadeBounds, type Decision, effortOf } from "../../../../src/core/decision.ts";
import { writeEntry } from "../../../../src/core/requests/effort.ts";
import type { Tier } from "../../../../src/core/tiers.ts";
import type { ClientRequest } from "../../../../src/formats/format.ts";
import { openaiChat } from "../../../../src/formats/openai-chat/codec.ts";
import { planCascade } from "../../../../src/gateway/cascade/plan.ts";
import { decide } from "../../../../src/routing/decide.ts";
import { makeQuestion, makeTool } from "../../../support/catalog.ts";

const catalog = buildCatalog().catalog as Catalog;
const HARD =
  "Prove step by step that every bounded entire function is constant, and where the proof fails for real ones.";

/** The answers that are planned where this tier was decided, as tier and entry of a chain. */
function planned(tier: Tier, { words = "", ...chat }: Partial<ChatRequest> & { readonly words?: string } = {}) {
  const messages = [{ role: "user", content: `${HARD}${words}` }] as const;
  const question = makeQuestion({ chat: { ...chat, messages }, controls: { cascade: { pattern: "." } } });
  // The question is hard, so a ceiling alone decides its tier.
  const routeWithin = ({ floor, ceiling }: CascadeBounds): Decision =>
    decide({ ...question, cascade: { floor, ceiling: ceiling ?? floor } }, catalog);
  const decision = routeWithin({ floor: null, ceiling: tier });
  expect(decision.tier).toBe(tier);
  const call = {
    format: openaiChat,
    request: { ...question, body: {} } as unknown as ClientRequest,
    profile: null,
    constraints: question.constraints,
  };
  const plan = planCascade(call, decision, { catalog, cascadeWebhooks: { has: () => false }, routeWithin });
  if (plan?.state !== "planned") return plan?.because;
  return plan.plan.decisions.map((each) => {
    const effort = effortOf(each, each.model);
    return `${each.tier} ${writeEntry({ id: each.model, effort })}`;
  });
}

/** The tier with the first entry of its chain. */
function first(tier: Tier, withTools = false): string {
  const { chains, chainsWithTools } = readBuiltin().tiers;
  return `${tier} ${((withTools ? chainsWithTools : chains) as typeof chains)[tier][0]}`;
}

describe("the tier that begins in the built-in chains", () => {
  it.each<[decided: Tier, begins: Tier, next: Tier]>([
    ["NANO", "NANO", "SIMPLE"],
    // Thinking makes the small model of NANO cost more than half.
    ["SIMPLE", "SIMPLE", "LIGHT"],
    // The same model with and without thinking.
    ["LIGHT", "SIMPLE", "LIGHT"],
    ["STANDARD", "LIGHT", "STANDARD"],
    ["COMPLEX", "STANDARD", "COMPLEX"],
  ])("decided %s: %s, then %s", (decided, begins, next) => {
    expect(planned(decided)).toEqual([first(begins), first(next)]);
  });

  it.each<[decided: Tier, begins: Tier, next: Tier]>([
    ["NANO", "NANO", "SIMPLE"],
    ["SIMPLE", "NANO", "SIMPLE"],
    ["LIGHT", "LIGHT", "STANDARD"],
    ["STANDARD", "LIGHT", "STANDARD"],
    ["COMPLEX", "STANDARD", "COMPLEX"],
  ])("decided %s with tools: %s, then %s", (decided, begins, next) => {
    expect(planned(decided, { tools: [makeTool()] })).toEqual([first(begins, true), first(next, true)]);
  });

  it("is the lower one under a wide output cap as well, for a cap bounds the answers and does not lengthen them", () => {
    expect(planned("LIGHT", { maxOutputTokens: 4000 })).toEqual([first("SIMPLE"), first("LIGHT")]);
  });

  it("is the decided one where a long prompt costs more than the thinking", () => {
    expect(planned("LIGHT", { words: " and the harbour opens at dawn".repeat(4000) })).toEqual([
      first("LIGHT"),
      first("STANDARD"),
    ]);
  });

  it("is the decided one where the request's own effort makes both tiers think alike", () => {
    expect(planned("LIGHT", { effort: "medium" })).toEqual([
      first("LIGHT"),
      "STANDARD deepseek-v4.1-flash-1017@medium",
    ]);
  });
});
