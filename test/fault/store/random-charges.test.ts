// Random requests over every outcome there is, each compared to the nano-USD with what the provider itself knows it has
// sent. A failing seed is printed; SEED runs it again, SWITCHYARD_TEST_SCALE=10 runs ten times as many.

import { once } from "node:events";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  type Behaviour,
  type Chunk,
  chunk,
  completion,
  cuts,
  cutsBody,
  type Exchange,
  fails,
  sends,
  streams,
} from "../../support/providers/fake-provider.ts";
import { createRandom, few, type Random, seedOf } from "../../support/random.ts";
import { type Bank, chargesOf, decimal, type ModelId, openBank, owed, PRICES } from "../../support/stores/money.ts";

const REQUESTS = few(400, 1000);
const CLIENTS = 16;
const SEED = seedOf(20_260);
const WORDS = "four four four four ";

let bank: Bank;
/** The gateway's guess at a prompt; all prompts here are as long as each other. */
let promptTokens = 0;
/** What the provider knows that it has sent, by request. Nothing where no answer came to be. */
const transcript = new Map<string, bigint>();

beforeAll(async () => {
  bank = await openBank({ creditsUsd: "100000", markup: "0.0731" });
  bank.provider.on("*", sends(200, completion("ok", "alpha", { usage: null })));
  const answer = await bank.ask({ messages: [{ role: "user", content: nameOf(0) }] });
  promptTokens = ((await answer.json()) as { usage: { prompt_tokens: number } }).usage.prompt_tokens;
  bank.provider.on("*", play);
});
afterAll(() => bank.close());

const nameOf = (index: number): string => `request ${String(index).padStart(6, "0")}`;

/** What the provider will do with a request, drawn when the request is made. */
interface Plan {
  readonly isStream: boolean;
  /** How the attempts before the answer fail. */
  readonly failures: Behaviour[];
  readonly ending: "answered" | "broken" | "left" | "left-early" | "failed" | "refused";
  readonly usage: UsageKind;
  readonly promptTokens: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly outputTokens: number;
  readonly words: number;
}

type UsageKind = "reported" | "at-finish" | "cumulative" | "missing" | "impossible";

const plans = new Map<string, Plan>();

const FAILURES: readonly Behaviour[] = [
  fails(401),
  fails(529, {}, { "retry-after": "1" }),
  sends(200, ""),
  sends(200, "<html>"),
  sends(200, { choices: [] }),
  cutsBody,
  streams([], { ending: "end" }),
  streams([{ error: { message: "overloaded" } }], { ending: "end" }),
];

function draw(random: Random): Plan {
  const isStream = random.next() < 0.6;
  const prompt = random.below(3000);
  const cacheRead = random.next() < 0.3 ? random.below(prompt + 1) : 0;
  const cacheWrite = random.next() < 0.3 ? random.below(prompt - cacheRead + 1) : 0;
  const ending = random.pick<Plan["ending"]>([
    ...Array<Plan["ending"]>(12).fill("answered"),
    "failed",
    "refused",
    ...(isStream ? (["broken", "left", "left", "left-early"] as const) : []),
  ]);
  const kinds: readonly UsageKind[] = isStream
    ? ["reported", "reported", "at-finish", "cumulative", "missing", "impossible"]
    : ["reported", "reported", "missing", "impossible"];
  return {
    isStream,
    failures: random.next() < 0.2 ? [random.pick(FAILURES)] : [],
    ending,
    usage: random.pick(kinds),
    promptTokens: prompt,
    cacheRead,
    cacheWrite,
    outputTokens: 1 + random.below(4096),
    words: 1 + random.below(6),
  };
}

/** Plays the plan of the request, and writes down what came of it. */
const play: Behaviour = (exchange) => {
  const { body } = exchange.request;
  const name = (body.messages as readonly { content: string }[])[0]?.content ?? "";
  const plan = plans.get(name) as Plan;
  const failure = plan.failures.shift();
  if (failure !== undefined) return failure(exchange);
  if (plan.ending === "failed") return cuts(exchange);
  if (plan.ending === "refused") return fails(400, { message: "no", code: "invalid_value" })(exchange);
  if (plan.ending !== "broken") transcript.set(name, cost(plan, body.model as ModelId));
  return plan.isStream ? playStream(plan, exchange) : playWhole(plan, exchange);
};

function cost(plan: Plan, model: ModelId): bigint {
  const guess = { input: promptTokens, output: plan.words * (WORDS.length / 4) };
  const reported = {
    input: plan.promptTokens - plan.cacheRead - plan.cacheWrite,
    cacheRead: plan.cacheRead,
    cacheWrite: plan.cacheWrite,
    output: plan.outputTokens,
  };
  const price = (tokens: typeof guess): bigint => owed(tokens, PRICES[model], "0.0731");
  if (plan.ending === "left-early") return price({ ...guess, output: 0 });
  const hasUsage = plan.usage !== "missing" && plan.usage !== "impossible";
  if (plan.ending === "left") {
    // Only usage that comes with the content has come by then.
    if (plan.usage !== "cumulative") return price(guess);
    return price({ ...reported, output: Math.max(reported.output, guess.output) });
  }
  return price(hasUsage ? reported : guess);
}

