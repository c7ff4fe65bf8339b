import { describe, expect, it } from "vitest";
import { readWeights } from "../../../src/catalog/weights.ts";
import type { ChatMessage } from "../../../src/core/chat.ts";
import { newestAsk } from "../../../src/routing/ask.ts";
import { findHistoryFloor } from "../../../src/routing/history.ts";
import { readSignals } from "../../../src/routing/signals.ts";

const weights = readWeights();

const CODING = "Write a python function that merges two sorted linked lists and add unit tests";

function floorOf(...asks: readonly string[]) {
  const messages = asks.flatMap((content): ChatMessage[] => [
    { role: "user", content },
    { role: "assistant", content: "Done." },
  ]);
  const conversation = messages.slice(0, -1);
  const ask = newestAsk(conversation);
  return findHistoryFloor({ messages: conversation, ask, signals: readSignals(ask.text), weights });
}

describe("findHistoryFloor", () => {
  it.each(["yes, do it", "now in Rust", "continue", "make it shorter", "да, продолжай", "继续", "oui, vas-y", "ok"])(
    "%s inherits the earlier request's tier",
    (followUp) => {
      expect(floorOf(CODING, followUp)).toBe("STANDARD");
    },
  );

  it.each([
    "What is the capital of France?",
    "thanks!",
    "Hello",
    "Write a long letter to my grandmother about the garden, the cats and the weather",
  ])("%s stands on its own", (fresh) => {
    expect(floorOf(CODING, fresh)).toBeNull();
  });

  it("looks through a row of follow-ups to the request they continue", () => {
    expect(floorOf(CODING, "yes", "go on", "and again")).toBe("STANDARD");
  });

  it("takes the nearest substantial request, not the hardest", () => {
    expect(floorOf("Prove that the square root of 2 is irrational", "What is the capital of France?", "continue")).toBe(
      "SIMPLE",
    );
  });

  it("sees a task of its own in an earlier request that points back", () => {
    expect(floorOf("hello", "Write a parser function and test it", "continue")).toBe("STANDARD");
  });

  it("is null without history", () => {
    expect(floorOf("yes, do it")).toBeNull();
    expect(floorOf("ok", "yes")).toBeNull();
  });

  it("holds inside a tool loop", () => {
    const messages: ChatMessage[] = [
      { role: "user", content: CODING },
      { role: "assistant", content: "Shall I?" },
      { role: "user", content: "yes, do it" },
      { role: "assistant", content: null, tool_calls: [{ id: "1", function: { name: "edit", arguments: "{}" } }] },
      { role: "tool", content: "edited", tool_call_id: "1" },
    ];
    const ask = newestAsk(messages);
    expect(findHistoryFloor({ messages, ask, signals: readSignals(ask.text), weights })).toBe("STANDARD");
  });
});
