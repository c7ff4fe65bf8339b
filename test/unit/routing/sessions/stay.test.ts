// Stay or switch: the cheapest by its own sum, never below the tier, never above the ceiling, always the same.

import { describe, expect, it } from "vitest";
import type { Controls } from "../../../../src/core/decision.ts";
import type { Model } from "../../../../src/core/model.ts";
import type { CachedPrefix, SessionTurn, SessionView } from "../../../../src/core/session.ts";
import { TIERS, type Tier, tierRank } from "../../../../src/core/tiers.ts";
import { decide } from "../../../../src/routing/decide.ts";
import {
  type ModelOverrides,
  makeCatalog,
  makeModel,
  makeProvider,
  makeQuestion,
  makeTool,
  type QuestionOverrides,
} from "../../../support/catalog.ts";
import { fc } from "../../../support/property.ts";

const NOW = 1_000_000_000;
const CACHE = { seconds: 300, tokensMin: 1024 };

const priced = (id: string, usd: number, overrides: ModelOverrides = {}): Model => {
  const micro = usd * 1e6;
  const price = { input: micro, output: micro * 4, cacheRead: micro / 10, cacheWrite: null };
  return makeModel({ id, price, cache: CACHE, ...overrides });
};

const turn = (model: string, overrides: Partial<SessionTurn> = {}): SessionTurn => ({
  session: "s",
  model,
  hostKey: model,
  keyId: null,
  tier: "LIGHT",
  promptTokens: 10_000,
  cachedTokens: 0,
  atMs: NOW - 10_000,
  escalation: 0,
  task: 0,
  prefixes: [],
  trust: 1,
  calls: [],
  response: null,
  ...overrides,
});

const cached = (hostKey: string, tokens: number, overrides: Partial<CachedPrefix> = {}): CachedPrefix => ({
  session: "s",
  hostKey,
  keyId: null,
  tokens,
  trust: 1,
  atMs: NOW - 10_000,
  ...overrides,
});

const view = (last: SessionTurn | null, prefixes: readonly CachedPrefix[]): SessionView => ({
  id: "s",
  last,
  loop: null,
  cached: prefixes,
  nowMs: NOW,
});

/** About ten thousand tokens. */
const LONG = `${"Once upon a time there was a town by the sea. ".repeat(900)}`;
const PROMPT = "Write an email to my boss asking for a day off";
const longChat = { messages: [{ role: "system", content: LONG } as const, { role: "user", content: PROMPT } as const] };

function decideIn(models: Parameters<typeof makeCatalog>[0], sessionView: SessionView, asked: QuestionOverrides = {}) {
  const question = makeQuestion({ chat: longChat, ...asked });
  return decide({ ...question, sessionView }, makeCatalog(models));
}

const cheap = priced("cheap", 1);
const dear = priced("dear", 4);
const large = priced("large", 3, { tier: "COMPLEX" });
const chains = { LIGHT: [cheap, dear], COMPLEX: [large] };

