// Which conversation a request belongs to, and that conversations stay with their key while keys come and go.

import { describe, expect, it } from "vitest";
import type { ChatMessage } from "../../../../src/core/chat.ts";
import { hashText } from "../../../../src/gateway/sessions/sessions.ts";
import { type Contender, rankBySession } from "../../../../src/routing/hosts.ts";
import { readOpening } from "../../../../src/routing/sessions/prefix.ts";
import { type SessionFacts, sessionOf } from "../../../../src/routing/sessions/session.ts";
import { fc } from "../../../support/property.ts";

const user = (content: string): ChatMessage => ({ role: "user", content });

type Asked = Partial<Omit<SessionFacts, "opening">> & { readonly messages?: readonly ChatMessage[] };

function facts({ messages = [user("Hello")], ...overrides }: Asked = {}): SessionFacts {
  const opening = () => readOpening(messages, hashText);
  return { accountId: "a", named: null, headers: {}, body: {}, opening, ...overrides };
}

describe("the session of a request", () => {
  const userId = "user_1_account_2_session_9f-8e";
  const all = facts({
    named: "named",
    headers: { session_id: "underscored", "x-session-id": "dashed" },
    body: { prompt_cache_key: "cached", metadata: { user_id: userId }, conversation: { id: "conv" } },
  });
  const { named: _, ...unnamed } = all;
  const without = (body: object, headers = {}): string =>
    sessionOf({ ...unnamed, named: null, headers, body: { ...body } });

  it("is the first that is there", () => {
    expect(sessionOf(all)).toBe("a\nnamed");
    expect(sessionOf({ ...all, named: null })).toBe("a\nunderscored");
    expect(without(all.body, { "x-session-id": "dashed" })).toBe("a\ndashed");
    expect(without(all.body)).toBe("a\ncached");
    expect(without({ metadata: { user_id: userId }, conversation: "conv" })).toBe("a\n9f-8e");
    expect(without({ metadata: { user_id: '{"device_id":"d","session_id":"s-1"}' } })).toBe("a\ns-1");
    expect(without({ conversation: { id: "conv" } })).toBe("a\nconv");
    expect(without({ conversation: "conv" })).toBe("a\nconv");
  });

  it("is a fingerprint of instructions and first message where nothing names it", () => {
    const system: ChatMessage = { role: "system", content: "Be brief" };
    const first = sessionOf(facts({ messages: [system, user("Hello")] }));
    const later = [system, user("Hello"), { role: "assistant", content: "Hi" } as ChatMessage, user("And now?")];
    expect(sessionOf(facts({ messages: later }))).toBe(first);
    expect(sessionOf(facts({ messages: [user("Hello")] }))).not.toBe(first);
    expect(sessionOf(facts({ messages: [system, user("Bye")] }))).not.toBe(first);
    expect(sessionOf(facts({ accountId: "b", messages: [system, user("Hello")] }))).not.toBe(first);
    // A response id changes with every turn.
    expect(sessionOf(facts({ messages: later, body: { previous_response_id: "resp_2" } }))).toBe(first);
  });

  it("tells long prompts apart by their ends", () => {
    const long = "x".repeat(1_000_000);
    expect(sessionOf(facts({ messages: [user(`${long}a`)] }))).not.toBe(
      sessionOf(facts({ messages: [user(`${long}b`)] })),
    );
  });

  it("takes whatever a body has there", () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.constantFrom("prompt_cache_key", "metadata", "conversation"), fc.jsonValue()),
        (body) => {
          expect(sessionOf(facts({ body }))).toMatch(/^a\n/);
        },
      ),
    );
  });
});

describe("the key of a session", () => {
  const keysOf = (...ids: readonly string[]): readonly Contender[] => ids.map((id) => ({ id, weight: 1 }));
  const first = (keys: readonly Contender[], session: string): string =>
    (
      rankBySession(
        keys,
        () => session,
        (key) => key,
      )[0] as Contender
    ).id;
  const SESSIONS = Array.from({ length: 20_000 }, (_, index) => `account\n${index * 7919}`);

  it("is the same in every process, in whatever order the keys are written", () => {
    const five = keysOf("a1b2c3d4", "00ff00ff", "deadbeef", "12345678", "9abcdef0");
    for (const session of SESSIONS.slice(0, 2000)) {
      expect(first([...five].reverse(), session)).toBe(first(five, session));
    }
  });

  it("is each key's in its share", () => {
    const keys = [
      { id: "light", weight: 1 },
      { id: "heavy", weight: 3 },
    ];
    const heavy = SESSIONS.filter((session) => first(keys, session) === "heavy").length / SESSIONS.length;
    expect(heavy).toBeGreaterThan(0.73);
    expect(heavy).toBeLessThan(0.77);
  });

  it("moves only the sessions of a key that is removed, and only to one that is added", () => {
    const four = keysOf("k1", "k2", "k3", "k4");
    const three = keysOf("k1", "k2", "k3");
    let moved = 0;
    for (const session of SESSIONS) {
      const [before, after] = [first(four, session), first(three, session)];
      if (before !== "k4") expect(after).toBe(before);
      else moved += 1;
    }
    expect(moved / SESSIONS.length).toBeGreaterThan(0.23);
    expect(moved / SESSIONS.length).toBeLessThan(0.27);
  });
});
