import { describe, expect, it } from "vitest";
import type { ChatMessage } from "../../../src/core/chat.ts";
import { askBefore, isAsk, newestAsk } from "../../../src/routing/ask.ts";

const user = (content: ChatMessage["content"]): ChatMessage => ({ role: "user", content: content ?? null });
const note = (text: string) => `<system-reminder>${text}</system-reminder>`;

describe("newestAsk", () => {
  const cases: readonly [string, readonly ChatMessage[], string, number][] = [
    ["one message", [user("Fix it")], "Fix it", 0],
    ["the last of several", [user("One"), { role: "assistant", content: "ok" }, user("Two")], "Two", 2],
    ["without reminders", [user(`${note("be nice")}Fix${note("x")} it${note("y")}`)], "Fix it", 0],
    [
      "an unclosed reminder is text",
      [user("What does <system-reminder> mean?")],
      "What does <system-reminder> mean?",
      0,
    ],
    [
      "without other notes of client programs",
      [user("<command-name>/x</command-name>Fix it<environment_details>\n# Files</environment_details>")],
      "Fix it",
      0,
    ],
    ["a message of reminders only is passed over", [user("Real"), user(note("noise"))], "Real", 0],
    ["tool results are passed over", [user("Ask"), { role: "tool", content: "result", tool_call_id: "1" }], "Ask", 0],
    [
      "text parts are joined",
      [user([{ type: "text", text: "a" }, { type: "image_url" }, { type: "text", text: "b" }])],
      "a\nb",
      0,
    ],
    ["an image alone has no text", [user("Look"), user([{ type: "image_url" }])], "Look", 0],
    ["a task in the system message", [{ role: "system", content: "Write a poem" }], "Write a poem", 0],
    ["nothing at all", [user(""), { role: "assistant", content: "hm" }], "", -1],
  ];
  it.each(cases)("%s", (_name, messages, text, index) => {
    expect(newestAsk(messages)).toEqual({ text, index });
  });

  it("reads long texts at both ends", () => {
    const { text } = newestAsk([user(`START${"x".repeat(100_000)}END`)]);
    expect(text.length).toBeLessThan(13_000);
    expect(text.startsWith("START")).toBe(true);
    expect(text.endsWith("END")).toBe(true);
  });
});

describe("askBefore", () => {
  it("finds the request before a place, or null", () => {
    const messages = [user("One"), { role: "assistant", content: "x" } as const, user("Two")];
    expect(askBefore(messages, 2)).toEqual({ text: "One", index: 0 });
    expect(askBefore(messages, 0)).toBeNull();
  });
});

describe("isAsk", () => {
  const texts = ["Fix it", "", " ", "\u00a0", "\u00a0x", "大", note("noise"), `x${note("y")}`, "<b>x</b>", "\n"];
  it.each(texts)("is true of %j where a text is left", (text) => {
    const isLeft = askBefore([user(text)], 1) !== null;
    expect([user(text), user([{ type: "text", text }])].map(isAsk)).toEqual([isLeft, isLeft]);
  });

  it("is false of every other role, and of an image alone", () => {
    expect(isAsk({ role: "tool", content: "done" })).toBe(false);
    expect(isAsk(user([{ type: "image_url" }]))).toBe(false);
    expect(isAsk(user(null))).toBe(false);
  });
});
