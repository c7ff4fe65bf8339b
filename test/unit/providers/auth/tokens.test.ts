// Tokens on a clock of the test: when they are renewed, and what is used meanwhile.

import { describe, expect, it } from "vitest";
import { createTokens, type Token } from "../../../../src/providers/auth/tokens.ts";

const HOUR_MS = 3_600_000;

/** Tokens whose fetches the test answers one by one. */
function open() {
  const clock = { nowMs: 0 };
  const asked: { give(token: Token): void; refuse(): void }[] = [];
  const tokens = createTokens(
    () =>
      new Promise((resolve, reject) => {
        asked.push({ give: resolve, refuse: () => reject(new Error("refused")) });
      }),
    () => clock.nowMs,
  );
  const give = async (text: string, lifeMs = HOUR_MS): Promise<void> => {
    asked.at(-1)?.give({ text, expiresAtMs: clock.nowMs + lifeMs });
    await Promise.resolve();
  };
  return { clock, asked, tokens, give };
}

describe("tokens", () => {
  it("are fetched once for all who wait", async () => {
    const { asked, tokens, give } = open();
    const waiting = [tokens.current(null), tokens.current(null)];
    await give("a");
    expect(await Promise.all(waiting)).toEqual(["a", "a"]);
    expect(await tokens.current(null)).toBe("a");
    expect(asked).toHaveLength(1);
    expect(tokens.secrets()).toEqual(["a"]);
  });

  it("are renewed in the background shortly before the end, and nobody waits", async () => {
    const { clock, asked, tokens, give } = open();
    const first = tokens.current(null);
    await give("a");
    await first;
    clock.nowMs = HOUR_MS - 300_001;
    expect(await tokens.current(null)).toBe("a");
    expect(asked).toHaveLength(1);
    clock.nowMs = HOUR_MS - 300_000;
    expect(await tokens.current(null)).toBe("a");
    expect(await tokens.current(null)).toBe("a");
    expect(asked).toHaveLength(2);
    await give("b");
    await expect.poll(() => tokens.current(null)).toBe("b");
  });

  it("of a short life are renewed in its last fifth", async () => {
    const { clock, asked, tokens, give } = open();
    const first = tokens.current(null);
    await give("a", 1_000);
    await first;
    clock.nowMs = 799;
    await tokens.current(null);
    expect(asked).toHaveLength(1);
    clock.nowMs = 800;
    await tokens.current(null);
    expect(asked).toHaveLength(2);
  });

  it("whose renewal fails serve on, and the next try comes after a pause", async () => {
    const { clock, asked, tokens, give } = open();
    const first = tokens.current(null);
    await give("a");
    await first;
    clock.nowMs = HOUR_MS - 60_000;
    await tokens.current(null);
    asked.at(-1)?.refuse();
    await new Promise((resolve) => setImmediate(resolve));
    clock.nowMs += 4_999;
    expect(await tokens.current(null)).toBe("a");
    expect(asked).toHaveLength(2);
    clock.nowMs += 1;
    expect(await tokens.current(null)).toBe("a");
    expect(asked).toHaveLength(3);
  });

  it("are not used after their end, nor once refused", async () => {
    const { clock, asked, tokens, give } = open();
    const first = tokens.current(null);
    await give("a");
    await first;
    const second = tokens.current("a");
    await give("b");
    expect(await second).toBe("b");
    expect(await tokens.current("a")).toBe("b");
    clock.nowMs = HOUR_MS;
    const third = tokens.current(null);
    await give("c");
    expect(await third).toBe("c");
    expect(asked).toHaveLength(3);
  });

  it("that cannot be had are an error for everybody who waits, and are asked for again", async () => {
    const { asked, tokens, give } = open();
    const waiting = [tokens.current(null), tokens.current(null)];
    asked.at(-1)?.refuse();
    for (const each of waiting) await expect(each).rejects.toThrow("refused");
    const next = tokens.current(null);
    await give("a");
    expect(await next).toBe("a");
  });

  it("tell their holder, their end and why the last fetch failed", async () => {
    const { clock, asked, tokens, give } = open();
    expect(tokens.state()).toBeNull();
    const first = tokens.current(null);
    asked.at(-1)?.give({ text: "a", expiresAtMs: HOUR_MS, identity: "somebody" });
    await first;
    expect(tokens.state()).toEqual({ identity: "somebody", expiresAtMs: HOUR_MS, problem: null, isRenewed: true });
    clock.nowMs = HOUR_MS - 60_000;
    await tokens.current(null);
    asked.at(-1)?.refuse();
    await expect.poll(() => tokens.state()?.problem).toBe("refused");
    expect(tokens.state()).toMatchObject({ identity: "somebody", expiresAtMs: HOUR_MS });
    clock.nowMs = HOUR_MS;
    const last = tokens.current(null);
    await give("b", Number.POSITIVE_INFINITY);
    await last;
    expect(tokens.state()).toEqual({ identity: null, expiresAtMs: null, problem: null, isRenewed: true });
  });

  it("may be refused without a promise, and hold no line breaks", async () => {
    const thrown = createTokens(() => {
      throw new Error("no account");
    });
    await expect(thrown.current(null)).rejects.toThrow("no account");
    await expect(thrown.current(null)).rejects.toThrow("no account");
    const odd = createTokens(async () => ({ text: "a\r\nx-evil: 1", expiresAtMs: Date.now() + HOUR_MS }));
    await expect(odd.current(null)).rejects.toThrow("plain characters");
  });
});