function usageOf(plan: Plan): object | null {
  if (plan.usage === "missing") return null;
  const { promptTokens: prompt, outputTokens, cacheRead, cacheWrite } = plan;
  if (plan.usage === "impossible") return { prompt_tokens: prompt, completion_tokens: -outputTokens };
  return {
    prompt_tokens: prompt,
    completion_tokens: outputTokens,
    total_tokens: prompt + outputTokens,
    prompt_tokens_details: { cached_tokens: cacheRead, cache_write_tokens: cacheWrite },
  };
}

function playWhole(plan: Plan, exchange: Exchange): void | Promise<void> {
  const text = WORDS.repeat(plan.words);
  return sends(200, completion(text, "x", { usage: usageOf(plan) }))(exchange);
}

function playStream(plan: Plan, exchange: Exchange): void | Promise<void> {
  const usage = usageOf(plan);
  const head = chunk("x", { role: "assistant", content: "" });
  if (plan.ending === "left-early") return streams([head], { ending: "hang" })(exchange);
  const words: Chunk[] = Array.from({ length: plan.words }, () => ({
    ...chunk("x", { content: WORDS }),
    ...(plan.usage === "cumulative" ? { usage } : {}),
  }));
  if (plan.ending === "broken") return streams([head, ...words], { ending: "cut" })(exchange);
  if (plan.ending === "left") return streams([head, ...words], { ending: "hang" })(exchange);
  const finish = { ...chunk("x", {}, "stop"), ...(plan.usage === "at-finish" ? { usage } : {}) };
  const isApart = plan.usage === "reported" || plan.usage === "impossible";
  return streams([head, ...words, finish], { usage: isApart ? usage : null })(exchange);
}

async function run(index: number): Promise<void> {
  const name = nameOf(index);
  const plan = draw(createRandom(SEED + index * 7919));
  plans.set(name, plan);
  const body = { messages: [{ role: "user", content: name }], stream: plan.isStream };
  const headers = { "x-request-id": name.replace(" ", "-") };
  if (plan.ending === "left" || plan.ending === "left-early") return leave(name, plan, bank.open(body, headers));
  await (await bank.ask(body, headers)).arrayBuffer();
}

/** Leaves when everything the provider will send has come. Where both models rest, that is nothing. */
async function leave(name: string, plan: Plan, open: ReturnType<Bank["open"]>): Promise<void> {
  let isAnswered = false;
  open.response.then(
    () => {
      isAnswered = true;
    },
    () => undefined,
  );
  if (plan.ending === "left-early") {
    await expect.poll(() => transcript.has(name) || isAnswered, { interval: 1 }).toBe(true);
    for (let turn = 0; turn < 10; turn += 1) await bank.gateway.get("/healthz");
    return open.leave();
  }
  const response = await open.response;
  if (response.statusCode !== 200) return open.leave();
  let text = "";
  while (text.split(WORDS).length - 1 < plan.words) {
    const [piece] = await once(response, "data");
    text += String(piece);
  }
  open.leave();
}

test(`${REQUESTS} requests, seed ${SEED}`, { timeout: 300_000 + REQUESTS * 30 }, async () => {
  let next = 0;
  const client = async (): Promise<void> => {
    while (next < REQUESTS) {
      next += 1;
      await run(next);
    }
  };
  const spent = await bank.spentBy(() => Promise.all(Array.from({ length: CLIENTS }, client)));
  const booked = await chargesByRequest();
  const wrong = [...plans].flatMap(([name, plan]) => {
    const expected = transcript.get(name) ?? 0n;
    const actual = booked.get(name.replace(" ", "-")) ?? 0n;
    return expected === actual ? [] : [{ name, plan, expected, actual }];
  });
  expect(wrong).toEqual([]);
  expect(spent).toBe([...transcript.values()].reduce((sum, amount) => sum + amount, 0n));
  const endings = new Set([...plans.values()].map(({ ending }) => ending));
  expect(endings.size, "every outcome occurs").toBe(6);
});

async function chargesByRequest(): Promise<ReadonlyMap<string, bigint>> {
  const booked = new Map<string, bigint>();
  for (const { requestId, amountUsd } of await chargesOf(bank.gateway)) {
    if (requestId === null) continue;
    booked.set(requestId, (booked.get(requestId) ?? 0n) - decimal(amountUsd, 9));
  }
  return booked;
}
