// The routing fields on the wire, read into controls, and the decision written back. Behaviour 2.2, 6.1.

import { describe, expect, it } from "vitest";
import { NO_CONTROLS } from "../../../../src/core/decision.ts";
import { TIERS } from "../../../../src/core/tiers.ts";
import { isControlField, readControls } from "../../../../src/formats/service/controls.ts";
import { serviceHeaders, writeService } from "../../../../src/formats/service/service-object.ts";
import { readDebugRequest, writeDecision } from "../../../../src/http/v1/routing-debug.ts";
import { decide } from "../../../../src/routing/decide.ts";
import { makeCatalog, makeQuestion } from "../../../support/catalog.ts";
import { fc } from "../../../support/property.ts";

describe("readControls", () => {
  it("of an empty body is no control at all", () => {
    expect(readControls({})).toEqual(NO_CONTROLS);
  });

  it("names unknown fields, a few of them and none that is no plain name", () => {
    const { unknown, ...rest } = readControls({ service_teir_floor: "LIGHT", "service_a b": 1, services: 1, stop: 1 });
    expect(unknown).toEqual(["service_teir_floor"]);
    expect(rest).toEqual(NO_CONTROLS);
    const many = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`service_${index}`, 1]));
    expect(readControls(many).unknown).toHaveLength(5);
    expect(readControls({ [`service_${"x".repeat(99)}`]: 1 }).unknown).toEqual([]);
  });

  it("reads every field", () => {
    expect(
      readControls({
        model: "m",
        service_profile: "tier",
        service_tier: "LIGHT",
        service_tier_floor: "NANO",
        service_tier_ceiling: "COMPLEX",
        service_max_cost: 0.5,
        service_bfcl_min: 70,
        service_code_quality: 0,
        service_chat_quality: 2,
        service_host_order: "fastest",
        service_regions: ["eu"],
        service_zero_retention: true,
        service_providers: ["one"],
        service_excluded_providers: ["two"],
        service_max_latency_ms: 800,
        service_session: "s",
        service_escalate: "off",
        service_cascade: { tool_calls: true },
      }),
    ).toEqual({
      profile: "tier",
      model: "m",
      forcedTier: "LIGHT",
      tierFloor: "NANO",
      tierCeiling: "COMPLEX",
      maxCostUsd: 0.5,
      toolScoreMin: 70,
      codeQuality: 0,
      chatQuality: 2,
      hostOrder: "fastest",
      regions: ["eu"],
      zeroRetention: true,
      providers: ["one"],
      excludedProviders: ["two"],
      maxLatencyMs: 800,
      session: "s",
      escalate: "off",
      cascade: { tool_calls: true },
    });
  });

  it("does not look at service_tier outside the profile tier", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom("auto", "direct"), (service_tier, service_profile) => {
        expect(readControls({ service_tier, service_profile, model: "m" }).forcedTier).toBeNull();
      }),
    );
  });
});

describe("isControlField", () => {
  it.each([
    ["service_tier", true],
    ["service_", true],
    ["service_anything_at_all", true],
    ["service", false],
    ["Service_tier", false],
    ["xservice_tier", false],
  ])("%s: %s", (name, expected) => {
    expect(isControlField(name)).toBe(expected);
  });

  it("counts OpenRouter's fields by their form", () => {
    expect([isControlField("provider", { only: [] }), isControlField("models", ["a"])]).toEqual([true, true]);
    expect([isControlField("provider", "mine"), isControlField("models", "mine")]).toEqual([false, false]);
  });
});

describe("readDebugRequest", () => {
  it("makes a conversation of the prompt", () => {
    const { chat } = readDebugRequest({ prompt: "Hi", system_prompt: "Be brief.", max_output_tokens: 9 });
    expect(chat.messages).toEqual([
      { role: "system", content: "Be brief." },
      { role: "user", content: "Hi" },
    ]);
    expect(chat.maxOutputTokens).toBe(9);
  });

  it("adds the prompt to the messages, unless it is their newest question", () => {
    const hello = { role: "user", content: "Hello" };
    const messages = [hello, { role: "assistant", content: "Hi" }];
    const readMessages = (prompt: string): unknown => readDebugRequest({ prompt, messages }).chat.messages;
    expect(readMessages("And?")).toEqual([...messages, { role: "user", content: "And?" }]);
    expect(readMessages("Hello")).toEqual(messages);
    expect(readMessages(" ")).toEqual(messages);
  });

  it("knows the profile by either name", () => {
    expect(readDebugRequest({ prompt: "x", profile: "tier", service_tier: "NANO" }).controls.forcedTier).toBe("NANO");
    expect(
      readDebugRequest({ prompt: "x", profile: "auto", service_profile: "tier", service_tier: "NANO" }).controls
        .profile,
    ).toBe("tier");
  });
});

describe("a decision on the wire", () => {
  it("has the names of the specification", () => {
    const catalog = makeCatalog();
    for (const tier of TIERS) {
      const decision = decide(makeQuestion({ controls: { profile: "tier", forcedTier: tier } }), catalog);
      expect(writeDecision(decision, catalog)).toMatchObject({
        tier,
        profile: "tier",
        confidence: 1,
        bfclScore: null,
        toolScenario: null,
      });
      const outcome = { isFallback: true, savings: 0.123456, isUsageEstimated: false };
      expect(writeService(decision, outcome)).toEqual({
        model: decision.model,
        tier,
        profile: "tier",
        confidence: 1,
        savingsPct: 12.35,
        method: "tier",
        fallback: true,
      });
      expect(serviceHeaders(decision, outcome)).toMatchObject({
        "x-service-savings": "12.35%",
        "x-service-fallback": "true",
      });
    }
  });
});
