import { describe, expect, it } from "vitest";
import { messageText, UNDECODED } from "../../../src/core/chat.ts";

/** As it stands in a body that is not decoded: one character for each byte. */
function undecoded(bytes: Buffer): { readonly role: "user"; readonly content: string; readonly [UNDECODED]: true } {
  return { role: "user", content: bytes.toString("latin1"), [UNDECODED]: true };
}

describe("the text of an undecoded message", () => {
  const TEXTS = ["", "plain", "Größe", "Решение", "会議", "emoji 😀 and 𐐀", "mixed é 日 😀 ж "];

  it.each([1, 30, 600])("is what was sent, repeated %i times", (times) => {
    for (const text of TEXTS.map((each) => each.repeat(times))) {
      expect(messageText(undecoded(Buffer.from(text)))).toBe(text);
    }
  });

  it.each([1, 600])("has replacements for bytes that are no UTF-8, repeated %i times", (times) => {
    const bytes = Buffer.from("a\xe9b ".repeat(times), "latin1");
    expect(messageText(undecoded(bytes))).toBe("a\ufffdb ".repeat(times));
  });
});
