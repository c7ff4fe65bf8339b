// Conversations of agents in the benchmarks share no more text than those of real clients.

import { expect, test } from "vitest";
import { bodyOf } from "../../../../bench/clients/bodies.ts";
import { createConversation } from "../../../../bench/clients/conversation.ts";

interface Body {
  readonly messages: readonly { readonly role: string; readonly content: string }[];
}

/** The results of tools in the next request. */
function resultsOf(next: () => Buffer): readonly string[] {
  const { messages } = JSON.parse(next().toString("utf8")) as Body;
  return messages.filter(({ role }) => role === "tool").map(({ content }) => content);
}

const prepared = Buffer.from(JSON.stringify(bodyOf("100 KB")));

test("no two tool results of a request are the same, nor any of two conversations", () => {
  const results = [1, 2].flatMap(() => resultsOf(createConversation(prepared)));
  expect(results).toHaveLength(36);
  expect(new Set(results).size).toBe(results.length);
});

test("the newest tool result is new in every request", () => {
  const next = createConversation(prepared);
  const newest = [1, 2, 3].map(() => resultsOf(next).at(-1));
  expect(new Set(newest).size).toBe(3);
});

test("an agent's bodies have the size that they are named after", () => {
  expect(Buffer.byteLength(JSON.stringify(bodyOf("100 KB"))) / 1000).toBeCloseTo(100, -1);
  expect(Buffer.byteLength(JSON.stringify(bodyOf("1 MB"))) / 1e6).toBeCloseTo(1, 0);
});
