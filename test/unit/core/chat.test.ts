import { describe, expect, it } from "vitest";
import { messageText, withUnreadContent } from "../../../src/core/chat.ts";

/** A message whose text was left in the body. */
function unread(bytes: Buffer) {
  const text = { bytes, start: 0, end: bytes.length, name: "content", isUsual: true };
  return withUnreadContent({ role: "user", content: "" }, text);
}

describe("the text of a message that was left in the body", () => {
  const TEXTS = ["", "plain", "Größe", "Решение", "会議", "emoji 😀 and 𐐀", "mixed é 日 😀 ж \n"];

  it.each([1, 30, 600])("is what was sent, repeated %i times", (times) => {
    for (const text of TEXTS.map((each) => each.repeat(times))) {
      expect(messageText(unread(Buffer.from(JSON.stringify(text))))).toBe(text);
    }
  });

  it.each([1, 600])("has replacements for bytes that are no UTF-8, repeated %i times", (times) => {
    const bytes = Buffer.from(`"${"a\xe9b ".repeat(times)}"`, "latin1");
    expect(messageText(unread(bytes))).toBe("a\ufffdb ".repeat(times));
  });
});
