// Deciding takes no longer than the text is long, whatever the text: strings made to hurt matchers, by the megabyte.

import { describe, expect, it } from "vitest";
import { readWeights } from "../../../src/catalog/weights.ts";
import type { ChatMessage } from "../../../src/core/chat.ts";
import { decide } from "../../../src/routing/decide.ts";
import { decideNamed } from "../../../src/routing/named.ts";
import { makeCatalog, makeModel, makeQuestion, makeTool } from "../../support/catalog.ts";
import { cpuMs } from "../../support/cpu-time.ts";

const HURTFUL: Readonly<Record<string, string>> = {
  "one letter": "a",
  spaces: " ",
  "spaces and a letter": `${" ".repeat(99)}x`,
  "line breaks": "\n",
  "carriage returns": "\r\n \t",
  backticks: "`",
  fences: "```\n",
  "open brackets": "([{<",
  "open tags": "<system-reminder>",
  "tags that end": "</system-reminder>",
  "open and closed tags": "<a></a>",
  "comment openings": "<!--",
  equations: "1+1=",
  "dots and questions": "?.!",
  "dollars of TeX": "$x$\\(",
  words: "why how explain step prove that ",
  "list items": "\n- a\n1. b\n(c) ",
  "surrogate halves": "\ud83d",
  combining: "e\u0301\u0301\u0301",
  "letters that grow": "İ",
  Chinese: "漢字かな",
  "stack traces": "\n    at f (x.js:1:1)",
  json: '{"a":[1,2,{"b":"c"}]},',
  urls: "http://a.b/c?d=e&f=g ",
  quotes: "\"'",
  "x and y": "xy".repeat(50),
};

const roomy = [makeModel({ context: 1_000_000_000 })];
const catalog = makeCatalog({
  chains: { NANO: roomy, SIMPLE: roomy, LIGHT: roomy, STANDARD: roomy, COMPLEX: roomy },
  weights: readWeights(),
});
const SHORT = 250_000;
const LONG = 8 * SHORT;

function decidingMs(messages: readonly ChatMessage[]): number {
  const question = makeQuestion({ chat: { messages, tools: [makeTool({ name: "search" })] } });
  return cpuMs(() => decide(question, catalog));
}

/** The best times of many rounds: collections of a large heap last over several. What is not linear is slow in all. */
const ROUNDS = 30;

/** For eight times the text: linear is eight times as long, quadratic sixty-four. */
function expectLinear(short: readonly ChatMessage[], long: readonly ChatMessage[]): void {
  let [shortMs, longMs] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  const isLinear = (): boolean => longMs < 24 * Math.max(shortMs, 2);
  decidingMs(short);
  for (let round = 0; round < ROUNDS && (round < 3 || !isLinear()); round++) {
    shortMs = Math.min(shortMs, decidingMs(short));
    longMs = Math.min(longMs, decidingMs(long));
  }
  expect(longMs).toBeLessThan(24 * Math.max(shortMs, 2));
}

const filled = (unit: string, length: number): string => unit.repeat(Math.ceil(length / unit.length));

describe("deciding about", () => {
  it.each(Object.entries(HURTFUL))("megabytes of %s is linear", (_name, unit) => {
    const told = (length: number): ChatMessage[] => [{ role: "user", content: filled(unit, length) }];
    expectLinear(told(SHORT), told(LONG));
  });

  it.each(["user", "assistant", "system", "tool"] as const)("a hundred thousand messages of %s is linear", (role) => {
    const told = (count: number): ChatMessage[] => [
      ...Array.from({ length: count }, () => ({ role, content: "yes, do it" }) as ChatMessage),
      { role: "user", content: "yes" },
    ];
    expectLinear(told(10_000), told(80_000));
  });

  it("a long query for thousands of documents makes no text of its own", () => {
    const query = { role: "user", content: "x".repeat(1 << 20) } as const;
    const messages = Array.from({ length: 2_000 }, () => query);
    const ranker = { ...makeModel({ id: "ranker" }), endpoint: "rerank" } as const;
    const { chat, constraints } = makeQuestion({ chat: { messages } });
    const question = { endpoint: "rerank", model: "ranker", chat, constraints, tokenIds: 0 } as const;
    const { estimatedTokens } = decideNamed(question, makeCatalog({ models: [ranker] }));
    expect(estimatedTokens.input).toBeGreaterThan(100_000_000);
  });
});
