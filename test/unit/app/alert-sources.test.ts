// What providers' health and price checks are worth telling.

import { expect, it } from "vitest";
import { priceSource } from "../../../src/app/alerts/prices.ts";
import { providerSource } from "../../../src/app/alerts/providers.ts";
import { NO_CHECK, type PriceCheck } from "../../../src/catalog/prices/check.ts";
import { sentenceOf } from "../../../src/core/alerts/kinds.ts";
import type { Log } from "../../../src/core/log.ts";
import type { SignInState } from "../../../src/core/model.ts";
import type { Services } from "../../../src/gateway/services.ts";
import { createHealth } from "../../../src/providers/health.ts";
import { makeCatalog, makeModel, makeProvider } from "../../support/catalog.ts";
import { card, checkOf, feed, row } from "../../support/providers/feed-states.ts";

const SILENT: Log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const RULES = {
  failuresInRow: 3,
  failureShare: 0.5,
  callsMin: 10,
  windowMs: 30_000,
  openMs: 60_000,
  openMsMax: 60_000,
};
const DAY_MS = 86_400_000;
const NOW_MS = Date.UTC(2026, 10, 19);

function makeHealth(
  keyIds?: readonly string[],
  signIn: SignInState | null = null,
  keyEnds: readonly { readonly id: string; readonly endsAtMs: number }[] = [],
) {
  const provider = makeProvider({ transport: "network" });
  const model = makeModel({ priceSource: "LiteLLM", priceAsOf: "2026-11-17" });
  const models = [{ id: model.id, provider: provider.id, keyIds }];
  const health = createHealth({ models, rules: RULES, now: () => NOW_MS, random: () => 0.5, log: SILENT });
  const catalog = makeCatalog({ chains: { LIGHT: [model] }, providers: [provider] });
  const fail = (kind: "failing" | "refused-key", keyId?: string): void => {
    for (let time = 0; time < 5; time += 1) {
      const ticket = health.admit(model.id, keyId) || health.admitResting(model.id, keyId);
      health.report(model.id, ticket, { kind, waitMs: null, error: `it is ${kind}` }, keyId);
    }
  };
  const registry = { find: () => ({ signIn: () => signIn, keyEnds: () => keyEnds }) };
  const look = () => providerSource(() => ({ catalog, health, registry }) as unknown as Services).look(NOW_MS);
  return { catalog, fail, look, provider: provider.id };
}

it("nothing is told of providers that are well", () => {
  expect(makeHealth().look()).toEqual([]);
});

it("a key that is refused names its provider, and which key where there are several", () => {
  const single = makeHealth();
  single.fail("refused-key");
  expect(single.look()).toMatchObject([{ kind: "provider.key_refused", accountId: null, subject: single.provider }]);
  const several = makeHealth(["first", "second"]);
  several.fail("refused-key", "second");
  const { provider } = several;
  expect(several.look()).toMatchObject([{ kind: "provider.key_refused", subject: `${provider} second` }]);
});

it.each([
  [60_000, "Its credentials last until 2026-11-19 00:01 UTC."],
  [-60_000, "Its credentials ended at 2026-11-18 23:59 UTC."],
  [null, "It has no credentials."],
])("credentials that cannot be renewed are told of with their end %s ms away", async (leftMs, standing) => {
  const state = { identity: null, isRenewed: true, expiresAtMs: leftMs === null ? null : NOW_MS + leftMs };
  const failing = makeHealth(undefined, {
    ...state,
    problem: "sts.eu-central-1.amazonaws.com answered 403 (AccessDenied)",
  });
  const [seen] = await failing.look();
  expect(seen).toMatchObject({ kind: "provider.sign_in", subject: failing.provider, accountId: null });
  expect(seen && sentenceOf(seen)).toBe(
    `Provider ${failing.provider} cannot sign in: sts.eu-central-1.amazonaws.com answered 403 (AccessDenied). ${standing}`,
  );
  expect(makeHealth(undefined, { ...state, problem: null }).look()).toEqual([]);
});

