// Cascades over HTTP: a cheaper model answers first, its answer is checked, and only one that fails goes to the next tier. In
// every format, with the reasons why a request may be answered without one.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  type CascadeAnswer,
  type CascadeWorld,
  FITS,
  MISFITS,
  openCascade,
  SCHEMA,
  says,
} from "../../support/cascade.ts";
import { completion, fails, sends } from "../../support/providers/fake-provider.ts";

let world: CascadeWorld;
beforeAll(async () => {
  world = await openCascade();
});
beforeEach(() => world.provider.reset());
afterAll(() => world.close());

interface Debugged {
  readonly cascade: { readonly unusedBecause: string };
}

const CHAT_SCHEMA = { type: "json_schema", json_schema: { name: "answer", schema: SCHEMA } };
const QUESTION = "What is the capital of France?";

/** The same request in every format, with the format's own schema, and the text of its answer. */
const FORMATS = [
  {
    path: "/v1/chat/completions",
    body: { messages: [{ role: "user", content: QUESTION }], response_format: CHAT_SCHEMA },
    text: "choices.0.message.content",
    counts: ["usage.prompt_tokens", "usage.completion_tokens"],
  },
  {
    path: "/v1/messages",
    body: {
      max_tokens: 200,
      messages: [{ role: "user", content: QUESTION }],
      output_config: { format: { type: "json_schema", schema: SCHEMA } },
    },
    text: "content.0.text",
    counts: ["usage.input_tokens", "usage.output_tokens"],
  },
  {
    path: "/v1/responses",
    body: { input: QUESTION, text: { format: { ...CHAT_SCHEMA.json_schema, type: "json_schema" } } },
    text: "output.0.content.0.text",
    counts: ["usage.input_tokens", "usage.output_tokens"],
  },
  {
    path: "/v1beta/models/auto:generateContent",
    body: {
      contents: [{ role: "user", parts: [{ text: QUESTION }] }],
      generationConfig: {
        responseMimeType: "application/json",
        responseSchema: { type: "OBJECT", properties: { city: { type: "STRING" } }, required: ["city"] },
      },
    },
    text: "candidates.0.content.parts.0.text",
    counts: ["usageMetadata.promptTokenCount", "usageMetadata.candidatesTokenCount"],
  },
] as const;

/** The value at a place such as `choices.0.message`. */
function at(answer: object, place: string): unknown {
  return place.split(".").reduce<unknown>((found, step) => (found as Record<string, unknown>)[step], answer);
}

describe.each(FORMATS)("a cascade on $path", ({ path, body, text, counts }) => {
  const ask = async (cascade: unknown = true) => {
    const answer = await world.gateway.post(path, { model: "auto", ...body, service_cascade: cascade });
    expect(answer.status).toBe(200);
    return (await answer.json()) as CascadeAnswer;
  };

  it("keeps the cheaper answer where it passes", async () => {
    world.provider.on("small", says(FITS));
    const answer = await ask();
    expect(at(answer, text)).toBe(FITS);
    expect(answer.service).toMatchObject({ model: "small", tier: "NANO" });
    expect(answer.service.cascade).toEqual([
      { tier: "NANO", model: "small", costUsd: world.costUsd("small"), passed: true },
    ]);
    expect(answer.service).not.toHaveProperty("notes");
    expect(world.provider.requests.map(({ body: sent }) => sent.model)).toEqual(["small"]);
  });

  it("asks the next tier where it fails, and answers in its own format", async () => {
    world.provider.on("small", says(MISFITS));
    world.provider.on("middle", says(FITS, { prompt_tokens: 20, completion_tokens: 9 }));
    const answer = await ask();
    expect(at(answer, text)).toBe(FITS);
    // The usage is that of this answer; what both cost stands in `service`.
    expect(counts.map((place) => at(answer, place))).toEqual([20, 9]);
    expect(answer.service).toMatchObject({ model: "middle", tier: "SIMPLE", fallback: false });
    expect(answer.service.cascade).toMatchObject([
      { tier: "NANO", model: "small", passed: false, failedCheck: "json_schema", reason: "the text must have 'city'" },
      { tier: "SIMPLE", model: "middle", passed: true },
    ]);
    expect(answer.service.costUsd).toBe(world.costUsd("small", ["middle", 20, 9]));
    expect(answer.service.notes).toMatchObject([{ code: "cascade_used" }]);
  });

  it("gives the last answer with a note where that fails, too", async () => {
    world.provider.on("*", says(MISFITS));
    const answer = await ask();
    expect(at(answer, text)).toBe(MISFITS);
    expect(answer.service.notes.map(({ code }) => code)).toEqual(["cascade_used", "cascade_unmet"]);
    expect(world.provider.callsTo("large")).toBe(0);
  });

  it("never sends its own field on", async () => {
    world.provider.on("*", says(MISFITS));
    await ask({ pattern: "^never$" });
    for (const { raw } of world.provider.requests) expect(raw).not.toContain("service_");
  });
});

