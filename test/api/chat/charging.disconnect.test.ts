// What a client pays that disconnects from a stream, to the nano-USD, for every format of clients and providers: its output so far,
// and where the end was in sight, the usage that the provider reports.

import { once } from "node:events";
import { request as httpRequest } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { HELLO } from "../../support/gateway/gateway.ts";
import { eventsOf, streamsEvents, text, thinking } from "../../support/providers/fake-anthropic.ts";
import { answers, type Behaviour, chunk, streams } from "../../support/providers/fake-provider.ts";
import { promisedMs } from "../../support/random.ts";
import { type Bank, openBank, owed, PRICES } from "../../support/stores/money.ts";

const CHINESE = "巴黎是法国的首都也是最大的城市";
const INPUT = 12;
/** Most of it is reasoning that the provider does not show. */
const OUTPUT = 3_000;

let bank: Bank;
/** The gateway's own guess at the prompt, where a stream says nothing about it. */
let guessedInput: number;
beforeAll(async () => {
  bank = await openBank();
  bank.provider.on("alpha", answers("ok", { usage: undefined }));
  const answer = (await (await bank.ask()).json()) as { usage: { prompt_tokens: number } };
  guessedInput = answer.usage.prompt_tokens;
});
afterAll(() => bank.close());

interface Script {
  /** One delta each. */
  readonly said: readonly string[];
  /** Deltas of reasoning before that. */
  readonly reasoned?: readonly string[];
  /** Awaited between the end of the content and the usage; without it, the stream stays open in its content. */
  readonly beforeUsage?: Promise<unknown>;
  /** The usage never comes. */
  readonly isSilent?: boolean;
}

/** A provider of each format, the input that an early end costs, and the script in its events. */
const PROVIDERS = [
  { model: "alpha", input: () => guessedInput, plays: playsChat },
  { model: "gamma", input: () => INPUT, plays: playsMessages },
] as const;
const PATHS = ["/v1/chat/completions", "/v1/messages", "/v1/responses"] as const;
/** The same request in every format: each reads the fields it knows. */
const ASKED = {
  ...HELLO,
  input: HELLO.messages,
  service_profile: "direct",
  max_tokens: 4_000,
  max_output_tokens: 4_000,
};
const PAIRS = PROVIDERS.flatMap((provider) => PATHS.map((path) => ({ ...provider, path })));

function playsChat({ said, reasoned = [], beforeUsage, isSilent }: Script): Behaviour {
  const deltas = [
    ...reasoned.map((word) => chunk("alpha", { reasoning_content: word })),
    ...said.map((word) => chunk("alpha", { content: word })),
  ];
  if (beforeUsage === undefined) return streams(deltas, { ending: "hang" });
  const ends = [...deltas, chunk("alpha", {}, "stop")];
  const usage = { ...chunk("alpha", {}), choices: [], usage: { prompt_tokens: INPUT, completion_tokens: OUTPUT } };
  return streams(isSilent ? ends : [...ends, usage], {
    ending: isSilent ? "hang" : "done",
    before: async (index) => void (index === ends.length && (await beforeUsage)),
  });
}

function playsMessages({ said, reasoned = [], beforeUsage, isSilent }: Script): Behaviour {
  const delta = (index: number, fields: object) => ({ type: "content_block_delta", index, delta: fields });
  const usage = { input_tokens: INPUT, output_tokens: OUTPUT };
  const [start, ...end] = [
    eventsOf([], "gamma", { usage })[0]!,
    ...eventsOf([], "gamma", { usage, stopReason: "end_turn" }).slice(-2),
  ];
  const content = [
    { type: "content_block_start", index: 0, content_block: thinking("", "") },
    ...reasoned.map((word) => delta(0, { type: "thinking_delta", thinking: word })),
    { type: "content_block_stop", index: 0 },
    { type: "content_block_start", index: 1, content_block: text("") },
    ...said.map((word) => delta(1, { type: "text_delta", text: word })),
  ];
  if (beforeUsage === undefined) return streamsEvents([start, ...content], { ending: "hang" });
  const ends = [start, ...content, { type: "content_block_stop", index: 1 }];
  return streamsEvents(isSilent ? ends : [...ends, ...end], {
    ending: isSilent ? "hang" : "stop",
    before: async (index) => void (index === ends.length && (await beforeUsage)),
  });
}

/** Round trips to the gateway, so that what the provider sent has had its turn. */
async function aMoment(): Promise<void> {
  for (let turn = 0; turn < 10; turn += 1) await aRoundTrip();
}

/** One only, where the gateway waits for a second: ten may take longer on a busy machine. */
function aRoundTrip(): Promise<Response> {
  return bank.gateway.get("/healthz");
}