it("keys that end within 7 days, or have ended, are told of once for each end", async () => {
  const ends = [
    { id: "old", endsAtMs: NOW_MS - 1 },
    { id: "new", endsAtMs: NOW_MS + 7 * DAY_MS },
    { id: "late", endsAtMs: NOW_MS + 7 * DAY_MS + 1 },
  ];
  const { look, provider } = makeHealth(["old", "new", "late"], null, ends);
  const seen = await look();
  expect(seen.map(sentenceOf)).toEqual([
    `Provider ${provider}: key old ended at 2026-11-18 23:59 UTC. Replace it before its requests fail.`,
    `Provider ${provider}: key new ends at 2026-11-26 00:00 UTC. Replace it before its requests fail.`,
  ]);
  const [single] = await makeHealth(undefined, null, [{ id: "", endsAtMs: NOW_MS }]).look();
  expect(single).toMatchObject({ subject: `${provider}  ${NOW_MS}`, data: { key: "its key" } });
});

it("a provider that left the catalogue is not told of", () => {
  const { fail, look, catalog } = makeHealth();
  fail("refused-key");
  (catalog.providers as Map<string, unknown>).clear();
  expect(look()).toEqual([]);
});

function lookAtPrices(check: PriceCheck, priceCheck = "daily", { catalog }: Pick<Services, "catalog"> = makeHealth()) {
  const source = priceSource({
    prices: () => ({
      priceCheck,
      priceMaxChangePercent: 200,
      priceListUrl: "off",
      genaiPricesUrl: "off",
      openrouterPricesUrl: "off",
    }),
    current: () => ({ catalog }),
    versions: { locks: [] },
    priceChecks: { read: async () => check },
  } as unknown as Parameters<typeof priceSource>[0]);
  return source.look(NOW_MS);
}

const FEED = {
  ...{ source: "https://prices.example/list.json", digest: "1", etag: null, modified: null },
  ...{ vendors: [], rows: [], refused: [], lost: [] },
};

it("feeds that cannot be read, or do not change for weeks, are told of", async () => {
  const problem = "https://prices.example/list.json cannot be read: certificate has expired.";
  const check: PriceCheck = {
    ...NO_CHECK,
    atMs: NOW_MS,
    feeds: [
      { ...FEED, feed: "litellm", readAtMs: 0, changedAtMs: 0, problem },
      { ...FEED, feed: "genai", readAtMs: NOW_MS, changedAtMs: NOW_MS - 15 * DAY_MS, problem: null },
      { ...FEED, feed: "openrouter", readAtMs: NOW_MS, changedAtMs: NOW_MS - DAY_MS, problem: null },
    ],
  };
  expect((await lookAtPrices(check)).map(sentenceOf)).toEqual([
    `Price feed litellm cannot be used: ${problem}`,
    "Price feed genai cannot be used: it has not changed since 2026-11-04T00:00:00.000Z",
  ]);
  expect(await lookAtPrices(check, "off")).toEqual([]);
});

it("prices on which feeds differ wait, and are told of by model", async () => {
  const check = checkOf([feed("litellm", [row("gpt", card([1, 4]))]), feed("genai", [row("gpt", card([1, 5]))])]);
  const model = makeModel({
    id: "gpt",
    provider: "openai",
    upstream: "gpt",
    price: card([2, 8]),
    priceSource: "LiteLLM",
  });
  const providers = [makeProvider({ id: "openai", transport: "network" })];
  const catalog = makeCatalog({ chains: { LIGHT: [model] }, providers });
  const [told, ...others] = await lookAtPrices(check, "daily", { catalog });
  expect([told?.kind, others]).toEqual(["prices.waiting", []]);
  expect(sentenceOf(told as never)).toBe("1 price changes wait on the Providers page: gpt.");
});

it("before the first check there is nothing to tell", async () => {
  expect(await lookAtPrices(NO_CHECK)).toEqual([]);
});
