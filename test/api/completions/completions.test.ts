// POST /v1/completions: a legacy request is answered by any model of the chain, with routing, money, fallback and
// idempotency as on chat-completions.

import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { expectError } from "../../support/errors.ts";
import { labYaml, startGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import {
  answers,
  chunk,
  completion,
  type FakeProvider,
  fails,
  sends,
  startFakeProvider,
  streams,
  USAGE,
} from "../../support/providers/fake-provider.ts";
import { type Json, readStream } from "../../support/providers/streams.ts";
import { type Bank, openBank, owed, PRICES } from "../../support/stores/money.ts";

const PROMPT = "The capital of France is";

let provider: FakeProvider;
let gateway: TestGateway;
beforeAll(async () => {
  provider = await startFakeProvider();
  gateway = await startGateway({ yaml: labYaml(provider.url), env: { DEBUG_ROUTING: "1" } });
});
afterEach(() => provider.reset());
afterAll(async () => {
  await gateway.stop();
  await provider.close();
});

const ask = (extra: object = {}, headers = {}): Promise<Response> =>
  gateway.post("/v1/completions", { model: "auto", prompt: PROMPT, ...extra }, headers);
async function read(answer: Response) {
  const { chunks, isDone, error } = await readStream(answer);
  return { events: chunks as readonly Json[], isDone, error };
}
const sentMessages = (): unknown => provider.requests.at(-1)?.body.messages;

describe("a whole completion", () => {
  it("is plain text with usage and the service object", async () => {
    const answer = await ask();
    expect(answer.headers.get("x-service-model")).toBe("alpha");
    const id = answer.headers.get("x-request-id");
    expect(await answer.json()).toEqual({
      id: `cmpl-${id}`,
      object: "text_completion",
      created: expect.any(Number),
      model: "alpha",
      choices: [{ text: "ok", index: 0, logprobs: null, finish_reason: "stop" }],
      usage: USAGE,
      service: expect.objectContaining({ model: "alpha", profile: "auto", fallback: false }),
    });
  });

  it("reaches the provider as a chat request, without what only the legacy format has", async () => {
    const legacy = { echo: false, best_of: 2, n: 2, logprobs: null, max_tokens: 7, stop: ["\n"], seed: 4, tools: [] };
    expect((await ask({ ...legacy, service_tier_floor: "LIGHT" })).status).toBe(200);
    const { path, body } = provider.requests[0] as (typeof provider.requests)[number];
    expect(path).toBe("/v1/chat/completions");
    const messages = [{ role: "user", content: PROMPT }];
    expect(body).toEqual({ model: "alpha", messages, n: 2, max_tokens: 7, stop: ["\n"], seed: 4 });
  });

  it("has no output cap unless the client sent one", async () => {
    await ask();
    expect(provider.requests[0]?.body).toEqual({ model: "alpha", messages: [{ role: "user", content: PROMPT }] });
  });

  it("takes a list of one prompt, and tells the model of a suffix", async () => {
    await ask({ prompt: [PROMPT] });
    expect(sentMessages()).toEqual([{ role: "user", content: PROMPT }]);
    await ask({ suffix: " in Europe." });
    expect(sentMessages()).toEqual([
      {
        role: "user",
        content: expect.stringMatching(/<before>The capital of France is<\/before>\n<after> in Europe\./),
      },
    ]);
  });

  it("repeats the prompt where echo asks for it, in every choice", async () => {
    const choice = (index: number, content: string) => ({
      index,
      message: { role: "assistant", content },
      finish_reason: index === 0 ? "length" : "stop",
    });
    provider.on("alpha", sends(200, completion("", "alpha", { choices: [choice(0, " Par"), choice(1, " Lyon")] })));
    const { choices } = (await (await ask({ echo: true, n: 2 })).json()) as { choices: readonly Json[] };
    expect(choices.map(({ text, finish_reason: finish }) => [text, finish])).toEqual([
      [`${PROMPT} Par`, "length"],
      [`${PROMPT} Lyon`, "stop"],
    ]);
  });

  it("falls back, and says so", async () => {
    provider.on("alpha", fails(500));
    const body = (await (await ask()).json()) as { model: string; service: Json };
    expect([body.model, body.service.model, body.service.fallback]).toEqual(["beta", "alpha", true]);
  });

  it("takes direct and the other controls", async () => {
    const direct = await ask({ model: "beta", service_profile: "direct" });
    expect(((await direct.json()) as { model: string }).model).toBe("beta");
    await expectError(await ask({ model: "none", service_profile: "direct" }), {
      status: 404,
      code: "model_not_found",
    });
    await expectError(await ask({ service_tier_floor: "TOP" }), { status: 400, param: "service_tier_floor" });
  });

  it("opens in the request log as what it is", async () => {
    await (await ask({}, { "x-request-id": "legacy-1" })).text();
    const { route, tier, model } = (await (await gateway.api("GET", "/api/requests/legacy-1")).json()) as Json;
    expect([route, model, typeof tier]).toEqual(["/v1/completions", "alpha", "string"]);
  });
});

describe("a streamed completion", () => {
  it("has text chunks, the service object first and last, and an end", async () => {
    provider.on("alpha", answers("Paris of course"));
    const { events, isDone } = await read(await ask({ stream: true }));
    expect(isDone).toBe(true);
    expect(events.map((event) => event.object)).toEqual(events.map(() => "text_completion"));
    expect(new Set(events.map(({ id }) => id)).size).toBe(1);
    expect(events[0]?.id).toMatch(/^cmpl-/);
    expect(events.flatMap(({ choices }) => choices as readonly Json[]).map(({ text }) => text)).toEqual([
      ...["Paris", " of", " course", ""],
    ]);
    const last = events.at(-1) as Json;
    expect((last.choices as readonly Json[])[0]).toEqual({ text: "", index: 0, logprobs: null, finish_reason: "stop" });
    expect([events[0]?.service, last.service]).toEqual([expect.any(Object), expect.any(Object)]);
  });

  it("sends usage where it is asked for, and the prompt where echo asks for it", async () => {
    provider.on("alpha", answers("Paris"));
    const { events } = await read(await ask({ stream: true, echo: true, stream_options: { include_usage: true } }));
    const texts = events.flatMap(({ choices }) => choices as readonly Json[]).map(({ text }) => text);
    expect(texts.join("")).toBe(`${PROMPT}Paris`);
    expect(events.map(({ usage }) => usage)).toEqual([...events.slice(1).map(() => null), USAGE]);
  });

  it("leaves reasoning out, and ends with an error where the provider breaks", async () => {
    const chunks = [chunk("alpha", { reasoning_content: "hm" }), chunk("alpha", { content: "Par" })];
    provider.on("alpha", streams(chunks, { ending: "cut" }));
    const { events, isDone, error } = await read(await ask({ stream: true }));
    expect([isDone, error?.type]).toEqual([false, "provider_error"]);
    expect(events).toEqual([expect.objectContaining({ choices: [expect.objectContaining({ text: "Par" })] })]);
  });
});

describe("a request that cannot be served", () => {
  it.each<[string, object, number, string]>([
    ["no prompt", { prompt: null }, 422, "prompt"],
    ["an object as the prompt", { prompt: {} }, 422, "prompt"],
    ["an empty list", { prompt: [] }, 422, "prompt"],
    ["token ids", { prompt: [1, 2, 3] }, 400, "prompt"],
    ["lists of token ids", { prompt: [[1, 2], [3]] }, 400, "prompt"],
    ["several prompts", { prompt: ["a", "b"] }, 400, "prompt"],
    ["log probabilities", { logprobs: 0 }, 400, "logprobs"],
    ["the best of more than asked for", { best_of: 3, n: 1 }, 400, "best_of"],
    ["a suffix that is no text", { suffix: 1 }, 400, "suffix"],
    ["an echo that is no flag", { echo: "yes" }, 400, "echo"],
    ["no output at all", { max_tokens: 0 }, 400, "max_tokens"],
    ["a temperature out of range", { temperature: 3 }, 400, "temperature"],
  ])("%s", async (_name, extra, status, param) => {
    const error = await expectError(await ask(extra), { status, param });
    expect(error.message).toContain(param);
    expect(provider.requests).toEqual([]);
  });
});

describe("money", () => {
  let bank: Bank;
  beforeAll(async () => {
    bank = await openBank();
  });
  afterAll(() => bank.close());
  const legacy = { model: "auto", prompt: PROMPT };
  const price = owed({ input: 12, output: 5 }, PRICES.alpha);

  it.each([{}, { stream: true }])("is charged as on chat-completions: %j", async (extra) => {
    const spent = await bank.spentBy(async () =>
      (await bank.gateway.post("/v1/completions", { ...legacy, ...extra })).text(),
    );
    expect(spent).toBe(price);
  });

  it("is charged once for the same Idempotency-Key, whose name is its own", async () => {
    const once = { "idempotency-key": "k-1" };
    const bodies: string[] = [];
    const spent = await bank.spentBy(async () => {
      for (let turn = 0; turn < 2; turn++) {
        bodies.push(await (await bank.gateway.post("/v1/completions", legacy, once)).text());
      }
      expect((await bank.gateway.post("/v1/completions", { ...legacy, n: 2 }, once)).status).toBe(422);
    });
    expect([spent, bodies[0]]).toEqual([price, bodies[1]]);
    expect((await bank.ask({}, once)).status).toBe(200);
  });

  it("is nothing where every model fails", async () => {
    bank.provider.on("*", fails(500));
    expect(
      await bank.spentBy(async () => expect((await bank.gateway.post("/v1/completions", legacy)).status).toBe(503)),
    ).toBe(0n);
  });
});