/** Reads until it has seen the word, and leaves. */
async function leavesAfter(word: string, { model, path }: { model: string; path: string }): Promise<void> {
  const { url, key } = bank.gateway;
  const request = httpRequest(`${url}${path}`, {
    method: "POST",
    agent: false,
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
  });
  request.on("error", () => undefined);
  request.end(JSON.stringify({ ...ASKED, model, stream: true }));
  const [response] = await once(request, "response");
  let seen = "";
  for await (const piece of response.setEncoding("utf8")) {
    seen += piece;
    if (seen.includes(word)) break;
  }
  await aMoment();
  request.destroy();
}

describe.each(PAIRS)("$model for a client of $path", ({ model, path, input, plays }) => {
  const owes = (tokens: { input: number; output: number }): bigint => owed(tokens, PRICES[model]);

  test("in the middle: a token for each Chinese character", async () => {
    bank.provider.on(model, plays({ said: [CHINESE.slice(0, 7), CHINESE.slice(7)] }));
    const spent = await bank.spentBy(() => leavesAfter(CHINESE.slice(7), { model, path }));
    expect(spent).toBe(owes({ input: input(), output: CHINESE.length }));
  });

  test("in the middle: a token for each delta, of reasoning too", async () => {
    bank.provider.on(model, plays({ reasoned: ["I", " a", "m", "!"], said: ["a", "b", "see"] }));
    const spent = await bank.spentBy(() => leavesAfter("see", { model, path }));
    expect(spent).toBe(owes({ input: input(), output: 7 }));
  });

  test("with the end in sight: the usage that was reported a moment later", async () => {
    let left = (): void => undefined;
    const beforeUsage = new Promise<void>((resolve) => {
      left = resolve;
    });
    bank.provider.on(model, plays({ said: ["Par", "is"], beforeUsage: beforeUsage.then(aRoundTrip) }));
    const spent = await bank.spentBy(async () => {
      await leavesAfter("is", { model, path });
      left();
    });
    expect(spent).toBe(owes({ input: INPUT, output: OUTPUT }));
  });

  test("with the end in sight and no usage: the output so far, and the call is cancelled within a second or so", async () => {
    bank.provider.on(model, plays({ said: [CHINESE], beforeUsage: Promise.resolve(), isSilent: true }));
    const received = bank.provider.nextRequest();
    let leftAtMs = 0;
    const spent = await bank.spentBy(async () => {
      await leavesAfter(CHINESE, { model, path });
      leftAtMs = performance.now();
      expect(await (await received).closed).toEqual({ wasCut: true });
    });
    expect(performance.now() - leftAtMs).toBeLessThan(promisedMs(2_000));
    expect(spent).toBe(owes({ input: input(), output: CHINESE.length }));
  });
});

test("usage from before the end is not taken for the whole", async () => {
  const early = { ...chunk("alpha", { role: "assistant" }), usage: { prompt_tokens: INPUT, completion_tokens: 1 } };
  const said = [early, chunk("alpha", { content: CHINESE }), chunk("alpha", {}, "stop")];
  bank.provider.on("alpha", streams(said, { ending: "hang" }));
  const spent = await bank.spentBy(() => leavesAfter(CHINESE, { model: "alpha", path: PATHS[0] }));
  expect(spent).toBe(owed({ input: INPUT, output: CHINESE.length }, PRICES.alpha));
});

test("usage below the estimate is what an answer costs whose end was in sight", async () => {
  const usage = { prompt_tokens: INPUT, completion_tokens: 3 };
  const said = [chunk("alpha", { content: CHINESE }), { ...chunk("alpha", {}, "stop"), usage }];
  bank.provider.on("alpha", streams(said, { ending: "hang" }));
  const spent = await bank.spentBy(() => leavesAfter(CHINESE, { model: "alpha", path: PATHS[0] }));
  expect(spent).toBe(owed({ input: INPUT, output: 3 }, PRICES.alpha));
});

test.each(PATHS)("%s: an answer without usage is estimated in the same way", async (path) => {
  const message = { role: "assistant", content: CHINESE, reasoning_content: "一二三" };
  const choices = [{ index: 0, message, finish_reason: "stop" }];
  bank.provider.on("alpha", answers("", { choices, usage: undefined }));
  const body = { ...ASKED, model: "alpha" };
  const spent = await bank.spentBy(async () => {
    const answer = await (await bank.gateway.post(path, body)).json();
    expect(answer).toMatchObject({ service: { usageEstimated: true } });
  });
  expect(spent).toBe(owed({ input: guessedInput, output: CHINESE.length + 3 }, PRICES.alpha));
});

test("an estimate is never above the output cap", async () => {
  bank.provider.on("alpha", answers(CHINESE.repeat(10), { usage: undefined }));
  const spent = await bank.spentBy(async () => (await bank.ask({ max_tokens: 7 })).text());
  expect(spent).toBe(owed({ input: guessedInput, output: 7 }, PRICES.alpha));
});