describe("a session", () => {
  it("stays where its prompt is cached while that is cheaper, and shows the sum", () => {
    const decision = decideIn({ chains }, view(turn("dear"), [cached("dear", 10_000)]));
    expect(decision).toMatchObject({ tier: "LIGHT", model: "dear", chain: ["dear", "cheap"] });
    expect(decision.session).toMatchObject({ id: "s", state: "stayed" });
    expect(decision.reasoning).toMatch(/stays on dear: \d+k cached tokens make it \$0\.\d+ cheaper than cheap/);
    expect(decision.adjustments?.join()).toContain("stays on dear");
  });

  it("switches when the cache is gone, too small, too old, unproven, or that of another key", () => {
    const keys = ["one", "two"].map((id) => ({ id, key: id, weight: 1 }));
    const provider = makeProvider({ apiKeys: keys });
    const last = turn("dear");
    const cases: readonly (readonly CachedPrefix[])[] = [
      [],
      [cached("dear", 900)],
      [cached("dear", 10_000, { atMs: NOW - 300_000 })],
      [cached("dear", 10_000, { trust: 0.1 })],
    ];
    for (const prefixes of cases) {
      const decision = decideIn({ chains }, view(last, prefixes));
      expect(decision).toMatchObject({ model: "cheap", session: { state: "switched" } });
    }
    const ofKey = (keyId: string) => view(turn("dear", { keyId: "one" }), [cached("dear", 10_000, { keyId })]);
    expect(decideIn({ chains, providers: [provider] }, ofKey("one")).session).toMatchObject({ keyId: "one" });
    expect(decideIn({ chains, providers: [provider] }, ofKey("one")).model).toBe("dear");
    expect(decideIn({ chains, providers: [provider] }, ofKey("two")).model).toBe("cheap");
  });

  it("says why it leaves a model that has the prompt cached", () => {
    const free = { LIGHT: [priced("tiny", 0.1), dear] };
    const { reasoning, session } = decideIn({ chains: free }, view(turn("dear"), [cached("dear", 9_000)]));
    expect(session?.state).toBe("switched");
    expect(reasoning).toMatch(
      /switches from dear to tiny: \$0\.\d+ cheaper, even counting the 9k tokens cached for dear/,
    );
  });

  it("keeps a model above the tier within the ceiling, and no model below it", () => {
    const warm = view(turn("large"), [cached("large", 10_000)]);
    const above = decideIn({ chains }, warm);
    expect(above).toMatchObject({ tier: "LIGHT", model: "large", chain: ["large", "cheap", "dear"] });
    const controls = { tierCeiling: "STANDARD" } as const;
    expect(decideIn({ chains }, warm, { controls }).model).toBe("cheap");
    expect(decideIn({ chains }, warm, { controls: { profile: "tier", forcedTier: "LIGHT" } }).model).toBe("cheap");
    const low = view(turn("cheap"), [cached("cheap", 10_000)]);
    expect(decideIn({ chains }, low, { controls: { tierFloor: "COMPLEX" } }).model).toBe("large");
  });

  it("keeps to filters, health and the profile", () => {
    const warm = view(turn("large"), [cached("large", 10_000)]);
    const constraints = { blockedModels: ["large"] };
    expect(decideIn({ chains }, warm, { constraints }).model).toBe("cheap");
    expect(decideIn({ chains }, warm, { controls: { maxCostUsd: 0.03 } }).model).toBe("cheap");
    expect(decideIn({ chains }, warm, { restingModels: ["large"] }).model).toBe("cheap");
    const named = { controls: { profile: "direct", model: "cheap" } } as const;
    expect(decideIn({ chains }, warm, named)).toMatchObject({ chain: ["cheap"], session: { state: "switched" } });
  });

  it("counts the write that a new cache costs", () => {
    const writing = makeModel({
      id: "writing",
      price: { input: 1e6, output: 4e6, cacheRead: 1e5, cacheWrite: 3e6 },
      cache: CACHE,
    });
    const other = priced("other", 5);
    // 10k tokens: 1 USD a million written at 3 is dearer than 5 read at 0.5 with some tokens fresh.
    const warm = view(turn("other"), [cached("other", 9_900)]);
    expect(decideIn({ chains: { LIGHT: [writing, other] } }, warm).model).toBe("other");
  });

  it("chooses the host that has the prompt cached", () => {
    const host = (name: string, usd: number, hostKey: string) =>
      priced("m", usd, { provider: name, host: name, hostKey }).hosts[0] as Model;
    const hosts = [host("first", 1, "m"), host("second", 1.2, "m via second")];
    const model = { ...(hosts[0] as Model), hosts };
    const providers = ["first", "second"].map((id) => makeProvider({ id }));
    const warm = view(turn("m", { hostKey: "m via second" }), [cached("m via second", 10_000)]);
    const decision = decideIn({ chains: { LIGHT: [model] }, providers }, warm);
    expect(decision.hosts).toEqual({ m: ["second", "first"] });
    expect(decision.session?.state).toBe("stayed");
    expect(decision.reasoning).toContain("stays on m at second");
    // Where speed is wanted, a cache makes no slower host the first, also for a model that is named.
    const speed = (firstMs: number) => ({ firstMs, tokensPerSecond: 50 });
    const hostSpeeds = new Map([
      ["m", speed(100)],
      ["m via second", speed(40_000)],
    ]);
    for (const profile of ["auto", "direct"] as const) {
      const question = makeQuestion({ chat: longChat, controls: { hostOrder: "fastest", profile, model: "m" } });
      const asked = { ...question, sessionView: warm, hostSpeeds };
      expect(decide(asked, makeCatalog({ chains: { LIGHT: [model] }, providers })).hosts).toEqual({
        m: ["first", "second"],
      });
    }
  });

  it("that is not known uses what other sessions left in the cache, and is started", () => {
    const decision = decideIn({ chains }, view(null, [cached("dear", 10_000, { session: "other" })]));
    expect(decision).toMatchObject({ model: "dear", session: { state: "started" } });
    expect(decision.reasoning).toContain("uses dear:");
  });
});

