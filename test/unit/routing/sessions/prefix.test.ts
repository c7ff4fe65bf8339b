// Prefixes of prompts: equal up to where prompts are equal, whether their texts were decoded or not.

import { describe, expect, it } from "vitest";
import { type ChatMessage, UNDECODED } from "../../../../src/core/chat.ts";
import { sessionOf } from "../../../../src/routing/session.ts";
import { mixEnds, OFFSET } from "../../../../src/routing/sessions/ends.ts";
import { prefixMarks } from "../../../../src/routing/sessions/prefix.ts";
import { makeChat, makeTool } from "../../../support/catalog.ts";
import { fc } from "../../../support/property.ts";

const message = fc.record({
  role: fc.constantFrom("user", "assistant", "tool" as const),
  content: fc.string({ unit: "grapheme", maxLength: 60 }),
}) as fc.Arbitrary<ChatMessage>;

const undecoded = ({ content, ...rest }: ChatMessage): ChatMessage => ({
  ...rest,
  content: Buffer.from(String(content), "utf8").toString("latin1"),
  [UNDECODED]: true,
});

const hashes = (messages: readonly ChatMessage[], account = "a") =>
  prefixMarks(makeChat({ messages }), account).ends.map(({ hash }) => hash);

describe("the marks of a prompt", () => {
  it("are those of a longer prompt that begins with it", () => {
    fc.assert(
      fc.property(
        fc.array(message, { minLength: 1, maxLength: 8 }),
        fc.array(message, { maxLength: 6 }),
        (begin, rest) => {
          expect(hashes([...begin, ...rest]).slice(0, begin.length)).toEqual(hashes(begin));
        },
      ),
    );
  });

  it("are the same for texts that were not decoded", () => {
    fc.assert(
      fc.property(fc.array(message, { minLength: 1, maxLength: 6 }), (messages) => {
        expect(hashes(messages.map(undecoded))).toEqual(hashes(messages));
        const facts = { accountId: "a", named: null, headers: {}, body: {} };
        const session = (given: readonly ChatMessage[]) => sessionOf({ ...facts, messages: given });
        expect(session(messages.map(undecoded))).toBe(session(messages));
      }),
    );
  });

  it.each([7, 255])(
    "are the same where a character outside the first plane is the last of %i that are read",
    (count) => {
      const filler = "x".repeat(count);
      const messages: ChatMessage[] = [{ role: "user", content: `${filler}😀 and ${filler} 😀${filler}` }];
      expect(hashes(messages.map(undecoded))).toEqual(hashes(messages));
      const facts = { accountId: "a", named: null, headers: {}, body: {} };
      expect(sessionOf({ ...facts, messages: messages.map(undecoded) })).toBe(sessionOf({ ...facts, messages }));
    },
  );

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
      ...prefixMarks(makeChat({ messages: [one], tools: [makeTool()] }), "a").ends.map(({ hash }) => hash),
    ]);
    expect(marked.size).toBe(7);
  });

  it("tell instructions from what follows", () => {
    const system: ChatMessage = { role: "system", content: "Be brief" };
    const { instructions, ends } = prefixMarks(makeChat({ messages: [system, { role: "user", content: "Hi" }] }), "a");
    expect(instructions?.chars).toBe(ends[0]?.chars);
    expect(prefixMarks(makeChat({ messages: [{ role: "user", content: "Hi" }] }), "a").instructions).toBeNull();
  });

  it("are few for a long conversation", () => {
    const messages = Array.from({ length: 500 }, (): ChatMessage => ({ role: "user", content: "x" }));
    expect(prefixMarks(makeChat({ messages }), "a").ends).toHaveLength(24);
  });
});

it("both ends of a text count, in bytes", () => {
  const hash = (text: string) => mixEnds(OFFSET, text, false, 4);
  expect(hash("abcdXefgh")).toBe(hash("abcdYefgh"));
  expect(hash("abcdefgh")).not.toBe(hash("abcdefgX"));
  expect(hash("ünü")).not.toBe(hash("ünö"));
  expect(hash("")).not.toBe(hash("a"));
});
