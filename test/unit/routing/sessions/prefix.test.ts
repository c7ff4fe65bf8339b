// Prefixes of prompts: equal up to where prompts are equal, and hardly ever beyond.

import { describe, expect, it } from "vitest";
import { type ChatMessage, withUnread } from "../../../../src/core/chat.ts";
import { createTextHash, hashText } from "../../../../src/gateway/sessions/sessions.ts";
import {
  charsUpTo,
  hashLasting,
  placeOf,
  prefixesOf,
  readOpening,
  threadOf,
} from "../../../../src/routing/sessions/prefix.ts";
import { makeChat, makeTool } from "../../../support/catalog.ts";
import { fc } from "../../../support/property.ts";

const words = fc.oneof(
  fc.string({ unit: "grapheme", maxLength: 60 }),
  // Longer than what is read at both ends.
  fc.string({ unit: "grapheme", minLength: 30, maxLength: 200 }),
  fc.array(fc.constantFrom("a", "é", "大", "😀"), { maxLength: 120 }).map((letters) => letters.join("")),
);
const message = fc.record(
  {
    role: fc.constantFrom("user", "assistant", "tool" as const),
    content: fc.oneof(
      words,
      fc.array(
        words.map((text) => ({ type: "text", text })),
        { maxLength: 3 },
      ),
    ),
    tool_call_id: words,
    tool_calls: fc.array(fc.record({ id: words, function: fc.record({ arguments: words }) }), { maxLength: 2 }),
  },
  { requiredKeys: ["role", "content"] },
) as fc.Arbitrary<ChatMessage>;

/** As it is when its text was left in the body. */
const unread = (given: ChatMessage): ChatMessage => {
  const bytes = Buffer.from(JSON.stringify(given.content));
  return withUnread({ ...given, content: "" }, { bytes, start: 0, end: bytes.length, name: "content", isUsual: true });
};

/** With escapes anywhere, also at its ends. */
const longText = fc
  .array(fc.constantFrom("a", "b ", "é", "大", "😀", "\n", '"', "\\", "\t"), { minLength: 128, maxLength: 300 })
  .map((pieces) => pieces.join(""));
const longMessage = fc.record(
  { role: fc.constantFrom("system", "user", "assistant", "tool" as const), content: longText, tool_call_id: words },
  { requiredKeys: ["role", "content"] },
) as fc.Arbitrary<ChatMessage>;

const prefixes = (chat: Parameters<typeof makeChat>[0], account = "a") => {
  const made = makeChat(chat);
  return prefixesOf(made, account, readOpening(made.messages, hashText));
};
/** At the end of each message after the instructions. */
const hashes = (messages: readonly ChatMessage[], account = "a", chat: Parameters<typeof makeChat>[0] = {}) => {
  const { first, length, hashAt } = prefixes({ ...chat, messages }, account);
  return Array.from({ length: length - first }, (_, at) => hashAt(first + at + 1));
};
const sessionOf = (messages: readonly ChatMessage[]) => readOpening(messages, createTextHash());

