// Conversations in a replay: turns that stayed because of a cache stay again, and what another rule would cost counts what
// is cached there.

import { describe, expect, it } from "vitest";
import { NO_CONSTRAINTS } from "../../../../src/core/decision.ts";
import type { Model } from "../../../../src/core/model.ts";
import type { PastRequest } from "../../../../src/core/requests/log.ts";
import type { SessionView } from "../../../../src/core/session.ts";
import { decide } from "../../../../src/routing/decide.ts";
import { replay } from "../../../../src/routing/replay.ts";
import { ReplayedSessions } from "../../../../src/routing/sessions/replayed.ts";
import { makeCatalog, makeModel, makeProvider, makeQuestion } from "../../../support/catalog.ts";

const priced = (id: string, usd: number): Model => {
  const price = { input: usd * 1e6, output: usd * 4e6, cacheRead: usd * 1e5, cacheWrite: null };
  return makeModel({ id, price, cache: { seconds: 300, tokensMin: 1024 } });
};
const catalog = makeCatalog({ chains: { LIGHT: [priced("cheap", 1), priced("dear", 4)] } });
const LONG = "Once upon a time there was a town by the sea. ".repeat(900);
const PROMPT = "Write an email to my boss asking for a day off";
const chat = { messages: [{ role: "system", content: LONG } as const, { role: "user", content: PROMPT } as const] };
const BUCKETS = { input: 500, cacheRead: 9_500, cacheWrite: 0, output: 100 };

/** Turns of a session that has its prompt cached at the dearer model. */
function pastTurn(at: number): PastRequest {
  const atMs = 1_000_000 + at * 10_000;
  const prefix = { session: "s", hostKey: "dear", keyId: null, tokens: 10_000, trust: 1, atMs: atMs - 10_000 };
  const view: SessionView = { id: "s", last: null, loop: null, cached: [prefix], nowMs: atMs };
  const decision = decide({ ...makeQuestion({ chat }), sessionView: view }, catalog);
  const answer = { model: decision.model, buckets: BUCKETS, charge: 7n };
  return { requestId: `r${at}`, profileId: null, atMs, decision, features: { choices: 1 }, answer };
}

describe("conversations that begin alike", () => {
  /** `cachedAt`: where the live one had its prompt cached. */
  const turnOf = (at: number, thread: number | undefined, cachedAt: string | null, isLoop = false): PastRequest => {
    const past = pastTurn(at);
    const atMs = past.atMs;
    const prefix = { session: "f", hostKey: cachedAt ?? "", keyId: null, tokens: 10_000, trust: 1, atMs: atMs - 1 };
    const view: SessionView = {
      ...{ id: "f", last: null, loop: null, cached: cachedAt === null ? [] : [prefix], nowMs: atMs },
      ...(thread === undefined ? {} : { thread }),
    };
    const decision = decide({ ...makeQuestion({ chat }), sessionView: view }, catalog);
    const session = decision.session === undefined ? undefined : { ...decision.session, ...(isLoop ? { isLoop } : {}) };
    return {
      ...past,
      decision: { ...decision, ...(session === undefined ? {} : { session }) } as PastRequest["decision"],
    };
  };
  const modelsOf = (turns: readonly PastRequest[], sessions = new ReplayedSessions()) =>
    turns.map((each) => {
      const { next } = replay(each, { constraints: NO_CONSTRAINTS, catalog }, sessions);
      return next.state === "routed" ? next.model : null;
    });

  it("are replayed each by itself, from the first answer on", () => {
    const turns = [turnOf(0, 1, "dear"), turnOf(1, 2, null), turnOf(2, 1, "dear"), turnOf(3, 2, "cheap")];
    expect(turns.map(({ decision }) => [decision.session?.thread, decision.model])).toEqual([
      [1, "dear"],
      [2, "cheap"],
      [1, "dear"],
      [2, "cheap"],
    ]);
    expect(modelsOf(turns)).toEqual(["dear", "cheap", "dear", "cheap"]);
  });

  it("find what the first turn left", () => {
    const sessions = new ReplayedSessions();
    expect(modelsOf([turnOf(0, undefined, "dear"), turnOf(1, 1, "dear"), turnOf(2, 2, "dear")], sessions)).toEqual([
      "dear",
      "dear",
      "dear",
    ]);
    expect(sessions.viewOf(turnOf(3, 1, null), catalog)?.last).toMatchObject({
      session: "f",
      thread: 1,
      model: "dear",
    });
  });

  it("are not joined by later turns that do not say to which they belong", () => {
    const sessions = new ReplayedSessions();
    const lost = (at: number): PastRequest => ({ ...turnOf(at, undefined, null), features: { otherChars: 10 } });
    replay(turnOf(0, undefined, null), { constraints: NO_CONSTRAINTS, catalog }, sessions);
    expect(sessions.viewOf(turnOf(1, undefined, null), catalog)?.last?.atMs).toBe(1_000_000);
    replay(lost(1), { constraints: NO_CONSTRAINTS, catalog }, sessions);
    expect(sessions.viewOf(lost(2), catalog)).toMatchObject({ last: null, cached: [] });
    expect(sessions.viewOf(turnOf(2, 1, null), catalog)?.last?.atMs).toBe(1_000_000);
  });

  it("stay in their tool loop at the model that the replay gave it", () => {
    const constraints = { ...NO_CONSTRAINTS, blockedModels: ["cheap"] };
    const later = (isLoop: boolean) => {
      const sessions = new ReplayedSessions();
      replay(turnOf(0, 1, null), { constraints, catalog }, sessions);
      // Nothing is cached any more.
      return modelsOf([{ ...turnOf(1, 1, null, isLoop), atMs: 10_000_000 }], sessions);
    };
    expect(later(true)).toEqual(["dear"]);
    expect(later(false)).toEqual(["cheap"]);
  });
});