it("a tool loop keeps the key that it began with, also where nothing is cached and where the model is named", () => {
  const keys = ["one", "two", "three"].map((id) => ({ id, key: id, weight: 1 }));
  const catalog = { chains, providers: [makeProvider({ apiKeys: keys })] };
  for (const { id } of keys) {
    const loop = turn("cheap", { keyId: id });
    const sessionView = { ...view(loop, []), loop };
    const question = { ...makeQuestion({ chat: longChat }), loopModel: "cheap", sessionView, session: () => "s" };
    const named = { ...question.controls, profile: "direct" as const, model: "cheap" };
    for (const controls of [question.controls, named]) {
      const { session, model } = decide({ ...question, controls }, makeCatalog(catalog));
      expect([model, session?.keyId, session?.isLoop]).toEqual(["cheap", id, true]);
    }
  }
});

describe("a conversation at a model with several hosts", () => {
  const uncached = makeModel({ id: "m", price: { input: 4e5, output: 16e5, cacheRead: null, cacheWrite: null } });
  const { cache: _, ...without } = uncached.hosts[0] as Model;
  const plain = { ...without, provider: "plain", host: "plain", hostKey: "m" } as Model;
  const caching = priced("m", 0.6, { provider: "caching", host: "caching", hostKey: "m via caching" })
    .hosts[0] as Model;
  const model = { ...plain, hosts: [plain, caching] } as Model;
  const catalog = { chains: { LIGHT: [model] }, providers: ["plain", "caching"].map((id) => makeProvider({ id })) };
  const answered = {
    messages: [...longChat.messages, { role: "assistant", content: "Dear boss" } as const, longChat.messages[1]],
  };
  const hostsOf = (sessionView: SessionView, asked: QuestionOverrides = {}) =>
    decideIn(catalog, sessionView, { chat: answered as typeof longChat, ...asked }).hosts?.m;

  it("begins at the host that caches its prompt, although another one has the lower price", () => {
    expect(hostsOf(view(null, []))).toEqual(["caching", "plain"]);
    const { reasoning } = decideIn(catalog, view(null, []), { chat: answered as typeof longChat });
    expect(reasoning).toMatch(
      /uses m at caching: this turn and about 4 more cost \$0\.\d+ there \(90% of the prompt expected from the cache\), \$0\.\d+ with m at plain/,
    );
  });

  it("takes the lower price for a single question, a short prompt, or where speed is wanted", () => {
    expect(decideIn(catalog, view(null, [])).hosts?.m).toEqual(["plain", "caching"]);
    const short = {
      messages: [
        { role: "user", content: "Hi" },
        { role: "assistant", content: "Hi" },
        { role: "user", content: PROMPT },
      ],
    };
    expect(hostsOf(view(null, []), { chat: short as never })).toEqual(["plain", "caching"]);
    const fastest = makeQuestion({ chat: answered as typeof longChat });
    const controls = { ...fastest.controls, hostOrder: "fastest" as const };
    const decision = decide(
      { ...fastest, controls, session: () => "s", sessionView: view(null, []) },
      makeCatalog(catalog),
    );
    expect(decision.reasoning).not.toContain("prompt cache");
  });

  it("holds a tool loop of a model that was named, at its host, and no other model takes its place", () => {
    const loop = turn("m", { hostKey: "m" });
    const sessionView = { ...view(loop, [cached("m via caching", 10_000, { session: "other" })]), loop };
    for (const [profile, honoursModel] of [
      ["direct", false],
      ["auto", true],
    ] as const) {
      const question = makeQuestion({ chat: answered as typeof longChat });
      const named = {
        ...question,
        controls: { ...question.controls, profile, model: "m" },
        constraints: { ...question.constraints, honoursModel },
      };
      const held = decide({ ...named, loopModel: "m", sessionView }, makeCatalog(catalog));
      expect(held).toMatchObject({ model: "m", chain: ["m"], hosts: { m: ["plain", "caching"] }, profile: "direct" });
      const over = decide({ ...named, sessionView: { ...sessionView, loop: null } }, makeCatalog(catalog));
      expect(over.hosts?.m).toEqual(["caching", "plain"]);
      const resting = new Map([["m", "503"]]);
      const away = { ...named, loopModel: "m", sessionView, restingModels: resting };
      expect(decide(away, makeCatalog(catalog)).hosts?.m?.[0]).toBe("caching");
      const above = { chains: { LIGHT: [cheap, model], COMPLEX: [large] }, providers: catalog.providers };
      const beside = { ...view(turn("large"), [cached("large", 10_000)]), loop: null };
      expect(decide({ ...named, sessionView: beside }, makeCatalog(above)).chain).toEqual(["m"]);
    }
  });

  it("leaves no tool loop, and goes to no host that is cooling down", () => {
    const loop = turn("m", { hostKey: "m" });
    const question = makeQuestion({ chat: answered as typeof longChat });
    const asked = { ...question, loopModel: "m", sessionView: { ...view(loop, []), loop } };
    expect(decide(asked, makeCatalog(catalog)).hosts?.m).toEqual(["plain", "caching"]);
    const elsewhere = turn("m", { hostKey: "m via caching" });
    const there = { ...question, loopModel: "m", sessionView: { ...view(elsewhere, []), loop: elsewhere } };
    expect(decide(there, makeCatalog(catalog)).hosts?.m).toEqual(["caching", "plain"]);
    // Neither for what others have cached elsewhere, nor for speed.
    const others = { ...view(loop, [cached("m via caching", 10_000, { session: "other" })]), loop };
    expect(decide({ ...asked, sessionView: others }, makeCatalog(catalog)).hosts?.m).toEqual(["plain", "caching"]);
    const controls = { ...question.controls, hostOrder: "fastest" as const };
    const speed = (tokensPerSecond: number) => ({ firstMs: 1_000 / tokensPerSecond, tokensPerSecond });
    const hostSpeeds = new Map([
      ["m", speed(100)],
      ["m via caching", speed(1)],
    ]);
    const slow = decide({ ...there, controls, hostSpeeds }, makeCatalog(catalog));
    expect(slow.hosts?.m).toEqual(["caching", "plain"]);
    const resting = { ...question, restingModels: new Map([["m via caching", "down"]]), sessionView: view(null, []) };
    expect(decide(resting, makeCatalog(catalog)).hosts?.m).toEqual(["plain", "caching"]);
  });
});