describe("the hashes of a prompt", () => {
  it("are those of a longer prompt that begins with it", () => {
    fc.assert(
      fc.property(
        fc.array(message, { minLength: 1, maxLength: 40 }),
        fc.array(message, { maxLength: 6 }),
        (begin, rest) => {
          const alone = hashes(begin);
          expect(hashes([...begin, ...rest]).slice(0, alone.length)).toEqual(alone);
        },
      ),
    );
  });

  it("are the same for texts that were left in the body", () => {
    fc.assert(
      fc.property(fc.array(longMessage, { minLength: 1, maxLength: 12 }), (messages) => {
        expect(sessionOf(messages.map(unread))).toEqual(sessionOf(messages));
        expect(hashes(messages.map(unread))).toEqual(hashes(messages));
        expect(threadOf(messages.map(unread), hashText)).toBe(threadOf(messages, hashText));
        for (const each of messages) expect(hashLasting(unread(each), hashText)).toBe(hashLasting(each, hashText));
      }),
    );
  });

  it("are taken of the ends as they came where these are no JSON", () => {
    const bytes = Buffer.from(`"\\x${"a".repeat(2_000)}\\"`);
    const text = { bytes, start: 0, end: bytes.length, name: "content", isUsual: false };
    const wrong = withUnread({ role: "tool", content: "" }, text) as ChatMessage;
    expect(hashes([wrong])).toEqual(hashes([{ ...wrong, content: bytes.toString().slice(1, -1) }]));
  });

  it("of a text that comes again in the body are those of the first time", () => {
    const long: ChatMessage = { role: "system", content: `größer "x"\n${"word ".repeat(400)}` };
    const hash = createTextHash();
    const session = readOpening([long], hash);
    for (let time = 0; time < 3; time++) expect(readOpening([unread(long)], hash)).toEqual(session);
    expect(readOpening([unread({ ...long, content: `${long.content}!` })], hash)).not.toEqual(session);
  });

  it("are the same for a text of any length that was left in the body", () => {
    const long = { role: "user", content: `${"大".repeat(100_000)}x${"é".repeat(200_000)}` } as const;
    expect(sessionOf([unread(long)])).toEqual(sessionOf([long]));
    expect(sessionOf([{ ...long, content: `${long.content}!` }])).not.toEqual(sessionOf([long]));
  });

  it("tell prompts apart whose first message differs in the middle, and calls by their ids", () => {
    const asked = (text: string): ChatMessage => ({
      role: "user",
      content: `Summarise this for me in one sentence:\n\n${text}\n\nAnswer in English, please, without any quotes.`,
    });
    expect(hashes([asked("One")])).not.toEqual(hashes([asked("Two")]));
    const called = (id: string): ChatMessage[] => [
      { role: "user", content: "Go" },
      { role: "assistant", content: null, tool_calls: [{ id, function: { name: "ls", arguments: "{}" } }] },
      { role: "tool", tool_call_id: id, content: "a.txt" },
    ];
    expect(threadOf(called("call_1"), hashText)).not.toBe(threadOf(called("call_2"), hashText));
    expect(hashes(called("call_1"))[2]).not.toBe(hashes(called("call_2"))[2]);
  });

  it("tell instructions apart that differ by one character, wherever that is", () => {
    const rules = "The harbour opens at dawn. ".repeat(900);
    fc.assert(
      fc.property(fc.nat({ max: rules.length - 1 }), (at) => {
        const other = `${rules.slice(0, at)}#${rules.slice(at + 1)}`;
        const marked = [rules, other, rules].map((content) => {
          const messages = [{ role: "system", content } as const, { role: "user", content: "Hi" } as const];
          return [prefixes({ messages }).instructions, ...hashes(messages)];
        });
        expect(marked[0]).toEqual(marked[2]);
        expect(marked[0]?.some((hash) => marked[1]?.includes(hash))).toBe(false);
      }),
    );
  });

  it("are others once old results were cleared, as clients do, or one of the last was", () => {
    const result = (at: number): ChatMessage => ({
      role: at % 2 === 0 ? "assistant" : "tool",
      content: `Result ${at}`,
    });
    fc.assert(
      fc.property(fc.integer({ min: 20, max: 400 }), fc.integer({ min: 2, max: 8 }), (length, kept) => {
        const talk = Array.from({ length }, (_, at) => result(at));
        const clear = (isCleared: (at: number) => boolean) =>
          talk.map((each, at) => (each.role === "tool" && isCleared(at) ? { ...each, content: "[cleared]" } : each));
        const last = hashes(talk).at(-1);
        expect(hashes(clear((at) => at < length - kept)).at(-1)).not.toBe(last);
        expect(hashes(clear((at) => at >= length - kept)).at(-1)).not.toBe(last);
      }),
    );
  });

  it("differ by account, tools, roles, order and texts", () => {
    const one: ChatMessage = { role: "user", content: "One" };
    const two: ChatMessage = { role: "user", content: "Two" };
    const marked = new Set([
      ...hashes([one]),
      ...hashes([two]),
      ...hashes([one], "b"),
      ...hashes([{ ...one, role: "assistant" }]),
      ...hashes([one, two]).slice(1),
      ...hashes([two, one]).slice(1),
      ...hashes([one], "a", { tools: [makeTool()] }),
      ...hashes([one], "a", { tools: Array.from({ length: 9 }, () => makeTool()) }),
    ]);
    expect(marked.size).toBe(8);
  });

  it("tell instructions from what follows, and name the message they end at", () => {
    const system: ChatMessage = { role: "system", content: "Be brief" };
    const chat = makeChat({ messages: [system, { role: "user", content: "Hi" }] });
    const { instructions, hashAt, first, length } = prefixes(chat);
    expect([instructions, hashAt(2)].map((hash) => placeOf(hash ?? 0))).toEqual([1, 2]);
    expect([first, length]).toEqual([1, 2]);
    expect(charsUpTo(chat, first)).toBeLessThan(charsUpTo(chat, length));
    expect(prefixes({ messages: [{ role: "user", content: "Hi" }] }).instructions).toBeNull();
    expect(prefixes({ messages: [system] }).instructions).toBeNull();
  });
});

it("a history without a human at its beginning is known by its instructions and its first answer", () => {
  const system: ChatMessage = { role: "system", content: "Be brief" };
  const talk = (answer: string): ChatMessage[] => [
    system,
    ...Array.from({ length: 200 }, (_, at): ChatMessage => ({ role: "assistant", content: `${answer} ${at}` })),
  ];
  const asked = [...talk("One"), { role: "user", content: "Go on" } as const];
  expect(sessionOf(asked)).toEqual(sessionOf(talk("One")));
  expect(sessionOf(asked).humanAt).toBe(-1);
  expect(threadOf(asked, hashText)).toBe(threadOf(talk("One"), hashText));
  expect(threadOf(asked, hashText)).not.toBe(threadOf(talk("Two"), hashText));
});

it("a text that comes again has the hash that it had, also after many others", () => {
  const hash = createTextHash();
  const text = (seed: number) => `${seed} ${"Rules of the house. ".repeat(2_000)}`;
  for (let seed = 0; seed < 200; seed++) expect(hash(text(seed % 120))).toBe(hashText(text(seed % 120)));
});
