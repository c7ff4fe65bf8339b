// Hosts that a request prefers: before score and price, behind health and open tool loops, and never a filter.

import { describe, expect, it } from "vitest";
import type { RoutingQuestion } from "../../../src/core/decision.ts";
import type { HostedModel, Model } from "../../../src/core/model.ts";
import type { SessionView } from "../../../src/core/session.ts";
import { decide } from "../../../src/routing/decide.ts";
import { makeCatalog, makeModel, makeProvider, makeQuestion, makeTool } from "../../support/catalog.ts";

const CHAT = "openai-chat";
const RESPONSES = "openai-responses";
const BECAUSE = "the tool 'web_search' is run only by providers of the Responses API";
const preferredFormat = { format: RESPONSES, because: BECAUSE };
const price = (usd: number) => ({ input: usd * 1e6, output: usd * 1e6, cacheRead: usd * 1e5, cacheWrite: null });

const chat = makeModel({ id: "chat", formats: [CHAT], price: price(1), scores: { overall: 90, single: 90 } });
const native = makeModel({
  ...{ id: "native", price: price(9), scores: { overall: 10, single: 10 } },
  formats: [RESPONSES],
});

function route(models: readonly Model[], question: Partial<RoutingQuestion> = {}) {
  const asked = makeQuestion({ prompt: "Write an email to my boss", chat: { tools: [makeTool()] } });
  const formats = [CHAT, RESPONSES];
  const providers = [makeProvider({ formats }), makeProvider({ id: "other", formats })];
  return decide({ ...asked, preferredFormat, ...question }, makeCatalog({ chains: { LIGHT: models }, providers }));
}

describe("a preferred format", () => {
  it("puts models that have it before better and cheaper ones, and says so", () => {
    expect(route([chat, native], { preferredFormat: null }).chain).toEqual(["chat", "native"]);
    const decision = route([chat, native]);
    expect(decision.chain).toEqual(["native", "chat"]);
    expect(decision.reasoning).toContain(`native is preferred: ${BECAUSE}`);
    expect(decision.candidates.every(({ removedBecause }) => removedBecause === null)).toBe(true);
  });

  it("changes nothing where no model of the chain has it", () => {
    const decision = route([chat]);
    expect(decision.chain).toEqual(["chat"]);
    expect(decision.reasoning).not.toContain("preferred");
  });

  it("chooses among the hosts of a model", () => {
    const { hosts: _, ...cheap } = makeModel({ id: "m", formats: [CHAT], price: price(1) });
    const dear: HostedModel = {
      ...{ ...cheap, provider: "other", host: "other", hostKey: "m@other", price: price(3) },
      formats: [RESPONSES],
    };
    const model = { ...cheap, hosts: [cheap, dear] };
    expect(route([model], { preferredFormat: null }).hosts).toEqual({ m: ["lab", "other"] });
    expect(route([model]).hosts).toEqual({ m: ["other", "lab"] });
  });

  it("comes after health", () => {
    expect(route([chat, native], { restingModels: new Map([["native", "failing"]]) }).chain).toEqual([
      "chat",
      "native",
    ]);
  });

  it("comes after an open tool loop", () => {
    expect(route([chat, native], { loopModel: "chat" }).chain).toEqual(["chat", "native"]);
  });

  it("is not given up for a cached prompt", () => {
    const sessionView: SessionView = {
      ...{ id: "s", last: null, loop: null, nowMs: 1_000_000 },
      cached: [{ session: "s", hostKey: "chat", keyId: null, tokens: 5000, trust: 1, atMs: 999_000 }],
    };
    expect(route([native, chat], { sessionView, preferredFormat: null }).chain).toEqual(["chat", "native"]);
    expect(route([native, chat], { sessionView }).chain).toEqual(["native", "chat"]);
  });
});
