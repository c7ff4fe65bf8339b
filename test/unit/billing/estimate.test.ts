// What a hold must cover: a bound on every answer within the cap, and the longest answer that an amount buys.

import { expect, test } from "vitest";
import {
  affordableOutput,
  holdAmounts,
  inputTokensPossible,
  leastUseful,
  type Quote,
  type QuoteInput,
  quoteChain,
} from "../../../src/billing/estimate.ts";
import type { ChatRequest, ContentPart } from "../../../src/core/chat.ts";
import type { Model } from "../../../src/core/model.ts";
import { costNano } from "../../../src/core/money.ts";
import { priceOf, type RateCard } from "../../../src/core/price.ts";
import { fc } from "../../support/property.ts";

function modelOf(changes: Partial<Model>): Model {
  const price = { input: 3_000_000, output: 15_000_000, cacheRead: 300_000, cacheWrite: null };
  return { id: "m", price, context: 200_000, maxOutput: 8_000, ...changes } as Model;
}

function chatOf(changes: Partial<ChatRequest> = {}): ChatRequest {
  return { messages: [], maxOutputTokens: null, choiceCount: 1, ...changes } as ChatRequest;
}

function inputOf(changes: Partial<QuoteInput>): QuoteInput {
  return {
    models: [modelOf({})],
    chat: chatOf(),
    bodyBytes: 1_000,
    expectedOutputTokens: 500,
    markupPpm: 50_000,
    ...changes,
  };
}

test("a hold covers all rounds of a model that searches, with its fee for each request", () => {
  const card: RateCard = {
    input: 3_000_000,
    output: 15_000_000,
    cacheRead: null,
    cacheWrite: null,
    own: { request: 7_000_000_000 },
  };
  const search = { uses: 20, perRound: 8, bytes: 12_000, rate: 9_000_000_000 };
  const fetch = { uses: 4, perRound: 3, bytes: 20_000, rate: 1_000_000_000 };
  const image = { uses: 2, perRound: 2, bytes: 200, rate: 0 };
  const pictures = { count: 2, rate: 40_000_000_000 };
  const ownSearches = { rounds: 3, search, fetch, image };
  const input = inputOf({
    models: [modelOf({ price: card })],
    chat: chatOf({ ownSearches, pictures, maxOutputTokens: 4_000 }),
  });
  const [quote] = quoteChain(input);
  const prompts = [0, 8, 16, 20].map(
    (found, round) => 500 + found * 6_000 + Math.min(4, round * 3) * 10_000 + round * 4_000,
  );
  const buckets = { input: prompts.reduce((sum, tokens) => sum + tokens), cacheRead: 0, cacheWrite: 0, output: 16_000 };
  const used = {
    buckets,
    ownSearches: { count: 20, rate: search.rate, rounds: 4, fetched: { count: 4, rate: fetch.rate } },
    pictures: [{ unit: "image" as const, ...pictures }],
  };
  expect(quote?.amount).toBeGreaterThanOrEqual(costNano(buckets, priceOf(card, used), input.markupPpm));
  expect(Number(quote?.amount)).toBeLessThan(1.6 * Number(costNano(buckets, priceOf(card, used), input.markupPpm)));
});

