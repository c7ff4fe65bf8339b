// Web search that the gateway runs for clients of chat completions and of Gemini, through the official clients, whole and
// streamed: citations and grounding, and what is charged where the client leaves.

import { GoogleGenAI } from "@google/genai";
import OpenAI from "openai";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { startGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { answers, type FakeProvider, fails, hangs, startFakeProvider } from "../../support/providers/fake-provider.ts";
import {
  type FakeSearch,
  finds,
  PAGES,
  round,
  searches,
  searchYaml,
  startFakeSearch,
} from "../../support/providers/fake-search.ts";
import type { Json } from "../../support/providers/streams.ts";
import { type Bank, bankOf } from "../../support/stores/money.ts";

let lab: FakeProvider;
let search: FakeSearch;
let gateway: TestGateway;
let bank: Bank;
let openai: OpenAI;
let google: GoogleGenAI;

beforeAll(async () => {
  lab = await startFakeProvider();
  search = await startFakeSearch();
  gateway = await startGateway({ yaml: searchYaml(lab, search) });
  bank = bankOf(lab, gateway);
  openai = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.key, maxRetries: 0 });
  google = new GoogleGenAI({ apiKey: gateway.key, httpOptions: { baseUrl: gateway.url } });
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
const CITED = "Söl. Rome, says [On Rome](https://rome.example/a).";
const posted = async (): Promise<bigint> => (await bank.balance()).posted;
const MESSAGES = [{ role: "user" as const, content: "Capital?" }];
const OPTIONS = { search_context_size: "low" as const };

type Manner = "whole" | "streamed";

async function chat(manner: Manner, extra: object = {}) {
  const body = { model: "plain", messages: MESSAGES, web_search_options: OPTIONS, ...extra };
  if (manner === "whole") return (await openai.chat.completions.create(body)).choices[0]?.message;
  let content = "";
  const annotations: unknown[] = [];
  const calls: unknown[] = [];
  for await (const { choices } of await openai.chat.completions.create({ ...body, stream: true })) {
    const delta = choices[0]?.delta as { content?: string; annotations?: unknown[]; tool_calls?: unknown[] };
    content += delta?.content ?? "";
    annotations.push(...(delta?.annotations ?? []));
    calls.push(...(delta?.tool_calls ?? []));
  }
  return {
    content,
    ...(annotations.length > 0 ? { annotations } : {}),
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
  };
}

async function generate(manner: Manner, config: object = {}) {
  const asked = { model: "plain", contents: "Capital?", config: { tools: [{ googleSearch: {} }], ...config } };
  if (manner === "whole") {
    const answer = await google.models.generateContent(asked);
    return { text: answer.text, grounding: answer.candidates?.[0]?.groundingMetadata, answer };
  }
  let text = "";
  let last: Awaited<ReturnType<typeof google.models.generateContent>> | undefined;
  for await (const piece of await google.models.generateContentStream(asked)) {
    text += piece.text ?? "";
    last = piece;
  }
  return { text, grounding: last?.candidates?.[0]?.groundingMetadata, answer: last };
}

describe.each(["whole", "streamed"] as const)("%s", (manner) => {
  it("a chat client gets the answer with its citation", async () => {
    lab.once("plain", round("I look. ", searches("capital of Italy")), round(CITED));
    const before = await posted();
    const message = await chat(manner);
    const start = "I look. Söl. Rome, says ".length;
    const citation = { url: "https://rome.example/a", title: "On Rome", start_index: start, end_index: start + 33 };
    expect(message).toMatchObject({
      content: `I look. ${CITED}`,
      annotations: [{ type: "url_citation", url_citation: citation }],
    });
    expect(before - (await posted())).toBe(2n * ROUND + SEARCH);
    const [first, second] = lab.requests.map(({ body }) => body as Json);
    expect(first).toMatchObject({ tools: [{ function: { name: "web_search" } }] });
    expect(first).not.toHaveProperty("web_search_options");
    expect(((second as Json).messages as Json[]).at(-1)).toMatchObject({ role: "tool" });
  });

  it("a chat client whose model does not search gets the answer alone", async () => {
    lab.once("plain", round("Rome."));
    const before = await posted();
    expect(await chat(manner)).toMatchObject({ content: "Rome." });
    expect(before - (await posted())).toBe(ROUND);
  });

  it("a chat client's own call ends the loop", async () => {
    const tools = [{ type: "function", function: { name: "f", parameters: { type: "object" } } }];
    lab.once("plain", round("", searches("a")), round("", { name: "f", args: '{"x":1}' }, searches("never run")));
    const message = await chat(manner, { tools });
    expect(message).toMatchObject({ tool_calls: [{ function: { name: "f", arguments: '{"x":1}' } }] });
    expect(message?.tool_calls).toHaveLength(1);
    expect(search.queries).toEqual(["a"]);
  });

  it("a Gemini client gets queries, pages and supports", async () => {
    lab.once("plain", round("I look. ", searches("capital of Italy")), round(CITED));
    const before = await posted();
    const { text, grounding } = await generate(manner);
    expect(text).toBe(`I look. ${CITED}`);
    expect(grounding).toMatchObject({
      webSearchQueries: ["capital of Italy"],
      groundingChunks: PAGES.map(({ url, title }) => ({ web: { uri: url, title, domain: new URL(url).hostname } })),
      groundingSupports: [{ groundingChunkIndices: [0], segment: { startIndex: 14, text: CITED.slice(5, -1) } }],
    });
    const segment = grounding?.groundingSupports?.[0]?.segment;
    const bytes = Buffer.from(text ?? "").subarray(segment?.startIndex, segment?.endIndex);
    expect(bytes.toString()).toBe(segment?.text);
    expect(before - (await posted())).toBe(2n * ROUND + SEARCH);
  });

  it("a Gemini client's functions stand beside the search", async () => {
    const declared = { functionDeclarations: [{ name: "f", parametersJsonSchema: { type: "object" } }] };
    lab.once("plain", round("", searches("a")), round("", { name: "f", args: "{}" }));
    const config = { tools: [{ googleSearch: {} }, declared] };
    const { answer, grounding } = await generate(manner, config);
    expect(answer?.functionCalls).toMatchObject([{ name: "f" }]);
    expect(grounding?.webSearchQueries).toEqual(["a"]);
    expect(lab.requests[0]?.body).toMatchObject({
      tools: [{ function: { name: "f" } }, { function: { name: "web_search" } }],
    });
  });

  it("a model that fails after a search that found nothing costs nothing", async () => {
    search.answer = { status: 500, body: "no" };
    lab.on("plain", fails(400));
    lab.once("plain", round("", searches("a")), fails(400));
    const before = await posted();
    await expect(chat(manner)).rejects.toThrow();
    expect(await posted()).toBe(before);
    await gateway.post("/v1/chat/completions", { model: "plain", messages: MESSAGES });
  });

  it.each(["chat", "gemini"] as const)(
    "a %s client that leaves in the second round pays for the first, once",
    async (format) => {
      lab.once("plain", round("", searches("a")), hangs);
      const before = await posted();
      const leaving = new AbortController();
      const ended = leave(format, manner, leaving.signal).catch(() => undefined);
      await expect.poll(() => lab.callsTo("plain")).toBe(2);
      leaving.abort();
      await ended;
      await expect.poll(async () => (await bank.balance()).held).toBe(0n);
      expect(before - (await posted())).toBe(ROUND + SEARCH);
    },
  );
});

async function leave(format: "chat" | "gemini", manner: Manner, signal: AbortSignal): Promise<void> {
  const stream = manner === "streamed";
  const path = `/v1beta/models/plain:${stream ? "streamGenerateContent?alt=sse" : "generateContent"}`;
  const [address, body] =
    format === "chat"
      ? ["/v1/chat/completions", { model: "plain", messages: MESSAGES, web_search_options: {}, stream }]
      : [path, { contents: [{ parts: [{ text: "Capital?" }] }], tools: [{ googleSearch: {} }] }];
  const headers = { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" };
  const answer = await fetch(`${gateway.url}${address}`, {
    method: "POST",
    headers,
    body: JSON.stringify(body),
    signal,
  });
  await answer.text();
}

it("a Gemini client's excluded domains hold", async () => {
  lab.once("plain", round("", searches("a")), round("Done."));
  const tools = [{ google_search: { exclude_domains: ["rome.example"] } }];
  const asked = { contents: [{ parts: [{ text: "Capital?" }] }], tools };
  const answer = await gateway.post("/v1beta/models/plain:generateContent", asked);
  const [candidate] = ((await answer.json()) as { candidates: Json[] }).candidates;
  expect(candidate?.groundingMetadata).toMatchObject({
    groundingChunks: [{ web: { uri: "https://other.example/b" } }],
  });
});

it("several choices are not searched for", async () => {
  lab.on("plain", answers("Rome."));
  await openai.chat.completions.create({ model: "plain", messages: MESSAGES, web_search_options: {}, n: 2 });
  expect(lab.requests[0]?.body).toHaveProperty("web_search_options");
});

it("a host that searches for chat gets the request as it came, and is preferred where it is cheaper", async () => {
  const host = '{ kind: openai, baseUrl: "URL", apiKey: k, dialect: { takesSearchOptions: true } }'.replace(
    "URL",
    lab.url,
  );
  const yaml = searchYaml(lab, search)
    .replace("providers: {", `providers: { finder: ${host},`)
    .replace(
      "tiers:",
      "  - { id: finds, provider: finder, price: { input: 9, output: 9, search: 0.001 }, context: 200000, maxOutput: 1000, capabilities: [tools] }\ntiers:",
    )
    .replace("LIGHT: [plain]", "LIGHT: [plain, finds]");
  const choosing = await startGateway({ yaml });
  lab.on("finds", answers("Rome."));
  const asked = { model: "auto", messages: MESSAGES, web_search_options: {} };
  expect((await choosing.post("/v1/chat/completions", asked)).status).toBe(200);
  expect(lab.requests.map(({ body }) => body as Json)).toMatchObject([{ model: "finds", web_search_options: {} }]);
  expect(search.queries).toEqual([]);
  await choosing.stop();
});