const PLAIN = { model: "auto", messages: [{ role: "user", content: QUESTION }] };
const WEATHER = {
  type: "function",
  function: {
    name: "get_weather",
    parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  },
};
const TOOLS = { ...PLAIN, tools: [WEATHER] };

async function chat(body: object) {
  const answer = await world.gateway.post("/v1/chat/completions", { ...PLAIN, ...body });
  expect(answer.status).toBe(200);
  return (await answer.json()) as CascadeAnswer;
}

const calls = (name: string, args: string) =>
  sends(
    200,
    completion("", "small", {
      choices: [
        {
          index: 0,
          message: {
            role: "assistant",
            content: null,
            tool_calls: [{ id: "c1", type: "function", function: { name, arguments: args } }],
          },
          finish_reason: "tool_calls",
        },
      ],
    }),
  );

describe("a check", () => {
  it.each([
    ["a tool that was not offered", "get_time", "{}", "a tool was called that was not offered"],
    ["arguments that are no JSON", "get_weather", "{city:", "the arguments of 'get_weather' are no JSON object"],
    ["a missing argument", "get_weather", "{}", "the arguments of 'get_weather' must have 'city'"],
    ["a wrong type", "get_weather", '{"city":5}', "the arguments of 'get_weather' at /city must be of type string"],
  ])("of tool calls refuses %s", async (_what, name, args, reason) => {
    world.provider.on("small", calls(name, args));
    world.provider.on("middle", calls("get_weather", '{"city":"Rome"}'));
    const { service, choices } = await chat({ ...TOOLS, service_cascade: true });
    expect(service.cascade).toMatchObject([{ failedCheck: "tool_calls", reason }, { passed: true }]);
    expect(choices).toMatchObject([{ message: { tool_calls: [{ function: { arguments: '{"city":"Rome"}' } }] } }]);
  });

  it("of tool calls lets an answer without calls pass, unless one must be made", async () => {
    world.provider.on("*", says("It is sunny."));
    expect((await chat({ ...TOOLS, service_cascade: true })).service.cascade).toMatchObject([{ passed: true }]);
    const forced = await chat({ ...TOOLS, tool_choice: "required", service_cascade: true });
    expect(forced.service.cascade).toMatchObject([{ failedCheck: "tool_calls" }, { failedCheck: "tool_calls" }]);
  });

  it("of a pattern is made of the text", async () => {
    world.provider.on("small", says("It is Paris."));
    world.provider.on("middle", says("Paris"));
    const { service } = await chat({ service_cascade: { pattern: "^[A-Z][a-z]+$" } });
    expect(service.cascade).toMatchObject([{ failedCheck: "pattern" }, { tier: "SIMPLE", passed: true }]);
  });

  it("of a schema takes the one that is named before the request's own", async () => {
    world.provider.on("*", says(FITS));
    const named = { type: "object", required: ["country"] };
    const { service } = await chat({ response_format: CHAT_SCHEMA, service_cascade: { json_schema: named } });
    expect(service.cascade).toMatchObject([{ reason: "the text must have 'country'" }, { passed: false }]);
  });

  it("of JSON mode wants an object", async () => {
    world.provider.on("small", says("[1]"));
    world.provider.on("middle", says("{}"));
    const { service } = await chat({ response_format: { type: "json_object" }, service_cascade: true });
    expect(service.cascade).toMatchObject([{ failedCheck: "json" }, { passed: true }]);
  });

  it("says where the output cap cut the answer off", async () => {
    const cut = { index: 0, message: { role: "assistant", content: '{"city": "Pa' }, finish_reason: "length" };
    world.provider.on("small", sends(200, completion("", "small", { choices: [cut] })));
    world.provider.on("middle", says(FITS));
    const { service } = await chat({ response_format: CHAT_SCHEMA, service_cascade: true });
    expect(service.cascade[0]?.reason).toBe("the text is no JSON; the answer was cut off at its output cap");
  });
});