describe("a conversation in a replay", () => {
  const turns = [0, 1, 2].map(pastTurn);

  it("stays where it stayed, under the same rules", () => {
    expect(turns.map(({ decision }) => decision.model)).toEqual(["dear", "dear", "dear"]);
    const sessions = new ReplayedSessions();
    const replayed = turns.map((turn) => replay(turn, { constraints: NO_CONSTRAINTS, catalog }, sessions));
    expect(replayed.map(({ isChanged }) => isChanged)).toEqual([false, false, false]);
    // Each for itself, it would seem to change.
    expect(replay(turns[1] as PastRequest, { constraints: NO_CONSTRAINTS, catalog }).isChanged).toBe(true);
  });

  it("stays where it stayed at a provider with several keys", () => {
    const providers = [makeProvider({ apiKeys: ["one", "two", "three"].map((id) => ({ id, key: id, weight: 1 })) })];
    const keyed = makeCatalog({ chains: { LIGHT: [priced("cheap", 1), priced("dear", 4)] }, providers });
    const sessions = new ReplayedSessions();
    const dear = { ...NO_CONSTRAINTS, blockedModels: ["cheap"] };
    replay(turns[0] as PastRequest, { constraints: dear, catalog: keyed }, sessions);
    const { next } = replay(turns[1] as PastRequest, { constraints: NO_CONSTRAINTS, catalog: keyed }, sessions);
    expect(next).toMatchObject({ state: "routed", model: "dear" });
  });

  it("that began before the replay finds at another model what it read at the one of then", () => {
    const costOf = (past: PastRequest, connected = catalog) => {
      const constraints = { ...NO_CONSTRAINTS, blockedModels: ["dear"] };
      const { next } = replay(past, { constraints, catalog: connected }, new ReplayedSessions());
      return next.state === "routed" ? Number(next.cost) / (1 + catalog.markupPpm / 1e6) : null;
    };
    const [first] = turns as [PastRequest];
    const whole = 10_000 * 1_000 + 100 * 4_000;
    expect(costOf(first)).toBeCloseTo(500 * 1_000 + 9_500 * 100 + 100 * 4_000, -1);
    // Records of earlier versions do not say which conversation a later turn belongs to.
    const { session } = first.decision;
    const lost = { ...first, decision: { ...first.decision, session: { ...session, id: "f" } } } as PastRequest;
    expect(costOf({ ...lost, features: { otherChars: 10 } })).toBe(costOf(first));
    const answer = { ...first.answer, buckets: { ...BUCKETS, input: 10_000, cacheRead: 0 } } as PastRequest["answer"];
    expect(costOf({ ...first, answer })).toBeCloseTo(whole, -1);
    const bare = makeModel({ id: "cheap", price: priced("cheap", 1).price });
    const without = makeCatalog({ chains: { LIGHT: [bare, priced("dear", 4)] } });
    expect(costOf(first, without)).toBeCloseTo(whole, -1);
  });

  it("moves once to another model, and finds its prompt cached there from the second turn on", () => {
    const sessions = new ReplayedSessions();
    const constraints = { ...NO_CONSTRAINTS, blockedModels: ["dear"] };
    const costs = turns.map((turn) => {
      const { next } = replay(turn, { constraints, catalog }, sessions);
      expect(next).toMatchObject({ state: "routed", model: "cheap" });
      return next.state === "routed" ? next.cost : null;
    });
    const [, second, third] = costs;
    // At $1 and $4 a million, as much of the prompt as is expected at a tenth.
    const cached = Math.min(10_000, turns[0]?.decision.estimatedTokens.input ?? 0);
    const markup = 1 + catalog.markupPpm / 1e6;
    expect(Number(second)).toBeCloseTo(((10_000 - cached) * 1_000 + cached * 100 + 100 * 4_000) * markup, -1);
    expect(third).toBe(second);
  });
});