describe("a conversation at a chain of several models", () => {
  const scored = (id: string, usd: number, single: number | null, overrides: ModelOverrides = {}) =>
    priced(id, usd, { scores: single === null ? null : { overall: single, single }, ...overrides });
  const tools = [makeTool({ name: "get_weather", description: "The weather in a city" })];
  const asked = { messages: [longChat.messages[0], { role: "user", content: "What is the weather in Rome?" }] };
  const withTools = { ...asked, tools } as unknown as typeof longChat;
  const answered = {
    messages: [...longChat.messages, { role: "assistant", content: "Dear boss" } as const, longChat.messages[1]],
  } as unknown as typeof longChat;
  const forced = { controls: { profile: "tier", forcedTier: "LIGHT" } } as const;
  const NEW = view(null, []);

  it("with tools begins at the cheapest of those that count as equally good, under a forced tier too, and says so", () => {
    const LIGHT = [scored("best", 4, 75), scored("near", 2, 72), scored("cheap", 1, 60)];
    for (const more of [{ controls: { tierFloor: "LIGHT" } }, forced] as const) {
      const decision = decideIn({ chains: { LIGHT } }, NEW, { chat: withTools, ...more });
      expect(decision.chain).toEqual(["near", "best", "cheap"]);
      expect(decision.reasoning).toMatch(/uses near: this turn and about 4 more cost \$0\.\d+ there .* with best/);
      expect(decision.reasoning).toContain("near counts as equal to best at calling tools");
    }
  });

  it("keeps the order of scores that are far apart, and an operator's order where no score is known", () => {
    const far = { LIGHT: [scored("cheap", 1, 60), scored("best", 4, 75)] };
    expect(decideIn({ chains: far }, NEW, { chat: withTools, ...forced }).chain).toEqual(["best", "cheap"]);
    const plain = { LIGHT: [scored("dear", 4, null), scored("cheap", 1, null)] };
    const decision = decideIn({ chains: plain }, NEW, { chat: withTools, ...forced });
    expect(decision.chain).toEqual(["dear", "cheap"]);
    expect(decision.reasoning).toMatch(
      /keeps dear first, as the chain is configured \(\$0\.\d+ for this turn and those expected, \$0\.\d+ with cheap\)/,
    );
    expect(decision.adjustments).not.toContainEqual(expect.stringContaining("keeps dear first"));
    const open = { chains: plain, ownChains: [] };
    expect(decideIn(open, NEW, { chat: withTools, ...forced }).chain).toEqual(["cheap", "dear"]);
  });

  it("keeps the order of a chain that is written for tools alone, whatever the scores say", () => {
    const built = { LIGHT: [scored("built", 4, 75)] };
    const LIGHT = { models: [scored("dear", 4, 72), scored("cheap", 1, 75)], efforts: {} };
    const STANDARD = { models: [priced("above", 0.1, { tier: "STANDARD" })], efforts: {} };
    const decided = (ownToolChains: readonly Tier[], controls: Partial<Controls>) => {
      const catalog = { chains: built, withTools: { LIGHT, STANDARD }, ownChains: [], ownToolChains };
      return decideIn(catalog, NEW, { chat: withTools, controls });
    };
    const open = { tierFloor: "LIGHT" } as const;
    const within = { ...open, tierCeiling: "LIGHT" } as const;
    expect(decided([], within).chain).toEqual(["cheap", "dear"]);
    const kept = decided(["LIGHT"], within);
    expect(kept.chain).toEqual(["dear", "cheap"]);
    expect(kept.reasoning).toContain("keeps dear first, as the chain is configured");
    expect(decided([], open).model).toBe("above");
    expect(decided(["STANDARD"], open).model).toBe("cheap");
  });

  it("without tools begins at the cheapest of a built-in chain, and at the first of an operator's", () => {
    const light = { LIGHT: [dear, cheap] };
    const asLight = { chat: answered, controls: { tierFloor: "LIGHT" } } as const;
    expect(decideIn({ chains: light, ownChains: [] }, NEW, asLight).chain).toEqual(["cheap", "dear"]);
    expect(decideIn({ chains: light }, NEW, asLight).chain).toEqual(["dear", "cheap"]);
    // Only what is cached there passes the first one, where the sum is lower.
    const warm = view(turn("cheap"), [cached("cheap", 10_000)]);
    expect(decideIn({ chains: light }, warm, asLight).chain).toEqual(["cheap", "dear"]);
  });

  it("takes a model of the next tier that costs less, but none past an operator's order or a ceiling", () => {
    const both = { LIGHT: [dear], STANDARD: [priced("above", 1, { tier: "STANDARD" })] };
    const asLight = { chat: answered, controls: { tierFloor: "LIGHT" } } as const;
    expect(decideIn({ chains: both, ownChains: [] }, NEW, asLight).model).toBe("above");
    for (const tier of ["LIGHT", "STANDARD"] as const)
      expect(decideIn({ chains: both, ownChains: [tier] }, NEW, asLight).model).toBe("dear");
    const below = { ...asLight, controls: { tierFloor: "LIGHT", tierCeiling: "LIGHT" } } as const;
    expect(decideIn({ chains: both, ownChains: [] }, NEW, below).model).toBe("dear");
  });

  it("counts the thinking that a chain asks of a model, as it was seen, and within the cap", () => {
    // The first costs less for the same tokens, and thinks ten times as much.
    const price = (micro: number) => ({ input: 1e6, output: micro, cacheRead: 1e5, cacheWrite: null });
    const thinks = { cache: CACHE, capabilities: ["reasoning"] } as const;
    const long = makeModel({ id: "long", price: price(4e6), ...thinks });
    const short = makeModel({ id: "short", price: price(8e6), ...thinks });
    const efforts = {
      NANO: {},
      SIMPLE: {},
      LIGHT: { long: "max", short: "medium" },
      STANDARD: {},
      COMPLEX: {},
    } as const;
    const decided = (seen: SessionView, maxOutputTokens: number | null) => {
      const chat = { ...answered, maxOutputTokens } as typeof longChat;
      const catalog = { chains: { LIGHT: [long, short] }, ownChains: [], efforts };
      return decideIn(catalog, seen, { chat, controls: { tierFloor: "LIGHT", tierCeiling: "LIGHT" } }).model;
    };
    expect(decided(NEW, null)).toBe("short");
    expect(decided(NEW, 300)).toBe("long");
    const habit = { next: 0.9, ahead: 4, outputTokens: 200, steady: 1, alive: () => 0.9, cacheOf: () => ({ hit: 1 }) };
    const seldom = { ...NEW, habit: { ...habit, thought: () => 20 } };
    expect(decided(seldom, null)).toBe("long");
  });

  it("does not take a large cap for the length of its answers", () => {
    // The first costs less for long answers, the second for long prompts.
    const price = (input: number, output: number) => ({ input, output, cacheRead: input / 10, cacheWrite: null });
    const talks = makeModel({ id: "talks", price: price(2e6, 2e6), cache: CACHE });
    const reads = makeModel({ id: "reads", price: price(1e6, 5e6), cache: CACHE });
    const chat = { ...answered, maxOutputTokens: 16_000 } as typeof longChat;
    const controls = { tierFloor: "LIGHT" } as const;
    expect(decideIn({ chains: { LIGHT: [talks, reads] }, ownChains: [] }, NEW, { chat, controls }).model).toBe("reads");
  });
});