describe("a request is answered without a cascade, and told why,", () => {
  const SCHEMED = { response_format: CHAT_SCHEMA, service_cascade: true };

  it.each([
    ["where nothing can be checked", { service_cascade: true }, /nothing can be checked/, "SIMPLE"],
    [
      "where it forces a tier",
      { ...SCHEMED, service_profile: "tier", service_tier: "LIGHT" },
      /'service_profile' is 'tier'/,
      "LIGHT",
    ],
    [
      "where it names its model",
      { ...SCHEMED, model: "middle", service_profile: "direct" },
      /'service_profile' is 'direct'/,
      "SIMPLE",
    ],
    [
      "where floor and ceiling leave one tier",
      { ...SCHEMED, service_tier_floor: "SIMPLE", service_tier_ceiling: "SIMPLE" },
      /no other tier/,
      "SIMPLE",
    ],
    ["where both answers may cost too much", { ...SCHEMED, service_max_cost: 0.000_31 }, /0\.00031 USD/, "SIMPLE"],
  ])("%s", async (_where, body, message, tier) => {
    world.provider.on("*", says(MISFITS));
    const { service } = await chat(body);
    expect(service).toMatchObject({
      tier,
      notes: [{ code: "cascade_unused", message: expect.stringMatching(message) }],
    });
    expect(service).not.toHaveProperty("cascade");
    expect(world.provider.requests.length).toBe(1);
  });

  it("where it is streamed", async () => {
    world.provider.on("*", says(MISFITS));
    const answer = await world.gateway.post("/v1/chat/completions", { ...PLAIN, ...SCHEMED, stream: true });
    const text = await answer.text();
    expect(text).toContain("cascade_unused");
    expect(text).toContain("a stream is sent before it can be checked");
    expect(world.provider.requests.map(({ body }) => body.model)).toEqual(["middle"]);
  });
});

describe("the tiers of a cascade", () => {
  const SCHEMED = { response_format: CHAT_SCHEMA, service_cascade: true };
  const tiersOf = async (body: object) => (await chat({ ...SCHEMED, ...body })).service.cascade.map(({ tier }) => tier);

  beforeEach(() => world.provider.on("*", says(MISFITS)));

  it("begin below the decided one", async () => expect(await tiersOf({})).toEqual(["NANO", "SIMPLE"]));
  it("do not go below a floor, but above the decided one", async () => {
    expect(await tiersOf({ service_tier_floor: "SIMPLE" })).toEqual(["SIMPLE", "LIGHT"]);
  });
  it("stay below a ceiling", async () => {
    expect(await tiersOf({ service_tier_ceiling: "SIMPLE" })).toEqual(["NANO", "SIMPLE"]);
  });
  it("begin at the decided one where the tier below saves less than half", async () => {
    // STANDARD costs little more than LIGHT here.
    expect(await tiersOf({ service_tier_floor: "LIGHT", service_chat_quality: 2 })).toEqual(["STANDARD", "COMPLEX"]);
  });
});