const rate = fc.integer({ min: 0, max: 150_000_000 });
/** Uses of a tool of the gateway; null where it is not offered. */
const uses = fc.option(
  fc.record({
    uses: fc.integer({ min: 1, max: 20 }),
    perRound: fc.integer({ min: 1, max: 8 }),
    bytes: fc.integer({ min: 1, max: 40_000 }),
    rate,
  }),
);
const own = fc.record(
  Object.fromEntries(
    (
      [
        "cacheWriteLong",
        "audioCacheRead",
        "imageCacheRead",
        "audioInput",
        "imageInput",
        "videoInput",
        "audioOutput",
      ] as const
    )
      .concat(["imageOutput", "reasoning", "request", "search", "searchedPrompt", "characters", "minute"] as never)
      .map((unit) => [unit, rate]),
  ),
  { requiredKeys: [] },
);
const plainPrice = fc.record({
  input: fc.integer({ min: 0, max: 75_000_000 }),
  output: fc.integer({ min: 0, max: 200_000_000 }),
  cacheRead: fc.option(fc.integer({ min: 0, max: 75_000_000 })),
  cacheWrite: fc.option(fc.integer({ min: 0, max: 150_000_000 })),
});
const KINDS = ["any", "low", "high", "1024x1024", "1536x1024", "1024x1024/low", "1536x1024/high"] as const;
const images = fc.option(fc.dictionary(fc.constantFrom(...KINDS), rate, { maxKeys: 4 }), { nil: undefined });
const least = fc.option(fc.integer({ min: 0, max: 3_600 }), { nil: undefined });
const rates = fc.tuple(plainPrice, own, images, least).map(([plain, units, kinds, leastSeconds]) => ({
  ...{ ...plain, own: units },
  ...(kinds === undefined ? {} : { images: kinds }),
  ...(leastSeconds === undefined ? {} : { leastSeconds }),
}));
const banded = fc
  .tuple(
    rates,
    fc.uniqueArray(fc.tuple(fc.integer({ min: 1, max: 180_000 }), rates), {
      maxLength: 3,
      selector: ([above]) => above,
    }),
  )
  .map(([usual, bands]) => ({
    ...usual,
    bands: bands.map(([above, each]) => ({ ...each, above })).sort((a, b) => a.above - b.above),
  }));
const arbitraryPrice: fc.Arbitrary<RateCard> = fc
  .tuple(banded, fc.record({ batch: banded, flex: banded, priority: banded }, { requiredKeys: [] }))
  .map(([usual, tiers]) => ({ ...usual, tiers }));
const SIZES = ["auto", "1024x1024", "1536x1024"] as const;
const QUALITIES = ["auto", "low", "high"] as const;
const image: ContentPart = { type: "image_url", image_url: { url: "https://example.test/a.png" } };

const arbitraryInput = fc
  .record({
    price: arbitraryPrice,
    cap: fc.option(fc.integer({ min: 1, max: 20_000 })),
    choiceCount: fc.integer({ min: 1, max: 8 }),
    bodyBytes: fc.integer({ min: 2, max: 300_000 }),
    maxOutput: fc.integer({ min: 1, max: 16_000 }),
    context: fc.integer({ min: 1_000, max: 200_000 }),
    markupPpm: fc.integer({ min: 0, max: 500_000 }),
    mayCacheLong: fc.boolean(),
    hasMedia: fc.boolean(),
    serviceTier: fc.constantFrom(undefined, "default" as const, "flex" as const, "priority" as const),
    searches: fc.integer({ min: 0, max: 100 }),
    ownSearches: fc.option(fc.record({ rounds: fc.integer({ min: 1, max: 6 }), search: uses, fetch: uses }), {
      nil: undefined,
    }),
    media: fc.option(
      fc.record({
        images: fc.option(fc.tuple(fc.constantFrom(...SIZES), fc.constantFrom(...QUALITIES)), { nil: undefined }),
        characters: fc.integer({ min: 0, max: 5_000 }),
        minute: fc.integer({ min: 0, max: 10_000_000 }),
      }),
      { nil: undefined },
    ),
  })
  .map(({ price, cap, choiceCount, bodyBytes, maxOutput, context, markupPpm, mayCacheLong, hasMedia, ...asked }) =>
    inputOf({
      models: [modelOf({ price, maxOutput, context })],
      chat: chatOf({
        maxOutputTokens: cap,
        choiceCount,
        ...(asked.serviceTier && { serviceTier: asked.serviceTier }),
        searches: asked.searches,
        ...(asked.ownSearches && { ownSearches: { ...asked.ownSearches, image: asked.ownSearches.fetch } }),
        ...(asked.searches > 0 && { pictures: { count: asked.searches, rate: 40_000_000 + price.output } }),
        ...(hasMedia ? { messages: [{ role: "user", content: [image] }] } : {}),
      }),
      bodyBytes,
      markupPpm,
      mayCacheLong,
      media: asked.media && {
        counted: { characters: asked.media.characters, minute: asked.media.minute },
        ...(asked.media.images && { images: { [asked.media.images.join("/")]: choiceCount } }),
      },
    }),
  );

