// What an answer costs, row by row as docs/concepts/charging.md has it, to the nano-USD; and after each, nothing is left on hold.

import { once } from "node:events";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { HELLO } from "../../support/gateway/gateway.ts";
import {
  answers,
  type Behaviour,
  chunk,
  completion,
  cuts,
  cutsBody,
  event,
  fails,
  hangs,
  sends,
  streams,
  textChunks,
  USAGE,
} from "../../support/providers/fake-provider.ts";
import {
  type Bank,
  type Leavable,
  type ModelId,
  openBank,
  owed,
  PRICES,
  type Tokens,
} from "../../support/stores/money.ts";

const TEXT = "Paris is the capital of France.";

let bank: Bank;
/** The gateway's own guess at a prompt of 30 characters, as it tells it to the client. */
let promptTokens: number;
beforeAll(async () => {
  bank = await openBank();
  bank.provider.on("alpha", answers(TEXT, { usage: undefined }));
  const answer = (await (await bank.ask()).json()) as { usage: { prompt_tokens: number } };
  promptTokens = answer.usage.prompt_tokens;
  expect(promptTokens).toBeGreaterThan(5);
  expect(promptTokens).toBeLessThan(20);
});
beforeEach(async () => {
  bank.provider.reset();
  for (const model of ["alpha", "beta"]) await bank.ask({ model, service_profile: "direct" });
  bank.provider.reset();
});
afterAll(() => bank.close());

/** One answer, read to its end. */
async function spend(body: object = {}): Promise<{ spent: bigint; text: string; status: number }> {
  let text = "";
  let status = 0;
  const spent = await bank.spentBy(async () => {
    const answer = await bank.ask(body);
    status = answer.status;
    text = await answer.text();
  });
  return { spent, text, status };
}

const usage = (prompt: number, completionTokens: number, extra: object = {}): object => ({
  prompt_tokens: prompt,
  completion_tokens: completionTokens,
  total_tokens: prompt + completionTokens,
  ...extra,
});
const whole = (used: unknown): Behaviour => answers(TEXT, { usage: used });
const streamed =
  (used: object | null): Behaviour =>
  (exchange) =>
    streams(textChunks(TEXT, exchange.request.body.model), { usage: used })(exchange);

const finishWith =
  (used: object): Behaviour =>
  (exchange) => {
    const chunks = textChunks(TEXT, "alpha");
    return streams([...chunks.slice(0, -1), { ...chunk("alpha", {}, "stop"), usage: used }])(exchange);
  };
const groqs: Behaviour = streams([
  ...textChunks(TEXT, "alpha").slice(0, -1),
  { ...chunk("alpha", {}, "stop"), x_groq: { usage: usage(12, 5) } },
]);
const cumulates: Behaviour = streams(
  textChunks(TEXT, "alpha").map((each, index) => ({ ...(each as object), usage: usage(12, index) })),
);

interface Row {
  readonly name: string;
  readonly behaviour: Behaviour;
  readonly body?: object;
  readonly model?: ModelId;
  readonly tokens: Tokens;
}