describe("a provider that fails in a cascade", () => {
  const SCHEMED = { response_format: CHAT_SCHEMA, service_cascade: true };

  it("is passed over within its tier as ever", async () => {
    world.provider.on("small", fails(500));
    world.provider.on("spare", says(FITS));
    const { service } = await chat(SCHEMED);
    expect(service).toMatchObject({ tier: "NANO", fallback: true, cascade: [{ model: "spare", passed: true }] });
  });

  it("sends the request to the next tier where its whole tier fails", async () => {
    for (const model of ["small", "spare"]) world.provider.on(model, fails(400));
    world.provider.on("middle", says(FITS));
    const { service } = await chat(SCHEMED);
    expect(service).toMatchObject({ tier: "SIMPLE", cascade: [{ model: "middle", passed: true }] });
  });

  it("leaves the first answer, with a note, where the next tier fails", async () => {
    world.provider.on("small", says(MISFITS));
    world.provider.on("middle", fails(400));
    const answer = await chat(SCHEMED);
    expect(at(answer, "choices.0.message.content")).toBe(MISFITS);
    expect(answer.service).toMatchObject({
      model: "small",
      cascade: [{ model: "small", passed: false }],
      costUsd: world.costUsd("small"),
      notes: [{ code: "cascade_unmet", message: expect.stringContaining("every model of the next tier failed") }],
    });
  });

  it("is a 503 where both tiers fail", async () => {
    world.provider.on("*", fails(500));
    expect((await world.gateway.post("/v1/chat/completions", { ...PLAIN, ...SCHEMED })).status).toBe(503);
  });
});

describe("the control", () => {
  it.each([
    ["yes", /must be true, false or an object/],
    [{ schema: {} }, /takes json_schema, pattern, tool_calls/],
    [{ json_schema: [] }, /'service_cascade.json_schema' must be an object/],
    [{ pattern: "(" }, /it is no regular expression/],
    [{ pattern: "(?=a)" }, /looks ahead or behind, which is not supported/],
    [{ tool_calls: "no" }, /must be true or false/],
  ])("refuses %j", async (given, message) => {
    const answer = await world.gateway.post("/v1/chat/completions", { ...PLAIN, service_cascade: given });
    expect(answer.status).toBe(400);
    expect(((await answer.json()) as { error: { message: string } }).error.message).toMatch(message);
  });

  it.each([...FORMATS, { path: "/v1/routing/debug", body: { prompt: QUESTION } }])(
    "refuses a repeated name at $path, however deep it is",
    async ({ path, body }) => {
      for (const checks of ['{"pattern":"a","pattern":"b"}', '{"json_schema":{"required":["a"],"required":["b"]}}']) {
        const plain = JSON.stringify({ model: "auto", ...body });
        const answer = await world.gateway.post(path, `${plain.slice(0, -1)},"service_cascade":${checks}}`);
        expect(answer.status).toBe(400);
        expect(await answer.text()).toMatch(/The name .+ is repeated in an object/);
      }
      expect(world.provider.requests.length).toBe(0);
    },
  );

  it("may stand in a profile, and a request may leave it", async () => {
    world.provider.on("*", says(FITS));
    const made = await world.gateway.api("POST", "/api/profiles", { name: "checked", cascade: true });
    const { id } = (await made.json()) as { id: string };
    const issued = await world.gateway.api("POST", "/api/keys", { name: "k", profile: id });
    const { key } = (await issued.json()) as { key: string };
    const headers = { authorization: `Bearer ${key}` };
    const ask = async (body: object) => {
      const answer = await world.gateway.post("/v1/chat/completions", { ...PLAIN, ...body }, headers);
      return ((await answer.json()) as CascadeAnswer).service;
    };
    const schemed = { response_format: CHAT_SCHEMA };
    expect(await ask(schemed)).toMatchObject({ cascade: [{ tier: "NANO" }] });
    expect(await ask({ ...schemed, service_cascade: false })).not.toHaveProperty("cascade");
  });

  it("is explained by the debug endpoint, for the price of nothing", async () => {
    const debug = async (body: object) => {
      const answer = await world.gateway.post("/v1/routing/debug", { prompt: QUESTION, ...body });
      return ((await answer.json()) as { decision: Debugged }).decision;
    };
    expect(await debug({ response_format: CHAT_SCHEMA, service_cascade: true })).toMatchObject({
      tier: "SIMPLE",
      cascade: {
        checks: ["json_schema"],
        attempts: [
          { tier: "NANO", model: "small" },
          { tier: "SIMPLE", model: "middle" },
        ],
      },
    });
    expect((await debug({ service_cascade: true })).cascade.unusedBecause).toMatch(/nothing can be checked/);
    expect(await debug({})).not.toHaveProperty("cascade");
    expect(world.provider.requests.length).toBe(0);
  });
});