/** What a host makes of a picture whose size or quality is left to it. */
function toldKind(asked: string, [size, quality]: readonly [string, string]): string {
  const [wantedSize, wantedQuality] = asked.split("/");
  return `${wantedSize === "auto" ? size : wantedSize}/${wantedQuality === "auto" ? quality : wantedQuality}`;
}

test("no answer within the cap costs more than the quote, whichever band, tier and units it is charged at", () => {
  const share = fc.double({ min: 0, max: 1, noNaN: true });
  const shares = fc.array(share, { minLength: 19, maxLength: 19 });
  const chosen = fc.tuple(fc.constantFrom(...SIZES), fc.constantFrom(...QUALITIES));
  fc.assert(
    fc.property(arbitraryInput, shares, fc.boolean(), chosen, (input, some, isTiered, kind) => {
      const [quote] = quoteChain(input);
      const { model, inputTokens, outputTokens, amount } = quote!;
      const { chat, mayCacheLong, media } = input;
      let place = 0;
      const of = (count: number): number => Math.floor(count * (some[place++] ?? 0));
      const rounds = 1 + of(chat.ownSearches?.rounds ?? 0);
      // A later round reads what the model wrote in those before.
      const prompt = of(inputTokens + (outputTokens * rounds * (rounds - 1)) / 2);
      const cacheRead = of(prompt);
      const cacheWrite = of(prompt - cacheRead);
      const output = of(outputTokens * chat.choiceCount * rounds);
      const buckets = { input: prompt - cacheRead - cacheWrite, cacheRead, cacheWrite, output };
      const search = of(chat.searches ?? 0);
      const { serviceTier: asked, ownSearches } = chat;
      const seen = (chat.messages?.length ?? 0) > 0 || media !== undefined ? 1 : 0;
      const usage = {
        buckets,
        longCacheWrite: mayCacheLong ? of(cacheWrite) : 0,
        reasoning: of(output),
        longestPrompt: of(prompt),
        parts: {
          ...{ audioInput: of(seen * buckets.input), imageInput: of(seen * buckets.input) },
          ...{ videoInput: of(seen * buckets.input), audioCacheRead: of(seen * cacheRead) },
          ...{ imageCacheRead: of(seen * cacheRead), audioOutput: of(output), imageOutput: of(output) },
          ...{ search, searchedPrompt: Math.min(1, search) },
          ...{ characters: of(media?.counted?.characters ?? 0), minute: of(media?.counted?.minute ?? 0) },
        },
        images: Object.fromEntries(
          Object.entries(media?.images ?? {}).map(([name, count]) => [toldKind(name, kind), of(count)]),
        ),
        ...(ownSearches && {
          ownSearches: {
            ...{ count: of(ownSearches.search?.uses ?? 0), rate: ownSearches.search?.rate ?? 0, rounds },
            fetched: { count: of(ownSearches.fetch?.uses ?? 0), rate: ownSearches.fetch?.rate ?? 0 },
          },
        }),
        ...(chat.pictures && {
          pictures: [{ unit: "image" as const, count: of(chat.pictures.count), rate: chat.pictures.rate }],
        }),
        ...(isTiered && asked !== undefined && asked !== "default" ? { serviceTier: asked } : {}),
      };
      expect(costNano(buckets, priceOf(model.price!, usage), input.markupPpm) <= amount).toBe(true);
    }),
    { numRuns: 1_000 },
  );
});

test("the affordable output is the longest that the amount covers, and never longer than the model's", () => {
  fc.assert(
    fc.property(arbitraryInput, fc.bigInt({ min: 0n, max: 2_000_000_000n }), (input, amount) => {
      const [quote] = quoteChain(input);
      const cap = affordableOutput(quote!, amount, input);
      const costOf = (outputTokens: number) =>
        quoteChain({
          ...input,
          chat: { ...input.chat, maxOutputTokens: outputTokens },
        })[0]!.amount;
      const { maxOutput } = quote!.model;
      const isLongest =
        cap === null
          ? costOf(Math.min(Math.max(16, Math.ceil(input.expectedOutputTokens / 2)), maxOutput)) > amount
          : cap <= maxOutput && costOf(cap) <= amount && (cap === maxOutput || costOf(cap + 1) > amount);
      expect(isLongest).toBe(true);
    }),
  );
});