const REPORTED: readonly Row[] = [
  { name: "whole", behaviour: whole(USAGE), tokens: { input: 12, output: 5 } },
  { name: "streamed", behaviour: streamed(USAGE), body: { stream: true }, tokens: { input: 12, output: 5 } },
  {
    name: "streamed to a client that asked for usage",
    behaviour: streamed(USAGE),
    body: { stream: true, stream_options: { include_usage: true } },
    tokens: { input: 12, output: 5 },
  },
  {
    name: "usage on the finish chunk",
    behaviour: finishWith(usage(12, 5)),
    body: { stream: true },
    tokens: { input: 12, output: 5 },
  },
  { name: "usage in x_groq", behaviour: groqs, body: { stream: true }, tokens: { input: 12, output: 5 } },
  {
    name: "cumulative usage: the last counts, not the sum",
    behaviour: cumulates,
    body: { stream: true },
    tokens: { input: 12, output: textChunks(TEXT, "alpha").length - 1 },
  },
  {
    name: "cached tokens are part of the prompt and have their own price",
    behaviour: whole(usage(1000, 500, { prompt_tokens_details: { cached_tokens: 400 } })),
    tokens: { input: 600, cacheRead: 400, output: 500 },
  },
  {
    name: "cache writes",
    behaviour: whole(usage(1000, 7, { prompt_tokens_details: { cached_tokens: 100, cache_write_tokens: 300 } })),
    tokens: { input: 600, cacheRead: 100, cacheWrite: 300, output: 7 },
  },
  {
    name: "no cache prices: reads as input, writes at 1.25 × input",
    behaviour: whole(usage(1000, 7, { prompt_tokens_details: { cached_tokens: 100, cache_write_tokens: 301 } })),
    body: { model: "beta", service_profile: "direct" },
    model: "beta",
    tokens: { input: 599, cacheRead: 100, cacheWrite: 301, output: 7 },
  },
  {
    name: "more cached tokens than prompt: all of the prompt was cached",
    behaviour: whole(usage(10, 5, { prompt_tokens_details: { cached_tokens: 99 } })),
    tokens: { input: 0, cacheRead: 10, output: 5 },
  },
  {
    name: "reasoning is part of the output",
    behaviour: whole(usage(12, 500, { completion_tokens_details: { reasoning_tokens: 300 } })),
    tokens: { input: 12, output: 500 },
  },
  {
    name: "thoughts counted beside the output, streamed",
    behaviour: streamed({
      ...{ prompt_tokens: 12, completion_tokens: 5, total_tokens: 317 },
      completion_tokens_details: { reasoning_tokens: 300 },
    }),
    body: { stream: true },
    tokens: { input: 12, output: 305 },
  },
  {
    name: "a total that counts something else beside: as reported",
    behaviour: whole({
      ...{ prompt_tokens: 12, completion_tokens: 305, total_tokens: 400 },
      completion_tokens_details: { reasoning_tokens: 300 },
    }),
    tokens: { input: 12, output: 305 },
  },
  {
    name: "an empty answer whose reasoning used up the cap",
    behaviour: sends(200, {
      ...completion("", "alpha"),
      choices: [{ index: 0, message: { role: "assistant", content: "" }, finish_reason: "length" }],
      usage: usage(12, 200),
    }),
    tokens: { input: 12, output: 200 },
  },
  {
    name: "a refusal",
    behaviour: sends(200, {
      ...completion("", "alpha"),
      choices: [{ index: 0, message: { role: "assistant", content: null, refusal: "No." }, finish_reason: "stop" }],
    }),
    tokens: { input: 12, output: 5 },
  },
  {
    name: "a tool call alone, streamed",
    behaviour: streams(
      [
        chunk("alpha", {
          tool_calls: [{ index: 0, id: "c1", type: "function", function: { name: "f", arguments: "{}" } }],
        }),
        chunk("alpha", {}, "tool_calls"),
      ],
      { usage: USAGE },
    ),
    body: { stream: true, tools: [{ type: "function", function: { name: "f", parameters: { type: "object" } } }] },
    tokens: { input: 12, output: 5 },
  },
  {
    name: "several choices, as reported",
    behaviour: whole(usage(12, 900)),
    body: { n: 3, max_tokens: 300 },
    tokens: { input: 12, output: 900 },
  },
  {
    name: "above the cap, thinking counted apart",
    behaviour: whole(usage(12, 500)),
    body: { max_tokens: 10 },
    tokens: { input: 12, output: 500 },
  },
  {
    name: "above the cap, streamed",
    behaviour: streamed(usage(12, 500)),
    body: { max_tokens: 10, stream: true },
    tokens: { input: 12, output: 500 },
  },
  {
    name: "a prompt larger than the request, from a search of the provider's",
    behaviour: whole(usage(100_000, 5)),
    tokens: { input: 100_000, output: 5 },
  },
];

