// Features are numbers about the shape of a request, and nothing else.

import { expect, it } from "vitest";
import { type ChatRequest, UNREAD } from "../../../src/core/chat.ts";
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

const LANGUAGES: readonly [string, string, number][] = [
  ["English", "The committee met on Tuesday and went through the figures. ", 0],
  ["Russian", "Комитет", 0],
  ["Japanese", "会議の議事録は明日までに共有します。", 0],
  ["emoji", "🙂", 0],
  ["German", "Über die Kosten für Größe und Qualität wird nächste Woche gesprochen. ", 0.08],
];

it.each(LANGUAGES)("tells the characters of %s from their bytes", (_name, sentence, tolerance) => {
  const text = sentence.repeat(60);
  const bytes = Buffer.from(JSON.stringify(text));
  const left = { bytes, start: 0, end: bytes.length, name: "content", isUsual: true };
  const unread = { role: "user" as const, [UNREAD]: left };
  const counted = featuresOf({ ...CHAT, messages: [unread] }, null) as Record<string, number>;
  expect(Math.abs((counted.userChars ?? 0) / [...text].length - 1)).toBeLessThanOrEqual(tolerance);
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
