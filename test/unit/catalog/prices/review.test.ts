// What is taken over from feeds and what waits.

import { describe, expect, it } from "vitest";
import type { FeedState } from "../../../../src/catalog/prices/check.ts";
import { type FeedId, isFeedSource } from "../../../../src/catalog/prices/feeds.ts";
import type { ListedRow } from "../../../../src/catalog/prices/listed.ts";
import { changeName, type Proposal, priceMark, reviewPrices } from "../../../../src/catalog/prices/review.ts";
import type { RateCard } from "../../../../src/core/price.ts";
import { isOperatorPrice } from "../../../../src/versions/adoption.ts";
import { card, catalogWith, checkOf, type Figures, feed, MICRO, row } from "../../../support/providers/feed-states.ts";

type Said = Figures | RateCard | null;

/** The proposal for that model, by what LiteLLM, genai-prices and OpenRouter say. */
function judged(said: readonly [litellm: Said, genai: Said, openrouter?: Said], price?: RateCard) {
  const rows = (figures: Said | undefined, of: (price: RateCard) => ListedRow) =>
    figures == null ? [] : [of("input" in figures ? figures : card(figures))];
  const [litellm, genai, openrouter] = said;
  const check = checkOf([
    feed(
      "litellm",
      rows(litellm, (at) => row("gpt", at)),
    ),
    feed(
      "genai",
      rows(genai, (at) => row("gpt", at)),
    ),
    feed(
      "openrouter",
      rows(openrouter, (at) => row("openai/gpt", at, { vendor: "openrouter" })),
    ),
  ]);
  return reviewPrices(catalogWith(price), check, 200);
}

const BANDED = { ...card([1, 4]), bands: [{ ...card([2, 6]), above: 100_000 }] };

