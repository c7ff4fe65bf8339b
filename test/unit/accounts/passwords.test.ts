// Passwords: how they are stored, which are refused, and how many may be wrong.

import { describe, expect, it } from "vitest";
import { createSignInLimiter, SIGN_IN_WINDOW_MS } from "../../../src/accounts/limits/sign-ins.ts";
import { createLogins, LOGIN_IDLE_MS, LOGIN_MAX_MS } from "../../../src/accounts/logins.ts";
import { checkPassword, createPasswords } from "../../../src/accounts/passwords.ts";
import { createUsers } from "../../../src/accounts/users.ts";
import type { Login, User } from "../../../src/core/people.ts";
import { fc } from "../../support/property.ts";

const passwords = createPasswords({ n: 16, r: 8, p: 1 });

describe("a stored password", () => {
  it("matches itself alone, with a new salt each time and its parameters", async () => {
    const [one, two] = [await passwords.hash("correct horse"), await passwords.hash("correct horse")];
    expect(one).toMatch(/^scrypt\$16\$8\$1\$[\w-]{22}\$[\w-]{43}$/);
    expect(one).not.toBe(two);
    expect(await passwords.isRight("correct horse", one)).toBe(true);
    expect(await passwords.isRight("correct horsf", one)).toBe(false);
    expect(await passwords.isRight("correct horse", null)).toBe(false);
  });

  it("is compared with the parameters it was made with, and however its accents are typed", async () => {
    const dear = createPasswords({ n: 32, r: 4, p: 2 });
    expect(await passwords.isRight("caf\u00e9 au lait!", await dear.hash("cafe\u0301 au lait!"))).toBe(true);
  });

  it("many at once all complete", async () => {
    const stored = await passwords.hash("many at once");
    const answers = await Promise.all(Array.from({ length: 40 }, () => passwords.isRight("many at once", stored)));
    expect(answers.every(Boolean)).toBe(true);
  });

  it("too many at once are refused rather than queued for ever", async () => {
    const slow = createPasswords({ n: 2 ** 12, r: 8, p: 1 });
    const all = await Promise.allSettled(Array.from({ length: 130 }, () => slow.isRight("x", null)));
    expect(all.filter(({ status }) => status === "rejected").length).toBeGreaterThan(0);
  });
});

describe("a new password", () => {
  it.each(["violet anchor teapot", "Tr0ub4dor&3-extra", "пароль-длинный-1", "xxxxabcdefgh1234"])(
    "%j is good",
    (password) => {
      expect(() => checkPassword(password, "ada@example.com", "password")).not.toThrow();
    },
  );

  it.each([
    "short",
    "eleven char",
    "passwordpassword",
    "Password123456",
    "switchyard2026",
    "abcdefghijkl",
    "zyxwvutsrqponm",
    "123456789012",
    "aaaaaaaaaaaab",
    "ada.lovelace1",
    "ada.lovelace@example.com",
  ])("%j is refused", (password) => {
    expect(() => checkPassword(password, "ada.lovelace@example.com", "password")).toThrow();
  });
});

describe("sign-in limits", () => {
  it("never admit more in a window than the limit", async () => {
    const event = fc.record({ name: fc.constantFrom("a", "b"), pauseMs: fc.integer({ min: 0, max: 90_000 }) });
    await fc.assert(
      fc.asyncProperty(fc.array(event, { maxLength: 60 }), async (events) => {
        let nowMs = 0;
        const limiter = createSignInLimiter(() => nowMs);
        const passed: Record<string, number[]> = { a: [], b: [] };
        for (const { name, pauseMs } of events) {
          nowMs += pauseMs;
          if ((await limiter.begin([{ name, most: 3 }])).waitSeconds === 0) passed[name]?.push(nowMs);
        }
        for (const times of Object.values(passed)) {
          // A window begins with the first attempt after the last one ended; no four in a row fit into half of one.
          for (let at = 6; at < times.length; at++) {
            expect((times[at] as number) - (times[at - 6] as number)).toBeGreaterThanOrEqual(SIGN_IN_WINDOW_MS);
          }
        }
      }),
      { numRuns: 50 },
    );
  });

  it("say how long to wait, and take a success back", async () => {
    let nowMs = 0;
    const limiter = createSignInLimiter(() => nowMs);
    const limits = [{ name: "x", most: 2 }];
    const begin = async (): Promise<number> => (await limiter.begin(limits)).waitSeconds;
    const success = await limiter.begin(limits);
    expect(success.waitSeconds).toBe(0);
    success.succeeded();
    expect([await begin(), await begin()]).toEqual([0, 0]);
    nowMs = 1_000;
    expect(await begin()).toBe(SIGN_IN_WINDOW_MS / 1000 - 1);
    nowMs = SIGN_IN_WINDOW_MS;
    expect(await begin()).toBe(0);
  });
});

const ADA: User = {
  id: "user_ada",
  email: "ada@example.com",
  role: "operator",
  accountId: "default",
  teamIds: [],
  passwordHash: "",
  createdAtMs: 0,
  lastSignInAtMs: null,
  deactivatedAtMs: null,
};

describe("signing in", () => {
  it("works as hard on the password of an unknown user", async () => {
    const asked: (string | null)[] = [];
    const watching = {
      hash: passwords.hash,
      isRight: async (_: string, stored: string | null) => {
        asked.push(stored);
        return false;
      },
    };
    const store = { byEmail: async (email: string) => (email === ADA.email ? { ...ADA, passwordHash: "h" } : null) };
    const users = createUsers({ store: store as never, passwords: watching });
    for (const email of [" ADA@example.com", "nobody@example.com", "no address"]) {
      await expect(users.signIn({ email, password: "x", address: "::1" })).rejects.toMatchObject({
        details: { code: "wrong_credentials" },
      });
    }
    expect(asked).toEqual(["h", null, null]);
  });
});

describe("a login", () => {
  it("slides for two weeks at a time, but not beyond ninety days", async () => {
    let nowMs = 0;
    const kept = new Map<string, Login>();
    const store = {
      insert: async (login: Login) => void kept.set(login.hash, login),
      find: async (hash: string) => {
        const login = kept.get(hash);
        return login === undefined ? null : { login, user: ADA };
      },
      touch: async (hash: string, seenAtMs: number) => void kept.set(hash, { ...(kept.get(hash) as Login), seenAtMs }),
      delete: async (hash: string) => void kept.delete(hash),
    };
    const logins = createLogins({ store, now: () => nowMs });
    const token = await logins.open(ADA);
    expect([...kept.keys()]).not.toContain(token);
    while (nowMs + LOGIN_IDLE_MS - 1 < LOGIN_MAX_MS) {
      nowMs += LOGIN_IDLE_MS - 1;
      expect((await logins.find(token))?.user).toBe(ADA);
    }
    nowMs = LOGIN_MAX_MS;
    expect(await logins.find(token)).toBeNull();
    const idle = await logins.open(ADA);
    nowMs += LOGIN_IDLE_MS;
    expect(await logins.find(idle)).toBeNull();
  });
});