test.each(REPORTED)("reported usage: $name", async ({ behaviour, body, model = "alpha", tokens }) => {
  bank.provider.on(model, behaviour);
  const { spent, text, status } = await spend(body);
  expect(status).toBe(200);
  expect(text).not.toContain("usageEstimated");
  expect(spent).toBe(owed(tokens, PRICES[model]));
  const [line] = await bank.entries(1);
  expect(line).toMatchObject({ kind: "charge", model, requestId: expect.stringMatching(/^req_/) });
});

const IMPOSSIBLE: readonly { name: string; used: unknown }[] = [
  { name: "none at all", used: undefined },
  { name: "null", used: null },
  { name: "negative", used: usage(12, -5) },
  { name: "a negative prompt", used: usage(-12, 5) },
  { name: "strings", used: { prompt_tokens: "12", completion_tokens: "5" } },
  { name: "fractions", used: usage(12, 5.5) },
  { name: "10^18", used: usage(1e18, 1e18) },
  { name: "no output counted although there is some", used: usage(12, 0) },
];

describe.each(IMPOSSIBLE)("usage that is $name", ({ used }) => {
  const expected = () => owed({ input: promptTokens, output: Math.ceil(TEXT.length / 4) }, PRICES.alpha);

  test("whole: an estimate from what was delivered, and marked", async () => {
    bank.provider.on("alpha", whole(used));
    const { spent, text } = await spend();
    expect(spent).toBe(expected());
    const counted = { prompt_tokens: promptTokens, completion_tokens: Math.ceil(TEXT.length / 4) };
    expect(JSON.parse(text)).toMatchObject({ service: { usageEstimated: true }, usage: counted });
  });

  test("streamed: the same", async () => {
    bank.provider.on("alpha", streamed((used ?? null) as object | null));
    const { spent, text } = await spend({ stream: true });
    expect(spent).toBe(expected());
    expect(text).toContain('"usageEstimated":true');
  });
});

test("an estimate stays within the cap", async () => {
  bank.provider.on("alpha", answers("x".repeat(10_000), { usage: undefined }));
  expect((await spend({ max_tokens: 7 })).spent).toBe(owed({ input: promptTokens, output: 7 }, PRICES.alpha));
});

const EMPTY: readonly (readonly [string, Behaviour])[] = [
  ["an empty body", sends(200, "")],
  ["no choices", sends(200, { ...completion("", "alpha"), choices: [] })],
  ["no content and no tokens", sends(200, { ...completion("", "alpha"), usage: usage(12, 0) })],
  ["a page of HTML", sends(200, "<html>hello</html>")],
  ["truncated JSON", sends(200, '{"id":"x","choices":[{"index":0,')],
  ["an error inside of a 200", sends(200, { error: { message: "no" } })],
  ["a cut in the body", cutsBody],
  ["a 500", fails(500)],
  ["a 401 of the provider's", fails(401)],
  ["a cut connection", cuts],
];

describe.each(EMPTY)("%s", (_, behaviour) => {
  test("falls back, and only the model that answered is charged", async () => {
    bank.provider.on("alpha", behaviour);
    const { spent, text } = await spend();
    expect(JSON.parse(text)).toMatchObject({ model: "beta", service: { model: "alpha", fallback: true } });
    expect(spent).toBe(owed({ input: 12, output: 5 }, PRICES.beta));
  });

  test("from every model is a 503 and costs nothing", async () => {
    bank.provider.on("*", behaviour);
    expect(await spend()).toMatchObject({ status: 503, spent: 0n });
  });
});

const said = chunk("alpha", { content: "Paris is" });
const BROKEN: readonly (readonly [string, Behaviour])[] = [
  ["is cut", streams([said], { ending: "cut" })],
  ["ends without a finish", streams([said], { ending: "end" })],
  ["says done without a finish", streams([said])],
  ["has an error event", streams([said, { error: { message: "overloaded" } }], { ending: "end" })],
  ["has an error after the finish", streams([said, chunk("alpha", {}, "stop"), { error: { message: "overloaded" } }])],
  ["has an event that is not JSON", streams([said, "data: {nonsense\n\n"])],
];

