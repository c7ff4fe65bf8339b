import { describe, expect, it } from "vitest";
import { GatewayError } from "../../../src/core/errors.ts";
import type { Capability, Model } from "../../../src/core/model.ts";
import { decide } from "../../../src/routing/decide.ts";
import {
  type CatalogOverrides,
  makeCatalog,
  makeModel,
  makeQuestion,
  makeTool,
  type QuestionOverrides,
} from "../../support/catalog.ts";
import { fc } from "../../support/property.ts";

const price = (usdPerMillion: number) => ({
  input: usdPerMillion * 1e6,
  output: usdPerMillion * 1e6,
  cacheRead: null,
  cacheWrite: null,
});
const cheap = makeModel({ id: "cheap", price: price(1), scores: { overall: 40, single: 45 } });
const middle = makeModel({ id: "middle", price: price(5), scores: { overall: 80, single: 60 } });
const dear = makeModel({ id: "dear", price: price(20), scores: { overall: 50, single: 75 } });
const unscored = makeModel({ id: "unscored", price: price(2) });
const bare = (id: string, capabilities: readonly Capability[] = []) => makeModel({ id, capabilities });

function route(chains: CatalogOverrides["chains"], question: QuestionOverrides) {
  return decide(makeQuestion(question), makeCatalog({ chains: chains ?? {} }));
}