describe("a price", () => {
  it.each([
    [
      "two feeds have it",
      [
        [1, 4, 0.25],
        [1, 4, 0.25],
      ],
      "agreed",
    ],
    [
      "one of them knows no cache",
      [
        [1, 4, 0.25],
        [1, 4],
      ],
      "agreed",
    ],
    [
      "they round differently",
      [
        [1, 4],
        [1.009, 4],
      ],
      "agreed",
    ],
    [
      "they differ",
      [
        [1, 4],
        [1.02, 4],
      ],
      "disputed",
    ],
    [
      "their cache prices differ",
      [
        [1, 4, 0.25],
        [1, 4, 0.5],
      ],
      "disputed",
    ],
    [
      "one has the price in use",
      [
        [1, 4],
        [2, 8, 0.5],
      ],
      "disputed",
    ],
    [
      "one lies by a factor of ten",
      [
        [20, 80, 5],
        [2, 8, 0.5],
      ],
      "disputed",
    ],
    ["only one has it", [[1, 4], null], "single"],
    ["OpenRouter has the maker's price too", [[1, 4], null, [1, 4]], "agreed"],
    ["OpenRouter's average is another", [[1, 4], null, [1.5, 4]], "single"],
    [
      "OpenRouter's average is another, but two agree",
      [
        [1, 4],
        [1, 4],
        [1.5, 4],
      ],
      "agreed",
    ],
    ["OpenRouter alone", [null, null, [1, 4]], null],
    [
      "both are over three times away",
      [
        [0.6, 2.5],
        [0.6, 2.5],
      ],
      "large",
    ],
    [
      "both are three times as dear",
      [
        [6, 24],
        [6, 24],
      ],
      "agreed",
    ],
    [
      "both are a factor of ten too dear",
      [
        [20, 80],
        [20, 80],
      ],
      "large",
    ],
    [
      "it is free",
      [
        [0, 0],
        [0, 0],
      ],
      "implausible",
    ],
    [
      "output costs less than input",
      [
        [2, 1],
        [2, 1],
      ],
      "implausible",
    ],
    [
      "cached input costs more than input",
      [
        [1, 4, 2],
        [1, 4, 2],
      ],
      "implausible",
    ],
    ["one alone has bands", [BANDED, [1, 4]], "disputed"],
    ["both have the bands", [BANDED, BANDED], "agreed"],
    [
      "nothing changed",
      [
        [2, 8, 0.5],
        [2, 8],
      ],
      null,
    ],
  ] as const)("%s", (_, said, standing) => {
    const { proposals } = judged(said as unknown as Parameters<typeof judged>[0]);
    expect(proposals.map((each) => each.standing)).toEqual(standing === null ? [] : [standing]);
  });

  it("that differs in service tiers and units alone is one feed's word", () => {
    const [ours, flex] = [card([2, 8, 0.5]), card([1, 4, 0.25])];
    const tiered = (price: RateCard, tier: RateCard): RateCard => ({ ...price, tiers: { flex: tier } });
    const standings = (said: readonly [RateCard, RateCard], price: RateCard) =>
      judged(said, price).proposals.map(({ standing }) => standing);
    // A tier that costs something else, or that we do not know, waits by itself, and the usual rates are confirmed.
    expect(standings([tiered(ours, card([9, 40])), ours], tiered(ours, flex))).toEqual(["details"]);
    expect(judged([tiered(ours, card([9, 40])), ours], tiered(ours, flex)).confirmed.size).toBe(1);
    const [fallen, fallenFlex] = [card([1, 4, 0.25]), card([0.5, 2])];
    expect(standings([tiered(fallen, fallenFlex), fallen], tiered(ours, flex))).toEqual(["agreed"]);
    expect(standings([tiered(fallen, card([1.2, 4])), fallen], tiered(ours, flex))).toEqual(["details"]);
    expect(standings([fallen, fallen], tiered(ours, flex))).toEqual(["details"]);
    // A tier of one feed alone is not taken over with the rest.
    const [proposal] = judged([tiered(fallen, card([90, 400])), fallen], ours).proposals;
    expect(proposal?.standing).toBe("agreed");
    expect(proposal?.to.tiers).toBeUndefined();
  });

  it("has no second witness in another row of the same feed", () => {
    // LiteLLM and genai-prices have rows of OpenRouter too.
    const rows = [row("gpt", card([1, 4])), row("openai/gpt", card([1, 4]), { vendor: "openrouter" })];
    const standings = (feeds: readonly FeedState[]) =>
      reviewPrices(catalogWith(), checkOf(feeds), 200).proposals.map(({ standing }) => standing);
    expect(standings([feed("litellm", rows)])).toEqual(["single"]);
    expect(standings([feed("genai", rows)])).toEqual(["single"]);
    expect(standings([feed("litellm", rows.slice(0, 1)), feed("openrouter", rows.slice(1))])).toEqual(["agreed"]);
  });

  it.each([
    ["for free", { cacheRead: 0 }, "large"],
    ["written for free", { cacheWrite: 0 }, "large"],
    ["written far above its input", { cacheWrite: 3 * MICRO }, "implausible"],
    ["at a rate", { cacheRead: 0.1 * MICRO, cacheWrite: 1.25 * MICRO }, "agreed"],
  ])("may get a rate for the cache of one feed, but not %s", (_, rates, standing) => {
    const [fallen, ours] = [card([1, 4]), card([2, 8])];
    expect(judged([{ ...fallen, ...rates }, fallen], ours).proposals).toMatchObject([{ standing }]);
  });

  it("leaves no old rates for long prompts beside new ones for short prompts", () => {
    const ours = { ...card([2, 8]), bands: [{ ...card([4, 12]), above: 100_000 }] };
    expect(judged([card([6, 24]), card([6, 24])], ours).proposals).toMatchObject([{ standing: "details" }]);
  });

  it("keeps its fee for searches, which no list has, and counts it as no share of the usual rates", () => {
    const ours: RateCard = { ...card([2, 8, 0.5]), own: { search: 1e10, audioInput: 4 * MICRO } };
    const fallen: RateCard = { ...card([1, 4, 0.25]), own: { audioInput: 2 * MICRO } };
    const [proposal] = judged([fallen, card([1, 4, 0.25])], ours).proposals;
    expect(proposal).toMatchObject({ standing: "agreed", to: { own: { search: 1e10, audioInput: 2 * MICRO } } });
  });

  it("that feeds have is confirmed by the time they were read", () => {
    expect([
      ...judged([
        [2, 8, 0.5],
        [1, 4],
      ]).confirmed.values(),
    ]).toEqual([1]);
    expect(
      judged([
        [1, 4],
        [1, 4],
      ]).confirmed.size,
    ).toBe(0);
  });

  it("names the feeds that have it, and what each says", () => {
    const [proposal] = judged([
      [1, 4],
      [1, 4],
    ]).proposals;
    expect(proposal).toMatchObject({ feeds: ["litellm", "genai"], to: { input: MICRO, output: 4 * MICRO } });
    const [disputed] = judged([
      [2, 8, 0.5],
      [1, 4],
    ]).proposals;
    expect(disputed).toMatchObject({
      ...{ feeds: ["genai"], to: { input: MICRO } },
      listed: [
        { feed: "litellm", isSame: true },
        { feed: "genai", isSame: false },
      ],
    });
  });

  it("of a feed that could not be read now has no vote", () => {
    const rows = [row("gpt", card([1, 4]))];
    const stale = feed("genai", rows, { problem: "down" });
    const standingWith = (feeds: readonly FeedState[]) => reviewPrices(catalogWith(), checkOf(feeds), 200).proposals;
    expect(standingWith([feed("litellm", rows), stale])).toMatchObject([{ standing: "single" }]);
    const older = feed("genai", [row("gpt", card([9, 9]))], { problem: "down" });
    expect(standingWith([feed("litellm", rows), older])).toMatchObject([{ standing: "single", to: { input: MICRO } }]);
  });

  it("of a feed that has not changed for 14 days has no vote, and is confirmed up to its last change", () => {
    const [dayMs, changedAtMs] = [86_400_000, 1_000];
    const stateAt = (ms: number, said: Figures, name: FeedId = "genai") =>
      feed(name, [row("gpt", card(said))], { changedAtMs, readAtMs: ms });
    const reviewAt = (ms: number, said: Figures) => {
      const litellm = feed("litellm", [row("gpt", card([1, 4]))], { changedAtMs: ms, readAtMs: ms });
      return reviewPrices(catalogWith(), checkOf([litellm, stateAt(ms, said)], { atMs: ms }), 200);
    };
    const [last, after] = [14 * dayMs + changedAtMs, 14 * dayMs + changedAtMs + 1];
    expect(reviewAt(last, [1, 4]).proposals).toMatchObject([{ standing: "agreed" }]);
    expect(reviewAt(after, [1, 4]).proposals).toMatchObject([{ standing: "single", feeds: ["litellm"] }]);
    // What it says is shown, and does not dispute what others say.
    expect(reviewAt(after, [9, 9]).proposals).toMatchObject([{ standing: "single", listed: [{}, { feed: "genai" }] }]);
    expect([...reviewAt(last, [2, 8, 0.5]).confirmed.values()]).toEqual([last]);
    expect([...reviewAt(after, [2, 8, 0.5]).confirmed.values()]).toEqual([changedAtMs]);
    // OpenRouter's word confirms nothing then.
    const routed = [row("openai/gpt", card([1, 4]), { vendor: "openrouter" })];
    const hinted = (ms: number) => {
      const feeds = [stateAt(ms, [1, 4], "litellm"), feed("openrouter", routed, { changedAtMs })];
      return reviewPrices(
        catalogWith(),
        checkOf([{ ...feeds[0], changedAtMs: ms } as FeedState, feeds[1] as FeedState], { atMs: ms }),
        200,
      );
    };
    expect([hinted(last), hinted(after)].map(({ proposals }) => proposals[0]?.standing)).toEqual(["agreed", "single"]);
  });

  describe("that is announced", () => {
    const [day, other] = ["2027-01-01", "2027-02-01"];
    const saying = (figures: Figures, from = day) => [
      row("gpt", card([2, 8, 0.5]), { later: [{ from, price: card(figures) }] }),
    ];
    const silent = [row("gpt", card([2, 8, 0.5]))];
    const judgedBy = (litellm: readonly ListedRow[], genai: readonly ListedRow[], more: object = {}) => {
      const check = checkOf([feed("litellm", litellm), feed("genai", genai)], more);
      return reviewPrices(catalogWith(), check, 200).proposals.map(({ standing, startsOn, to }) => [
        ...[standing, startsOn, to.input / MICRO],
      ]);
    };

    it.each<readonly [string, readonly ListedRow[], readonly ListedRow[], unknown]>([
      ["two feeds have it", saying([1, 4]), saying([1, 4]), [["agreed", day, 1]]],
      ["one feed knows of it", silent, saying([1, 4]), [["single", day, 1]]],
      ["they differ", saying([1, 4]), saying([1.5, 4]), [["disputed", day, 1]]],
      [
        "they name other days",
        saying([1, 4]),
        saying([1, 4], other),
        [
          ["single", day, 1],
          ["single", other, 1],
        ],
      ],
      ["it is a factor of ten", saying([20, 80]), saying([20, 80]), [["large", day, 20]]],
      ["it is today's price", saying([2, 8, 0.5]), saying([2, 8, 0.5]), []],
    ])("%s", (_, litellm, genai, proposed) => {
      expect(judgedBy(litellm, genai)).toEqual(proposed);
    });

    it("is none where it is scheduled, and is not taken over again once it was undone", () => {
      const periods = [
        { fromMs: null, untilMs: null, card: card([2, 8, 0.5]), hours: [] },
        { fromMs: Date.parse(day), untilMs: null, card: card([1, 4]), hours: [] },
      ] as const;
      const catalog = catalogWith(periods[0].card, { schedule: periods });
      const check = checkOf([feed("litellm", saying([1, 4])), feed("genai", saying([1, 4]))]);
      expect(reviewPrices(catalog, check, 200).proposals).toEqual([]);
      const [proposal] = reviewPrices(catalogWith(), check, 200).proposals;
      const adopted = { [changeName(proposal as Proposal)]: priceMark((proposal as Proposal).to) };
      expect(judgedBy(saying([1, 4]), saying([1, 4]), { adopted })).toEqual([["undone", day, 1]]);
    });

    it("of a feed that could not be read has no vote", () => {
      const check = checkOf([feed("litellm", saying([1, 4])), feed("genai", saying([1, 4]), { problem: "down" })]);
      expect(reviewPrices(catalogWith(), check, 200).proposals).toMatchObject([{ standing: "single" }]);
    });
  });

  it("that depends on the hour waits, and so does one that somebody undid", () => {
    const rows = [row("gpt", card([1, 4, 0.25]))];
    const feeds = [feed("litellm", rows), feed("genai", rows)];
    const timed = [feed("litellm", rows), feed("genai", [{ ...row("gpt", card([1, 4])), isTimed: true }])];
    expect(reviewPrices(catalogWith(), checkOf(timed), 200).proposals).toMatchObject([{ standing: "timed" }]);
    const [first] = reviewPrices(catalogWith(), checkOf(feeds), 200).proposals;
    const adopted = { "openai\ngpt": priceMark(first?.to as RateCard) };
    expect(reviewPrices(catalogWith(), checkOf(feeds, { adopted }), 200).proposals).toMatchObject([
      { standing: "undone" },
    ]);
  });

  it("is an operator's own unless the catalogue, a feed or a provider's list is its source", () => {
    const isOwn = (source: string): boolean => isOperatorPrice(source, ["https://lists.example/prices.json"]);
    expect(["run-time configuration", "our contract", "https://vendor.example/pricing"].map(isOwn)).toEqual([
      ...[true, true, true],
    ]);
    const others = [
      "",
      "LiteLLM",
      "LiteLLM and genai-prices",
      "https://lists.example/prices.json",
      "model list of lab",
    ];
    expect(others.filter(isOwn)).toEqual([]);
    expect(isFeedSource("LiteLLM and Joe")).toBe(false);
  });
});
