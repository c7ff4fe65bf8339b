import { describe, expect, it } from "vitest";
import { readWeights } from "../../../src/catalog/weights.ts";
import type { ChatMessage } from "../../../src/core/chat.ts";
import { newestAsk } from "../../../src/routing/ask.ts";
import { readPrompt } from "../../../src/routing/classifier/signals.ts";
import { findHistoryFloor } from "../../../src/routing/history.ts";

const weights = readWeights();

const CODING = "Write a python function that merges two sorted linked lists and add unit tests";

function floorOf(...asks: readonly string[]) {
  return floorAfter("Done.", asks);
}

/** Every request is answered with the same reply. */
function floorAfter(reply: string, asks: readonly string[]) {
  const messages = asks.flatMap((content): ChatMessage[] => [
    { role: "user", content },
    { role: "assistant", content: reply },
  ]);
  const conversation = messages.slice(0, -1);
  const ask = newestAsk(conversation);
  return findHistoryFloor({ messages: conversation, askIndex: ask.index, prompt: readPrompt(ask.text), weights });
}

describe("findHistoryFloor", () => {
  it.each([
    "yes, do it",
    "now in Rust",
    "is it faster now?",
    "do this right now",
    "continue",
    "make it shorter",
    "да, продолжай",
    "继续",
    "oui, vas-y",
    "ok",
  ])("%s inherits the earlier request's tier", (followUp) => {
    expect(floorOf(CODING, followUp)).toBe("STANDARD");
  });

  it.each([
    "What is the capital of France?",
    "what time is it in Lima?",
    "Is it raining in London right now?",
    "what day is it today?",
    "any public holidays this week in Spain?",
    "¿qué hora es ahora en Madrid?",
    "现在几点？",
    "thanks!",
    "Hello",
    "Write a long letter to my grandmother about the garden, the cats and the weather",
  ])("%s stands on its own", (fresh) => {
    expect(floorOf(CODING, fresh)).toBeNull();
  });

  it.each([
    ...[
      "oh no",
      "Oh nooo!!",
      "lol",
      "hahaha",
      "wow",
      "thanks!",
      "Thank you so much 🙏",
      "thanks for your help",
      "ok thanks",
      "Okay, got it",
      "好的，谢谢",
      "ja danke",
      "I see",
      "got it, thanks",
    ],
    ...[
      "nice!",
      "perfect, thank you",
      "oh no 😂 lol",
      "ach so, danke",
      "schade",
      "merci beaucoup !",
      "ah bon",
      "¡Muchas gracias!",
      "jajaja",
      "qué pena",
    ],
    ...[
      "obrigado",
      "que pena",
      "grazie mille",
      "peccato",
      "спасибо большое",
      "понятно",
      "ого",
      "谢谢你！",
      "哈哈哈",
      "原来如此",
      "なるほど。",
      "ありがとうございます",
    ],
    ...[
      "すごい！",
      "ㅋㅋㅋㅋ",
      "감사합니다",
      "شكرا جزيلا",
      "बहुत धन्यवाद",
      "teşekkürler",
      "o nie",
      "dank je wel",
      "cảm ơn bạn",
    ],
  ])("%s is a reaction and inherits nothing", (reaction) => {
    expect(floorOf(CODING, reaction)).toBeNull();
  });

  it.each([
    ...[
      "thanks, now in Rust",
      "perfect, go on",
      "lol, try again",
      "oh no, undo it",
      "nice, do the same for the tests",
      "great — continue",
    ],
    ...[
      "thanks for that and now do the other one",
      "danke, mach weiter",
      "super, weiter",
      "merci, continue",
      "genial, sigue con eso",
      "grazie, continua",
    ],
    ...[
      "отлично, продолжай",
      "谢谢，继续",
      "太好了，继续",
      "ありがとう、続けて",
      "감사합니다, 계속해 주세요",
      "no",
      "no, in Go",
      "shorter",
      "en español",
      "auf Deutsch",
    ],
  ])("%s asks for more and inherits", (followUp) => {
    expect(floorOf(CODING, followUp)).toBe("STANDARD");
  });

  it("takes praise for a yes where it answers a question, and thanks for no more than thanks", () => {
    expect(floorAfter("Done.", [CODING, "perfect"])).toBeNull();
    expect(floorAfter("Shall I add the benchmarks as well?", [CODING, "perfect"])).toBe("STANDARD");
    expect(floorAfter("もっと続けますか？", [CODING, "いいね"])).toBe("STANDARD");
    expect(floorAfter("Shall I add the benchmarks as well?", [CODING, "yes, thanks"])).toBe("STANDARD");
    expect(floorAfter("Shall I add the benchmarks as well?", [CODING, "oh no"])).toBeNull();
  });

  it("goes on with the work after a reaction", () => {
    expect(floorOf(CODING, "oh no", "try again")).toBe("STANDARD");
    expect(floorOf(CODING, "thanks!", "What is the capital of France?", "lol")).toBeNull();
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
    expect(findHistoryFloor({ messages, askIndex: ask.index, prompt: readPrompt(ask.text), weights })).toBe("STANDARD");
  });
});
