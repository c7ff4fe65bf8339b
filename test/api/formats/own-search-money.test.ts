// What a search of the gateway costs where the client leaves, or the model is not heard again: every round and search once.

import OpenAI from "openai";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { startGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import {
  chunk,
  type FakeProvider,
  fails,
  hangs,
  startFakeProvider,
  streams,
} from "../../support/providers/fake-provider.ts";
import {
  type FakeSearch,
  finds,
  PAGES,
  round,
  searches,
  searchYaml,
  startFakeSearch,
} from "../../support/providers/fake-search.ts";
import { type Bank, bankOf } from "../../support/stores/money.ts";

let lab: FakeProvider;
let search: FakeSearch;
let gateway: TestGateway;
let bank: Bank;
let openai: OpenAI;

beforeAll(async () => {
  lab = await startFakeProvider();
  search = await startFakeSearch();
  gateway = await startGateway({ yaml: searchYaml(lab, search) });
  bank = bankOf(lab, gateway);
  openai = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.key, maxRetries: 0 });
});
beforeEach(() => {
  lab.reset();
  search.queries.length = 0;
  search.answer = finds(PAGES);
});
afterAll(async () => {
  await gateway.stop();
  await lab.close();
  await search.close();
});

/** 12 tokens in and 5 out, at 1 and 4 USD per million, in nano-USD. */
const ROUND = 32_000n;
const SEARCH = 10_000_000n;
const BODY = { model: "plain", input: "Capital?", tools: [{ type: "web_search" as const }] };
const limited = (calls: number) => ({ ...BODY, max_tool_calls: calls });
const posted = async (): Promise<bigint> => (await bank.balance()).posted;

it.each([
  ["text was sent", "I look. ", finds(PAGES), ROUND + SEARCH],
  ["a search was paid", "", finds(PAGES), ROUND + SEARCH],
  ["text was sent without a search that found anything", "I look. ", { status: 500, body: "no" }, ROUND],
])("a stream whose next round is refused ends with what is there, where %s", async (_name, text, found, cost) => {
  search.answer = found;
  lab.once("plain", round(text, searches("a")), fails(400, { code: "context_length_exceeded" }));
  const before = await posted();
  const answer = await openai.responses.stream(BODY).finalResponse();
  expect(answer).toMatchObject({ status: "incomplete", incomplete_details: { reason: "max_output_tokens" } });
  expect(answer.output_text).toBe(text);
  expect(before - (await posted())).toBe(cost);
  expect((await bank.balance()).held).toBe(0n);
});

it("searches of a round are bounded, and those that fail count", async () => {
  const many = Array.from({ length: 10 }, (_, at) => searches(`q${at}`));
  lab.once("plain", round("", ...many), round("Done."));
  const answer = await openai.responses.create(limited(20));
  expect(search.queries).toHaveLength(8);
  expect(answer.output.map(({ type }) => type)).toEqual([...many.map(() => "web_search_call"), "message"]);
  search.answer = { status: 500, body: "no" };
  lab.once("plain", round("", searches("a"), searches("b")), round("Done."));
  await openai.responses.create(limited(1));
  expect(search.queries).toHaveLength(9);
});

it("the hold covers every round at its longest", async () => {
  let held = 0n;
  lab.once("plain", async (exchange) => {
    held = (await bank.balance()).held;
    await round("Rome.")(exchange);
  });
  await openai.responses.create({ ...limited(20), max_output_tokens: 1000 });
  const output = 3n * 1000n * 4_000n;
  const again = 3n * 1000n * 1_000n;
  const found = (8n + 16n) * 6_000n * 1_000n;
  expect(held).toBeGreaterThanOrEqual(output + again + found + 20n * SEARCH);
});

describe.each([true, false])("streamed: %s", (stream) => {
  it("leaving while the next round is asked for costs the rounds before it once", async () => {
    lab.once("plain", round("", searches("a")), hangs);
    const before = await posted();
    const leaving = new AbortController();
    const asked = openai.responses.create({ ...BODY, stream }, { signal: leaving.signal });
    const ended = (async () => {
      const answer = await asked;
      if (Symbol.asyncIterator in answer) for await (const _ of answer);
    })().catch(() => undefined);
    await expect.poll(() => lab.callsTo("plain")).toBe(2);
    leaving.abort();
    await ended;
    await expect.poll(async () => (await bank.balance()).held).toBe(0n);
    expect(before - (await posted())).toBe(ROUND + SEARCH);
  });
});

it("leaving in the last round costs what was sent of it", async () => {
  const early = { prompt_tokens: 12, completion_tokens: 1, total_tokens: 13 };
  const words = Array.from({ length: 40 }, (_, at) => ({ ...chunk("plain", { content: `w${at} ` }), usage: early }));
  lab.once("plain", round("", searches("a")), streams(words, { ending: "hang" }));
  const before = await posted();
  const leaving = new AbortController();
  const stream = await openai.responses.create({ ...BODY, stream: true }, { signal: leaving.signal });
  for await (const event of stream)
    if (event.type === "response.output_text.delta" && event.delta.includes("w39")) break;
  leaving.abort();
  await expect.poll(async () => (await bank.balance()).held).toBe(0n);
  expect(before - (await posted())).toBe(ROUND + SEARCH + 12_000n + 40n * 4_000n);
});
