import { describe, expect, test } from "vitest";
import { WRITERS } from "../../../ui/kit/snippet-text.ts";
import {
  chatBodyOf,
  contenderOf,
  draftFragment,
  draftFrom,
  EMPTY_DRAFT,
  questionOf,
  rulesOf,
  writeFragment,
} from "../../../ui/parts/playground-draft.ts";
import { parseReasoning } from "../../../ui/parts/reasoning.ts";
import { fc } from "../../support/property.ts";

describe("the draft", () => {
  test("survives its own link, whatever was typed", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), fc.string(), (prompt, system) => {
        const draft = {
          ...EMPTY_DRAFT,
          prompt,
          system,
          controls: { tierFloor: "LIGHT" },
          turns: [{ role: "user" as const, content: prompt }],
        };
        expect(draftFrom(draftFragment(draft))).toEqual(draft);
      }),
    );
  });

  test.each(["", "#s=", "#s=!!", "#/setup?token=x", "#s=bm90IGpzb24"])("is empty for the fragment %j", (hash) => {
    expect(draftFrom(hash)).toEqual(EMPTY_DRAFT);
  });

  test("asks what it would send", () => {
    const controls = { tierCeiling: "LIGHT", maxCostUsd: "0.01", codeQuality: "2" };
    const draft = { ...EMPTY_DRAFT, prompt: "Hi", system: "Be brief.", controls };
    expect(questionOf({ ...draft, profileId: "profile_1" })).toEqual({
      prompt: "Hi",
      system_prompt: "Be brief.",
      service_tier_ceiling: "LIGHT",
      service_max_cost: 0.01,
      service_code_quality: 2,
      profileId: "profile_1",
    });
    expect(chatBodyOf(draft)).toEqual({
      model: "auto",
      messages: [
        { role: "system", content: "Be brief." },
        { role: "user", content: "Hi" },
      ],
      service_tier_ceiling: "LIGHT",
      service_max_cost: 0.01,
      service_code_quality: 2,
    });
  });

  test.each<[string, object]>([
    ["profile:profile_2", { profileId: "profile_2" }],
    ["profile:", {}],
    ["tier:NANO", { profileId: "profile_1", service_profile: "tier", service_tier: "NANO" }],
    ["model:a:b", { profileId: "profile_1", service_profile: "direct", model: "a:b" }],
  ])("is compared with %s", (other, asked) => {
    const draft = { ...EMPTY_DRAFT, prompt: "Hi", profileId: "profile_1" };
    expect(questionOf(contenderOf(draft, other))).toEqual({ prompt: "Hi", ...asked });
  });

  test("takes from a link only what fits", () => {
    const odd = {
      prompt: 5,
      turns: [{ role: "root", content: "x" }, 7, { role: "user", content: "y" }],
      others: ["profile:", 1, "tier:NANO", "a", "b"],
      mode: "odd",
      floor: {},
      controls: { maxCostUsd: 1, unheard: "of" },
      cap: null,
      unheard: "of",
    };
    expect(draftFrom(writeFragment(odd))).toEqual({
      ...EMPTY_DRAFT,
      turns: [{ role: "user", content: "y" }],
      others: ["profile:", "tier:NANO", "a"],
    });
    expect(draftFrom(writeFragment({ turns: "no", others: 3, controls: ["LIGHT"] }))).toEqual(EMPTY_DRAFT);
  });

  test("reads the controls of a link that an earlier version made", () => {
    const controls = { tierFloor: "NANO", tierCeiling: "LIGHT", codeQuality: "1", chatQuality: "2" };
    const earlier = { floor: "NANO", ceiling: "LIGHT", code: "1", chat: "2", maxCost: "0.01", bfcl: "70" };
    expect(draftFrom(writeFragment(earlier)).controls).toEqual({ ...controls, maxCostUsd: "0.01", toolScoreMin: "70" });
  });

  test("becomes the rules of a profile", () => {
    const draft = { ...EMPTY_DRAFT, mode: "tier" as const, tier: "SIMPLE", controls: { toolScoreMin: "80" } };
    expect(rulesOf(draft)).toMatchObject({ tierFloor: "SIMPLE", tierCeiling: "SIMPLE", bfclMin: 80, maxCostUsd: null });
  });
});

describe("the reasoning", () => {
  test("is taken apart into score, signals and steps", () => {
    expect(
      parseReasoning("score 0.68 (STANDARD): coding task, short; requested floor raised LIGHT to STANDARD"),
    ).toEqual({
      score: "0.68",
      tier: "STANDARD",
      signals: ["coding task", "short"],
      steps: ["requested floor raised LIGHT to STANDARD"],
    });
  });

  test("of another shape stays as it is", () => {
    expect(parseReasoning("something else")).toEqual({
      score: null,
      tier: null,
      signals: [],
      steps: ["something else"],
    });
  });
});

describe("snippets", () => {
  const call = {
    origin: "https://gate.example",
    key: "sk-service-x",
    body: { model: "auto", messages: [], stream: true },
  };

  test("for the shell keep quotes inside their argument", () => {
    const text = WRITERS.curl?.({ ...call, body: { messages: [{ role: "user", content: "it's" }] } }) ?? "";
    expect(text).toContain(`"content":"it'\\''s"`);
  });

  test("for Python use its own words, but not inside strings", () => {
    const text = WRITERS.Python?.({
      ...call,
      body: { ...call.body, user: "true or null", service_tier_floor: "LIGHT" },
    });
    expect(text).toContain("stream=True,");
    expect(text).toContain('user="true or null",');
    expect(text).toContain('extra_body={"service_tier_floor":"LIGHT"},');
  });

  test("for Anthropic's client move the system prompt out of the messages", () => {
    const messages = [
      { role: "system", content: "Be brief." },
      { role: "user", content: "Hi" },
    ];
    const text = WRITERS.Anthropic?.({ ...call, body: { model: "auto", messages } }) ?? "";
    expect(text).toContain('baseURL: "https://gate.example"');
    expect(text).toContain('system: "Be brief."');
    expect(text).not.toContain('role: "system"');
  });
});