test("the hold's amounts go down, without repetition, from the dearest model of the chain", () => {
  const price = (input: number) => ({ input, output: input, cacheRead: null, cacheWrite: 0 });
  const models = [3, 9, 3, 1].map((input) => modelOf({ price: price(input * 1_000_000) }));
  const amounts = holdAmounts(quoteChain(inputOf({ models })));
  expect(amounts).toHaveLength(3);
  expect(amounts).toEqual([...amounts].sort((a, b) => (a > b ? -1 : 1)));
});

test("a shorter answer will do only where the client left the length open", () => {
  const open = inputOf({});
  const capped = inputOf({ chat: chatOf({ maxOutputTokens: 100 }) });
  expect(leastUseful(quoteChain(capped), capped)).toBeNull();
  expect(leastUseful(quoteChain(open), open)! < quoteChain(open)[0]!.amount).toBe(true);
});

test("the cap counts once for each choice, and never beyond what the model can write", () => {
  const tokens = (chat: Partial<ChatRequest>) => quoteChain(inputOf({ chat: chatOf(chat) }))[0]!;
  expect(tokens({ maxOutputTokens: 100_000 }).outputTokens).toBe(8_000);
  const [one, three] = [tokens({ maxOutputTokens: 1_000 }), tokens({ maxOutputTokens: 1_000, choiceCount: 3 })];
  expect(three.amount - one.amount).toBe(2_000n * 15_000n + (2_000n * 15_000n * 5n) / 100n);
});

const letters = "x".repeat(80_000);

test.each<[string, ContentPart, number]>([
  ["a picture at a flat rate", { type: "image_url", image_url: { url: `data:image/png;base64,${letters}` } }, 4_000],
  ["a document by its size", { type: "file", file: { file_data: `data:application/pdf;base64,${letters}` } }, 10_004],
  ["sound by its size", { type: "input_audio", input_audio: { data: letters, format: "wav" } }, 10_001],
  ["a small document at the flat rate", { type: "file", file: { file_id: "file-1" } }, 4_000],
  ["a document of plain text as text", { type: "document", source: { type: "text", data: letters } }, 44_000],
  ["text in a file as text", { type: "file", file: { file_data: `data:text/plain;base64,${letters}` } }, 44_000],
  ["something unknown as text", { type: "other", other: { of: letters } }, 44_000],
])("%s", (_, part, expected) => {
  const chat = chatOf({ messages: [{ role: "user", content: [part] }] });
  const bodyBytes = JSON.stringify(part).length;
  const { inputTokens } = quoteChain(inputOf({ chat, bodyBytes }))[0]!;
  expect(Math.abs(inputTokens - expected)).toBeLessThan(150);
});

test("a tokenizer that needs fewer tokens on average makes no hold smaller", () => {
  const tokensWith = (changes: Partial<Model>) => quoteChain(inputOf({ models: [modelOf(changes)] }))[0]!.inputTokens;
  expect(tokensWith({ tokenFactor: 0.5 })).toBe(tokensWith({}));
  expect(tokensWith({ tokenFactor: 1.5 })).toBe(tokensWith({}) * 1.5);
});

test("searches are held where only a service tier or a band has a fee for them", () => {
  const rates = { input: 1, output: 1, cacheRead: null, cacheWrite: null };
  const dear = { ...rates, own: { search: 25_000_000_000 } };
  const chat = chatOf({ searches: 2, serviceTier: "flex" });
  for (const price of [
    { ...rates, tiers: { flex: dear } },
    { ...rates, bands: [{ ...dear, above: 1 }] },
  ]) {
    const [{ amount }] = quoteChain(inputOf({ models: [modelOf({ price })], chat, markupPpm: 0 })) as [Quote];
    expect(amount).toBeGreaterThanOrEqual(50_000_000n);
  }
});

test("no more input is held than the model can read, and more than a token a byte is out of bounds", () => {
  const { inputTokens } = quoteChain(inputOf({ bodyBytes: 10_000_000 }))[0]!;
  expect(inputTokens).toBe(200_000);
  expect(inputTokensPossible(chatOf(), 1_000)).toBeGreaterThanOrEqual(1_000);
  expect(inputTokensPossible(chatOf(), 1_000)).toBeLessThan(10_000);
});