test.each(BROKEN)("a stream that %s costs nothing", async (_, behaviour) => {
  bank.provider.on("*", behaviour);
  const { spent, text } = await spend({ stream: true });
  expect(text).toContain('"error"');
  expect(text).not.toContain("[DONE]");
  expect(spent).toBe(0n);
});

test("a stream cut after its finish was a whole answer", async () => {
  bank.provider.on("alpha", streams(textChunks(TEXT, "alpha"), { ending: "cut" }));
  const { spent, text } = await spend({ stream: true });
  expect(text).toContain("[DONE]");
  expect(spent).toBe(owed({ input: promptTokens, output: Math.ceil(TEXT.length / 4) }, PRICES.alpha));
});

describe("a client that leaves", () => {
  const firstBytes = async ({ response }: Leavable): Promise<unknown> => once(await response, "data");
  /** A round trip to the gateway, so that what the provider sent has had its turn. */
  const aMoment = async (): Promise<unknown> => {
    for (let turn = 0; turn < 10; turn += 1) await bank.gateway.get("/healthz");
    return null;
  };
  const sixWords = chunk("alpha", { content: "one two three four five six" });
  const halfBody: Behaviour = ({ response }) => {
    response.writeHead(200, { "content-type": "application/json" });
    response.write('{"id":"x",');
  };
  const halfError: Behaviour = ({ response }) => {
    response.writeHead(500, { "content-type": "application/json" });
    response.write('{"error":');
  };

  interface Leaving {
    readonly name: string;
    readonly behaviour: Behaviour;
    readonly stream?: boolean;
    readonly until: (open: Leavable) => Promise<unknown>;
    readonly tokens: () => Tokens | null;
  }

  const inputOnly = (): Tokens => ({ input: promptTokens, output: 0 });
  const CASES: readonly Leaving[] = [
    { name: "before the headers", behaviour: hangs, until: aMoment, tokens: () => null },
    { name: "before the headers of a stream", behaviour: hangs, stream: true, until: aMoment, tokens: () => null },
    { name: "in the middle of an error", behaviour: halfError, until: aMoment, tokens: () => null },
    { name: "in the middle of a whole answer", behaviour: halfBody, until: aMoment, tokens: inputOnly },
    {
      name: "in the middle of a whole answer to a request for a stream",
      behaviour: halfBody,
      stream: true,
      until: aMoment,
      tokens: inputOnly,
    },
    {
      name: "after the headers of a stream",
      behaviour: streams([chunk("alpha", { role: "assistant" })], { ending: "hang" }),
      stream: true,
      until: aMoment,
      tokens: inputOnly,
    },
    {
      name: "in the middle of a stream",
      behaviour: streams([sixWords], { ending: "hang" }),
      stream: true,
      until: firstBytes,
      tokens: () => ({ input: promptTokens, output: 7 }),
    },
    {
      name: "when the usage so far says more than a guess could",
      behaviour: streams([{ ...sixWords, usage: usage(12, 9) }], { ending: "hang" }),
      stream: true,
      until: firstBytes,
      tokens: () => ({ input: 12, output: 9 }),
    },
    {
      name: "when the usage so far lags behind",
      behaviour: streams([{ ...chunk("alpha", { role: "assistant" }), usage: usage(12, 1) }, sixWords], {
        ending: "hang",
      }),
      stream: true,
      until: firstBytes,
      tokens: () => ({ input: 12, output: 7 }),
    },
    {
      name: "after the finish, before the end",
      behaviour: streams([sixWords, chunk("alpha", {}, "stop")], { ending: "hang" }),
      stream: true,
      until: firstBytes,
      tokens: () => ({ input: promptTokens, output: 7 }),
    },
  ];

  test.each(CASES)("$name", async ({ behaviour, stream = false, until, tokens }) => {
    bank.provider.on("*", behaviour);
    const spent = await bank.spentBy(async () => {
      const received = bank.provider.nextRequest();
      const open = bank.open({ stream });
      const { closed } = await received;
      await until(open);
      open.leave();
      await closed;
    });
    const used = tokens();
    expect(spent).toBe(used === null ? 0n : owed(used, PRICES.alpha));
    expect(bank.provider.requests).toHaveLength(1);
  });
});