describe("without a session, or with nothing cached", () => {
  it("a request is decided as if there were no sessions", () => {
    const question = makeQuestion({ chat: longChat });
    const catalog = makeCatalog({ chains });
    const { session, ...decision } = decide({ ...question, sessionView: view(null, []) }, catalog);
    expect(decision).toEqual(decide(question, catalog));
    expect(session?.state).toBe("started");
  });
});

const MODELS = TIERS.flatMap((tier, rank) =>
  [0, 1].map((place) => priced(`${tier.toLowerCase()}-${place}`, 2 ** rank * (1 + place / 2), { tier })),
);
const ALL = Object.fromEntries(TIERS.map((tier) => [tier, MODELS.filter((model) => model.tier === tier)])) as Record<
  Tier,
  Model[]
>;

describe("whatever is cached where", () => {
  const prefix = fc.record({
    hostKey: fc.constantFrom(...MODELS.map(({ id }) => id)),
    tokens: fc.integer({ min: 0, max: 20_000 }),
    trust: fc.double({ min: 0, max: 1, noNaN: true }),
    age: fc.integer({ min: 0, max: 600_000 }),
  });
  it("the tier and the ceiling hold, the first is the cheapest by its own sum, and the same input gives the same", () => {
    fc.assert(
      fc.property(
        fc.array(prefix, { maxLength: 6 }),
        fc.option(fc.constantFrom(...MODELS.map(({ id }) => id)), { nil: null }),
        fc.option(fc.constantFrom(...TIERS), { nil: null }),
        (prefixes, lastModel, tierCeiling) => {
          const entries = prefixes.map(({ age, hostKey, ...rest }) => cached(hostKey, 0, { ...rest, atMs: NOW - age }));
          const known = view(lastModel === null ? null : turn(lastModel), entries);
          const asked: QuestionOverrides = { controls: { tierCeiling } };
          const decision = decideIn({ chains: ALL }, known, asked);
          expect(decideIn({ chains: ALL }, known, asked)).toEqual(decision);
          const tier = (id: string): number => tierRank(MODELS.find((model) => model.id === id)?.tier as Tier);
          const plain = decide(makeQuestion({ chat: longChat, ...asked }), makeCatalog({ chains: ALL }));
          expect(decision.tier).toBe(plain.tier);
          expect(tier(decision.model)).toBeGreaterThanOrEqual(tierRank(plain.tier));
          if (tierCeiling !== null) expect(tier(decision.model)).toBeLessThanOrEqual(tierRank(tierCeiling));
          expect([...decision.chain].sort()).toEqual([...new Set([...plain.chain, decision.model])].sort());
          const { input, output } = decision.estimatedTokens;
          const sum = (id: string): number => {
            const usable = entries.filter((e) => e.hostKey === id && e.tokens >= 1024 && NOW - e.atMs < 300_000);
            const tokens = Math.max(0, ...usable.map((e) => Math.floor(Math.min(e.tokens, input) * e.trust)));
            const { price } = MODELS.find((model) => model.id === id) as Model;
            return (
              (input - tokens) * (price?.input ?? 0) + tokens * (price?.cacheRead ?? 0) + output * (price?.output ?? 0)
            );
          };
          const options = plain.chain.filter(
            (id, place) => place === 0 || entries.some(({ hostKey }) => hostKey === id),
          );
          for (const id of options) expect(sum(decision.model)).toBeLessThanOrEqual(sum(id));
        },
      ),
    );
  });
});
