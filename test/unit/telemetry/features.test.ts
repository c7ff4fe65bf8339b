// Features are numbers about the shape of a request, and nothing else.

import { expect, it } from "vitest";
import type { ChatRequest } from "../../../src/core/chat.ts";
import { NO_CONSTRAINTS, NO_CONTROLS } from "../../../src/core/decision.ts";
import { decide } from "../../../src/routing/decide.ts";
import { featuresOf } from "../../../src/telemetry/features.ts";
import { makeCatalog } from "../../support/catalog.ts";

const CHAT: ChatRequest = {
  messages: [
    { role: "system", content: "four" },
    { role: "user", content: [{ type: "text", text: "Hello" }, { type: "image_url" }] },
    { role: "assistant", content: null, tool_calls: [{ id: "a" }, { id: "b" }] },
    { role: "tool", content: "sunny" },
    { role: "user", content: "Prove that canary is irrational.\n```js\nx\n```" },
  ],
  tools: [{ name: "t", description: "", parameters: null }],
  toolChoice: null,
  isStream: false,
  wantsUsage: false,
  maxOutputTokens: 50,
  choiceCount: 1,
};

it("counts messages, turns, characters and attachments", () => {
  expect(featuresOf(CHAT, null)).toMatchObject({
    messages: 5,
    tools: 1,
    outputCap: 50,
    userTurns: 2,
    toolResults: 1,
    toolCalls: 2,
    systemChars: 4,
    otherChars: 5,
    attachments: 1,
  });
});

it("takes along what routing measured, as numbers by name", () => {
  const question = {
    chat: CHAT,
    controls: NO_CONTROLS,
    constraints: NO_CONSTRAINTS,
    restingModels: new Map<string, string>(),
  };
  const features = featuresOf(CHAT, decide(question, makeCatalog()));
  expect(features).toMatchObject({
    score: expect.any(Number),
    measures: { hasFence: true, words: expect.any(Number) },
  });
  const values = JSON.stringify(features).matchAll(/:([^,{}]+)/g);
  expect(
    [...values].map(([, value]) => value).filter((value) => !/^(-?[\d.e-]+|true|false)$/.test(value as string)),
  ).toEqual([]);
});