describe("what is refused or free costs nothing", () => {
  test.each([
    ["not JSON", "/v1/chat/completions", "{", 400],
    ["no messages", "/v1/chat/completions", {}, 422],
    ["a model that is not offered", "/v1/chat/completions", { ...HELLO, model: "x", service_profile: "direct" }, 404],
    ["a bad control", "/v1/chat/completions", { ...HELLO, service_max_cost: -1 }, 400],
    ["the debug endpoint", "/v1/routing/debug", { prompt: "hello" }, 200],
  ])("%s", async (_, path, body, status) => {
    expect(await bank.spentBy(async () => expect((await bank.gateway.post(path, body)).status).toBe(status))).toBe(0n);
    expect(bank.provider.requests).toHaveLength(0);
  });

  test("a request that the provider refuses", async () => {
    bank.provider.on("*", fails(400, { message: "bad temperature", code: "invalid_value", param: "temperature" }));
    expect(await spend({ temperature: 1 })).toMatchObject({ status: 400, spent: 0n });
  });

  test("the list of models, and a wrong key", async () => {
    const spent = await bank.spentBy(async () => {
      expect((await bank.gateway.get("/v1/models")).status).toBe(200);
      expect((await bank.ask({}, { authorization: "Bearer sk-service-wrong" })).status).toBe(401);
    });
    expect(spent).toBe(0n);
  });
});

describe("more than the hold", () => {
  const long = whole(usage(12, 4000));

  test("comes from what is free", async () => {
    bank.provider.on("alpha", long);
    expect((await spend()).spent).toBe(owed({ input: 12, output: 4000 }, PRICES.alpha));
  });

  test("what is not there is absorbed, logged, and never a debt", async () => {
    const small = await openBank({ creditsUsd: "0.01" });
    try {
      small.provider.on("alpha", long);
      expect((await small.ask()).status).toBe(200);
      await small.atRest();
      expect(await small.balance()).toEqual({ posted: 0n, held: 0n, available: 0n });
      const cost = owed({ input: 12, output: 4000 }, PRICES.alpha);
      const [line] = await small.entries();
      expect(Object.fromEntries(line!.entries.map(({ book, amountUsd }) => [book, amountUsd]))).toEqual({
        wallet: "-0.01",
        revenue: expect.stringMatching(/^0\.0/),
        absorbed: expect.stringMatching(/^-0\.0/),
      });
      const absorbed = { absorbedNano: String(cost - 10_000_000n) };
      const logged = small.gateway.logged.filter(({ fields }) => fields.event === "charge.exceeded_balance");
      expect(logged.map(({ fields }) => fields)).toEqual([expect.objectContaining(absorbed)]);
      expect((await small.ask()).status).toBe(402);
    } finally {
      await small.close();
    }
  });
});

describe.each(["0", "0.05", "0.333333", "0.000001", "1.5", "0.07"])("with a markup of %s", (markup) => {
  test("a request is rounded once, up", async () => {
    const other = await openBank({ markup, chain: ["wide"] });
    try {
      for (const [prompt, output] of [
        [1, 1],
        [2, 1],
        [7, 3],
        [999, 1001],
        [1003, 17],
      ] as const) {
        other.provider.on("wide", whole(usage(prompt, output)));
        const spent = await other.spentBy(() => other.ask());
        expect(spent).toBe(owed({ input: prompt, output }, PRICES.wide, markup));
      }
    } finally {
      await other.close();
    }
  });
});

test("the sum of a stream event is what the client sees", async () => {
  bank.provider.on("alpha", streamed(usage(12, 5)));
  const { text } = await spend({ stream: true, stream_options: { include_usage: true } });
  expect(text).toContain(event({ prompt_tokens: 12, completion_tokens: 5, total_tokens: 17 }).slice(6, -2));
});
