// A search provider that does what it is told, and keeps what it was asked.

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type Behaviour, chunk, completion, type FakeProvider, sends, streams, USAGE } from "./fake-provider.ts";

export interface FakeSearch {
  readonly url: string;
  /** The queries, in order. */
  readonly queries: string[];
  /** What it answers from now on. */
  answer: { readonly status: number; readonly body: string } | "hang";
  close(): Promise<void>;
}

export const PAGES = [
  { url: "https://rome.example/a", title: "On Rome", content: "Rome is the capital of Italy." },
  { url: "https://other.example/b", title: "Other", content: "Something else." },
];

export function finds(results: readonly object[]): { readonly status: number; readonly body: string } {
  return { status: 200, body: JSON.stringify({ results }) };
}

export async function startFakeSearch(): Promise<FakeSearch> {
  const queries: string[] = [];
  const server = createServer((incoming, response) => {
    queries.push(new URL(incoming.url ?? "/", "http://search").searchParams.get("q") ?? "");
    if (fake.answer === "hang") return;
    response.writeHead(fake.answer.status, { "content-type": "application/json" });
    response.end(fake.answer.body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const fake: FakeSearch = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    queries,
    answer: finds(PAGES),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return fake;
}

/** A gateway that searches, with a model that searches in two rounds at most. */
export function searchYaml(lab: Pick<FakeProvider, "url">, search: Pick<FakeSearch, "url">): string {
  return [
    "catalog: none",
    "limits: { requestsPerMinute: 100000 }",
    `search: { provider: searxng, baseUrl: "${search.url}", priceUsd: 0.01, maxRounds: 2, timeoutMs: 2000 }`,
    `providers: { lab: { kind: openai, baseUrl: "${lab.url}", apiKey: k, zeroRetention: true, regions: [eu] } }`,
    "models:",
    "  - { id: plain, provider: lab, price: { input: 1, output: 4 }, context: 200000, maxOutput: 1000, capabilities: [tools] }",
    "tiers: { LIGHT: [plain] }",
    "routing: { baseline: plain, markup: 0 }",
  ].join("\n");
}

interface Called {
  readonly name: string;
  readonly args: string;
}

/** One round: what the model says and calls. */
export function round(text: string, ...called: readonly Called[]): Behaviour {
  const calls = called.map(({ name, args }, index) => ({
    index,
    id: `call_${name}_${index}x`,
    type: "function",
    function: { name, arguments: args },
  }));
  const finish = calls.length === 0 ? "stop" : "tool_calls";
  return (exchange) => {
    const { body } = exchange.request;
    if (body.stream === true) {
      const chunks = [
        chunk("plain", { role: "assistant", content: "" }),
        ...(text === "" ? [] : text.split(/(?<= )/).map((content) => chunk("plain", { content }))),
        ...calls.map((call) => chunk("plain", { tool_calls: [call] })),
        chunk("plain", {}, finish),
      ];
      return streams(chunks, { usage: USAGE })(exchange);
    }
    const message = {
      role: "assistant",
      content: text === "" ? null : text,
      ...(calls.length === 0 ? {} : { tool_calls: calls }),
    };
    return sends(200, { ...completion("", "plain"), choices: [{ index: 0, message, finish_reason: finish }] })(
      exchange,
    );
  };
}

export const searches = (query: string): Called => ({ name: "web_search", args: JSON.stringify({ query }) });