function failure(work: () => unknown): GatewayError {
  try {
    work();
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
  throw new Error("expected a GatewayError");
}

const LIGHT_PROMPT = "Write an email to my boss asking for a day off";
const IMAGE = {
  messages: [{ role: "user", content: [{ type: "text", text: LIGHT_PROMPT }, { type: "image_url" }] }],
} as const;
const ASK_WEATHER = { prompt: "What is the weather in Paris?", controls: { tierFloor: "LIGHT" } } as const;
const TOOLS = { tools: [makeTool()] };

describe("hard filters", () => {
  it("keep vision models for images and say why others went", () => {
    const decision = route({ LIGHT: [bare("blind"), bare("seeing", ["vision"])] }, { chat: IMAGE });
    expect(decision.chain).toEqual(["seeing"]);
    expect(decision.candidates).toEqual([
      { model: "seeing", removedBecause: null },
      { model: "blind", removedBecause: "no vision" },
    ]);
  });

  it("keep models with tools when tools are offered", () => {
    const chains = { LIGHT: [bare("mute"), bare("handy", ["tools"])] };
    expect(route(chains, { ...ASK_WEATHER, chat: TOOLS }).chain).toEqual(["handy"]);
    expect(route(chains, ASK_WEATHER).chain).toEqual(["mute", "handy"]);
  });

  it("keep models whose context window fits", () => {
    const small = makeModel({ id: "small", context: 100 });
    const decision = route({ LIGHT: [small, cheap] }, { prompt: `Summarize: ${"word ".repeat(500)}` });
    expect(decision.chain).toEqual(["cheap"]);
    expect(decision.candidates[1]?.removedBecause).toMatch(/context window of 100 tokens/);
  });

  const constraintCases = [
    ["capabilities", { capabilities: ["reasoning"] }, /no reasoning, which the profile requires/],
    ["allowed models", { allowedModels: ["good"] }, /allowed/],
    ["blocked models", { blockedModels: ["bad"] }, /blocked/],
  ] as const;
  it.each(constraintCases)("honour the profile's %s", (_name, constraints, reason) => {
    const chains = { LIGHT: [bare("bad"), bare("good", ["reasoning"])] };
    const decision = route(chains, { prompt: LIGHT_PROMPT, constraints });
    expect(decision.chain).toEqual(["good"]);
    expect(decision.candidates[1]?.removedBecause).toMatch(reason);
  });

  const withPart = (type: string) => {
    const content = [{ type: "text", text: LIGHT_PROMPT }, { type }];
    return { chat: { messages: [{ role: "user", content }] as const } };
  };
  it("ask for audio always, and for files only where the catalogue knows of them", () => {
    const chains = { LIGHT: [bare("a"), bare("b", ["audio", "files"])] };
    expect(route(chains, withPart("input_audio")).chain).toEqual(["b"]);
    expect(route(chains, withPart("file")).chain).toEqual(["b"]);
    expect(route({ LIGHT: [bare("a")] }, withPart("file")).chain).toEqual(["a"]);
    expect(failure(() => route({ LIGHT: [bare("a")] }, withPart("input_audio"))).details.code).toBe("no_capable_model");
  });

  it("ask for a provider whose format has the content", () => {
    const takesPart = ({ id }: { id: string }, type: string) => id === "b" || type === "text";
    const decision = route({ LIGHT: [bare("a"), bare("b")] }, { ...withPart("video_url"), takesPart });
    expect(decision.chain).toEqual(["b"]);
    const removedBecause = 'cannot be sent content of the type "video_url"';
    expect(decision.candidates).toContainEqual({ model: "a", removedBecause });
    const error = failure(() => route({ LIGHT: [bare("a")] }, { ...withPart("video_url"), takesPart }));
    expect(error.message).toContain('takes content of the type "video_url"');
    expect(error.details.code).toBe("no_capable_model");
  });
});

describe("tier moves", () => {
  const seeing = bare("seeing", ["vision"]);
  it("go to the next higher tier that is able", () => {
    const decision = route(
      { LIGHT: [bare("x")], STANDARD: [bare("y")], COMPLEX: [seeing], SIMPLE: [seeing] },
      { chat: IMAGE },
    );
    expect(decision.tier).toBe("COMPLEX");
    expect(decision.reasoning).toContain("no model of the LIGHT chain supports vision, so COMPLEX was used");
    expect(decision.candidates).toContainEqual({ model: "x", removedBecause: "no vision" });
  });

  it("stay within the ceiling, then go to the next lower", () => {
    const chains = { NANO: [seeing], SIMPLE: [bare("s")], LIGHT: [bare("x")], COMPLEX: [seeing] };
    const decision = route(chains, { chat: IMAGE, controls: { tierCeiling: "STANDARD" } });
    expect(decision.tier).toBe("NANO");
  });

  it("fail with the name of what is missing", () => {
    const error = failure(() =>
      route({ LIGHT: [bare("x", ["tools"])], COMPLEX: [bare("y")] }, { chat: { ...IMAGE, ...TOOLS } }),
    );
    expect(error.kind).toBe("badRequest");
    expect(error.details.code).toBe("no_capable_model");
    expect(error.message).toContain("vision");
    expect(error.message).not.toContain("tools");
  });

  it("fail with a code of its own when a shorter conversation would be taken", () => {
    const long = { messages: [{ role: "user" as const, content: "word ".repeat(400_000) }] };
    const tooLong = failure(() => route({ LIGHT: [bare("x")] }, { chat: long }));
    expect(tooLong.details.code).toBe("context_length_exceeded");
    expect(tooLong.message).toContain("a context window of");
    const blindToo = failure(() => route({ LIGHT: [bare("x")] }, { chat: { ...long, ...TOOLS } }));
    expect(blindToo.details.code).toBe("no_capable_model");
  });

  it("fail with the ceiling under which there is no model", () => {
    const error = failure(() => route({ COMPLEX: [seeing] }, { controls: { tierCeiling: "NANO" } }));
    expect(error.details.code).toBe("no_capable_model");
    expect(error.message).toContain("No model is connected for NANO. Raise the ceiling");
  });

  it("name all needs when only their combination is missing", () => {
    const chains = { LIGHT: [bare("x", ["tools"]), bare("y", ["vision"])] };
    expect(failure(() => route(chains, { chat: { ...IMAGE, ...TOOLS } })).message).toMatch(
      /^No connected model supports vision and supports tools at once\./,
    );
  });
});

describe("soft filters", () => {
  const chains = { LIGHT: [dear, middle, unscored, cheap] };
  const asked = (controls: QuestionOverrides["controls"], more: QuestionOverrides = {}) =>
    route(chains, { ...ASK_WEATHER, ...more, controls: { tierFloor: "LIGHT", ...controls } });

  it("remove what costs more than the maximum, the lower of request and profile", () => {
    expect(asked({ maxCostUsd: 0.003 }).chain).toEqual(["middle", "unscored", "cheap"]);
    expect(asked({ maxCostUsd: 1 }, { constraints: { maxCostUsd: 0.0015 } }).chain).toEqual(["unscored", "cheap"]);
  });

  it("remove what scores below the minimum, the higher of request and profile, or has no score", () => {
    expect(asked({ toolScoreMin: 50 }, { chat: TOOLS }).chain).toEqual(["dear", "middle"]);
    expect(asked({ toolScoreMin: 50 }, { chat: TOOLS, constraints: { toolScoreMin: 70 } }).chain).toEqual(["dear"]);
  });

  it("count the minimum score only with tools", () => {
    expect(asked({ toolScoreMin: 99 }).chain).toEqual(["dear", "middle", "unscored", "cheap"]);
    expect(asked({ toolScoreMin: 99 }).reasoning).not.toContain("ignored: no model qualifies");
  });

  it.each([
    ["max cost 0.000001 USD ignored", { maxCostUsd: 0.000001 }],
    ["minimum function-calling score 99 ignored", { toolScoreMin: 99 }],
    ["minimum function-calling score 99 ignored", { toolScoreMin: 99, maxCostUsd: 0.003 }],
    ["max cost 0.0015 USD and minimum function-calling score 70 ignored", { toolScoreMin: 70, maxCostUsd: 0.0015 }],
  ])("%s: the full chain", (note, controls) => {
    const decision = asked(controls, { chat: TOOLS });
    expect(decision.chain).toEqual(["dear", "middle", "unscored", "cheap"]);
    expect(decision.reasoning).toContain(note);
    expect(decision.candidates.every((candidate) => candidate.removedBecause === null)).toBe(true);
  });

  it("keep exactly the models that pass both, or the whole chain", () => {
    const maxCost = fc.option(fc.double({ min: 0, max: 0.02, noNaN: true }));
    const minScore = fc.option(fc.double({ min: 0, max: 100, noNaN: true }));
    fc.assert(
      fc.property(maxCost, minScore, (maxCostUsd, toolScoreMin) => {
        const decision = asked({ maxCostUsd, toolScoreMin }, { chat: TOOLS });
        const costOf = (id: string) =>
          Number(route({ LIGHT: [find(id)] }, { ...ASK_WEATHER, chat: TOOLS }).costEstimate) / 1e9;
        const passes = (model: Model) =>
          (maxCostUsd === null || costOf(model.id) <= maxCostUsd) &&
          (toolScoreMin === null || (model.scores?.single ?? -1) >= toolScoreMin);
        const passing = chains.LIGHT.filter(passes).map((model) => model.id);
        expect(decision.chain).toEqual(passing.length > 0 ? passing : chains.LIGHT.map((model) => model.id));
      }),
      { numRuns: 60 },
    );
  });

  const find = (id: string) => chains.LIGHT.find((model) => model.id === id) as Model;
});

describe("the order of trying", () => {
  it("is the scenario's score with tools, unscored models in the middle, and as configured without", () => {
    const chains = { LIGHT: [unscored, cheap, middle, dear] };
    const decision = route(chains, { ...ASK_WEATHER, chat: TOOLS });
    expect(decision.chain).toEqual(["dear", "unscored", "middle", "cheap"]);
    expect(decision).toMatchObject({ toolScenario: "single", toolScore: 75, model: "dear" });
    expect(decision.reasoning).toContain("ordered by function-calling score for single");
    // That order is to be expected, so it is not among what was adjusted.
    expect(decision.adjustments).toEqual(["requested floor raised SIMPLE to LIGHT"]);
    expect(route(chains, ASK_WEATHER).chain).toEqual(["unscored", "cheap", "middle", "dear"]);
  });

  it("falls back to the overall score where a scenario was not measured", () => {
    const chat = { tools: [makeTool({ name: "memory_store" })] };
    expect(route({ LIGHT: [cheap, dear, middle] }, { ...ASK_WEATHER, chat }).chain).toEqual([
      "middle",
      "dear",
      "cheap",
    ]);
  });

  it("puts resting models last and says so, unless all rest", () => {
    const chains = { LIGHT: [cheap, middle, dear] };
    const decision = route(chains, { prompt: LIGHT_PROMPT, restingModels: ["cheap", "middle"] });
    expect(decision.chain).toEqual(["dear", "cheap", "middle"]);
    expect(decision.reasoning).toContain("tried last: cheap, middle");
    expect(decision.adjustments?.at(-1)).toContain("tried last: cheap, middle");
    const allResting = route(chains, { prompt: LIGHT_PROMPT, restingModels: ["cheap", "middle", "dear"] });
    expect(allResting.chain).toEqual(["cheap", "middle", "dear"]);
  });
});

describe("what is remembered with a catalogue", () => {
  const chains = { LIGHT: [cheap, makeModel({ id: "seeing", capabilities: ["vision"] }), dear], COMPLEX: [middle] };
  const questions = [
    ASK_WEATHER,
    { ...ASK_WEATHER, chat: TOOLS },
    { chat: IMAGE },
    { prompt: LIGHT_PROMPT, restingModels: ["cheap"] },
    { prompt: LIGHT_PROMPT, controls: { maxCostUsd: 0.001 } },
    { prompt: LIGHT_PROMPT, controls: { hostOrder: "fastest" } },
    { prompt: LIGHT_PROMPT, constraints: { blockedModels: ["dear"] } },
    { prompt: LIGHT_PROMPT, controls: { tierFloor: "COMPLEX" } },
  ] as const satisfies readonly QuestionOverrides[];

  it("changes no decision, whatever was asked before", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...questions), { minLength: 1 }), (asked) => {
        const catalog = makeCatalog({ chains });
        for (const question of asked) {
          expect(decide(makeQuestion(question), catalog)).toEqual(decide(makeQuestion(question), { ...catalog }));
        }
      }),
    );
  });

  it("is the chain as it is put together for every other request", () => {
    const catalog = makeCatalog({ chains });
    const usual = decide(makeQuestion({ prompt: LIGHT_PROMPT }), catalog);
    // A cost that every model keeps is a filter all the same.
    const filtered = decide(makeQuestion({ prompt: LIGHT_PROMPT, controls: { maxCostUsd: 1_000 } }), catalog);
    expect({ ...usual, controls: null }).toEqual({ ...filtered, controls: null });
  });
});
