// Price lists: every digit of a price is read as written, rows that cannot be true are refused with their reason, and the
// difference to the catalogue is told host by host.

import { describe, expect, it } from "vitest";
import { readPerToken } from "../../../../src/catalog/prices/decimal.ts";
import { diffPrices } from "../../../../src/catalog/prices/diff.ts";
import { createListReader, readPriceList as readList } from "../../../../src/catalog/prices/list.ts";
import { type PriceRow, priceFromRow } from "../../../../src/catalog/prices/rows.ts";
import { load } from "../../../../src/config/load.ts";
import { makeCatalog, makeModel, makeProvider } from "../../../support/catalog.ts";
import { fc } from "../../../support/property.ts";

const readPriceList = (text: string) => readList(text, { day: "2026-11-19" });

describe("a price per token", () => {
  it.each([
    ["1.5e-07", 150_000],
    ["1.5E-7", 150_000],
    ["0.00000015", 150_000],
    ["0.000015", 15_000_000],
    ["3e-05", 30_000_000],
    ["0", 0],
    ["0.0", 0],
    ["-0.0", 0],
    ["0e-9", 0],
    ["1.1550000000000001e-06", 1_155_000],
    ["2.9999999999999997e-06", 3_000_000],
    ["1e-12", 1],
    ["0.01", 10_000_000_000],
  ])("%s is %i micro-USD per million", (text, micro) => {
    expect(readPerToken(text)).toEqual({ ok: true, micro });
  });

  it.each([
    ["-1", "is negative"],
    ["-1.5e-07", "is negative"],
    ["NaN", "is not a number"],
    ["Infinity", "is not a number"],
    ["", "is not a number"],
    ["1,5", "is not a number"],
    ["0x10", "is not a number"],
    ["1e-13", "is finer than a millionth of a USD per million tokens"],
    ["2.5", "is too high to be a price per token"],
    ["1e80", "is too high to be a price per token"],
    ["1e99999", "is out of range"],
    [`0.${"1".repeat(80)}`, "is out of range"],
  ])("%s %s", (text, reason) => {
    expect(readPerToken(text)).toEqual({ ok: false, reason });
  });

  it("is the same in every notation, for every price that can be charged", () => {
    const micro = fc.integer({ min: 0, max: 10_000_000_000 });
    fc.assert(
      fc.property(micro, fc.integer({ min: -20, max: 20 }), fc.nat(5), (price, shift, zeros) => {
        const plain = `0.${String(price).padStart(12, "0")}`.replace(/^0\.(\d+)(\d{12})$/, "$1.$2");
        const digits = `${price}${"0".repeat(zeros)}`;
        const scientific = `${digits}e${-12 - zeros}`;
        const at = Math.abs(shift) % (digits.length + 1);
        const pointed = `${digits.slice(0, digits.length - at) || "0"}.${digits.slice(digits.length - at)}e${at - 12 - zeros}`;
        for (const text of [plain, scientific, pointed])
          expect([text, readPerToken(text)]).toEqual([text, { ok: true, micro: price }]);
      }),
    );
  });

  it("never throws, and never gives what cannot be charged", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.double().map(String)), (text) => {
        const read = readPerToken(text);
        if (read.ok) expect(Number.isSafeInteger(read.micro) && read.micro >= 0 && read.micro <= 1e10).toBe(true);
      }),
    );
  });
});

const LITELLM = `{
  "sample_spec": { "litellm_provider": "one of…", "input_cost_per_token": 0.0 },
  "gpt-4.1-mini": { "litellm_provider": "openai", "mode": "chat", "input_cost_per_token": 4.4e-07, "output_cost_per_token": 1.6e-06, "cache_read_input_token_cost": 1e-07, "max_input_tokens": 1047576, "max_output_tokens": 32768, "supports_function_calling": true, "supports_vision": true, "supports_response_schema": true, "supports_reasoning": false },
  "groq/fast-new": { "litellm_provider": "groq", "mode": "chat", "input_cost_per_token": "5e-08", "output_cost_per_token": 8e-8, "max_tokens": 131072.0 },
  "text-embedding-3-small": { "litellm_provider": "openai", "mode": "embedding", "input_cost_per_token": 2e-08, "note": "12 of \\"3\\" e5" },
  "o-pro": { "litellm_provider": "openai", "mode": "responses", "input_cost_per_token": 1e-7, "output_cost_per_token": 1e-7, "supports_reasoning": true },
  "tts": { "litellm_provider": "openai", "mode": "audio_speech", "input_cost_per_token": 1e-7, "output_cost_per_token": 1e-7 },
  "dall-e-3": { "litellm_provider": "openai", "mode": "image_generation", "input_cost_per_pixel": 1e-8 },
  "bad-nan": { "litellm_provider": "openai", "input_cost_per_token": NaN, "output_cost_per_token": 1e-7 },
  "bad-minus": { "litellm_provider": "openai", "input_cost_per_token": -1e-7, "output_cost_per_token": 1e-7 },
  "bad-units": { "litellm_provider": "openai", "input_cost_per_token": 2.5, "output_cost_per_token": 10 },
  "bad-half": { "litellm_provider": "openai", "input_cost_per_token": 1e-7 },
  "bad-shape": 7
}`;

describe("a list", () => {
  it("of LiteLLM", () => {
    const list = readPriceList(LITELLM);
    expect(list?.format).toBe("litellm");
    expect(list?.rows).toEqual([
      {
        upstream: "gpt-4.1-mini",
        vendor: "openai",
        price: { input: 440_000, output: 1_600_000, cacheRead: 100_000, cacheWrite: null },
        context: 1_047_576,
        maxOutput: 32_768,
        capabilities: ["tools", "vision", "json"],
      },
      {
        upstream: "fast-new",
        vendor: "groq",
        price: { input: 50_000, output: 80_000, cacheRead: null, cacheWrite: null },
        context: 131_072,
        maxOutput: null,
        capabilities: [],
      },
      {
        upstream: "text-embedding-3-small",
        vendor: "openai",
        price: { input: 20_000, output: 0, cacheRead: null, cacheWrite: null },
        context: null,
        maxOutput: null,
        capabilities: ["embeddings"],
      },
      {
        upstream: "o-pro",
        vendor: "openai",
        price: { input: 100_000, output: 100_000, cacheRead: null, cacheWrite: null },
        context: null,
        maxOutput: null,
        capabilities: ["reasoning"],
        formats: ["openai-responses"],
      },
    ]);
    expect(list?.refused).toEqual([
      { upstream: "bad-nan", vendor: "openai", reason: "the input price is not a number" },
      { upstream: "bad-minus", vendor: "openai", reason: "the input price is negative" },
      { upstream: "bad-units", vendor: "openai", reason: "the input price is too high to be a price per token" },
      { upstream: "bad-half", vendor: "openai", reason: "the output price is missing" },
    ]);
  });

  it("of LiteLLM with bands, service tiers and units", () => {
    const row = {
      ...{ litellm_provider: "openai", input_cost_per_token: 4e-6, output_cost_per_token: 2e-5 },
      ...{ input_cost_per_token_above_272k_tokens: 8e-6, output_cost_per_token_above_272k_tokens: 3e-5 },
      ...{ cache_creation_input_token_cost: 5e-6, cache_creation_input_token_cost_above_12hr: 1e-5 },
      ...{ input_cost_per_token_flex: 2e-6, output_cost_per_token_flex: 1e-5 },
      ...{ input_cost_per_token_above_272k_tokens_flex: 4e-6, cache_creation_input_token_cost_flex: 2.5e-6 },
      // The rate of output anyway, which in a tier would be wrong.
      ...{ output_cost_per_reasoning_token: 2e-5, input_cost_per_audio_token: 3.2e-5 },
    };
    const listed = readPriceList(JSON.stringify({ "gpt-x": row }))?.rows[0]?.price;
    const own = { cacheWriteLong: 10_000_000, audioInput: 32_000_000 };
    const usual = { input: 4_000_000, output: 20_000_000, cacheRead: null, cacheWrite: 5_000_000, own };
    const flex = { input: 2_000_000, output: 10_000_000, cacheRead: null, cacheWrite: 2_500_000, own };
    expect(listed).toEqual({
      ...usual,
      bands: [{ ...usual, above: 272_000, input: 8_000_000, output: 30_000_000 }],
      tiers: { flex: { ...flex, bands: [{ ...flex, above: 272_000, input: 4_000_000 }] } },
    });
    const broken = JSON.stringify({ "gpt-x": { ...row, output_cost_per_token_above_272k_tokens: -1 } });
    expect(readPriceList(broken)?.refused).toEqual([
      { upstream: "gpt-x", vendor: "openai", reason: "output_cost_per_token_above_272k_tokens is negative" },
    ]);
  });

  it("of OpenRouter", () => {
    const list = readPriceList(
      JSON.stringify({
        data: [
          {
            id: "openai/gpt-4.1",
            context_length: 1_047_576,
            pricing: { prompt: "0.000002", completion: "0.000008", input_cache_read: "0.0000005", request: "0" },
            top_provider: { max_completion_tokens: 32_768 },
            architecture: { input_modalities: ["text", "image", "file"] },
            supported_parameters: ["tools", "response_format", "temperature"],
          },
          { id: "openrouter/auto", pricing: { prompt: "-1", completion: "-1" } },
          { id: "no-prices" },
          null,
        ],
      }),
    );
    expect(list).toEqual({
      format: "openrouter",
      rows: [
        {
          upstream: "openai/gpt-4.1",
          vendor: "openrouter",
          price: { input: 2_000_000, output: 8_000_000, cacheRead: 500_000, cacheWrite: null },
          context: 1_047_576,
          maxOutput: 32_768,
          capabilities: ["tools", "vision", "json", "files"],
        },
      ],
      refused: [{ upstream: "openrouter/auto", vendor: "openrouter", reason: "the input price is negative" }],
    });
  });

  it("of genai-prices: the prices of a day, with bands, later ones and hours", () => {
    const priced = (prices: unknown, more: object = {}) => ({ prices, ...more });
    const banded = { base: 2, tiers: [{ start: 272_000, price: 4.5 }] };
    const models = [
      {
        id: "gpt-6",
        match: { or: [{ equals: "gpt-6-2026-09-01" }, { starts_with: "gpt-6-" }] },
        context_window: 1_050_000,
        ...priced({ input_mtok: banded, cache_read_mtok: 0.1, output_mtok: 10, input_audio_mtok: 32 }),
      },
      {
        id: "dated",
        ...priced([
          { prices: { input_mtok: 9, output_mtok: 9 } },
          { constraint: { start_date: "2027-01-01" }, prices: { input_mtok: 1.5, output_mtok: 7.5 } },
          { constraint: { start_date: "2026-11-19" }, prices: { input_mtok: 0.75, output_mtok: 3.75 } },
        ]),
      },
      {
        id: "timed",
        deprecated: true,
        ...priced([
          { prices: { input_mtok: 0.15, output_mtok: 0.6 } },
          { constraint: { start_time: "01:00:00Z", end_time: "09:00:00Z" }, prices: { input_mtok: 0.3 } },
        ]),
      },
      { id: "per-image", ...priced({ requests_kcount: 5 }) },
      { id: "minus", ...priced({ input_mtok: -1, output_mtok: 1 }) },
    ];
    const list = readPriceList(
      JSON.stringify([
        { id: "x-ai", name: "X", models },
        { id: "empty", models: [] },
      ]),
    );
    const plain = { cacheRead: null, cacheWrite: null };
    const row = { vendor: "xai", context: null, maxOutput: null, capabilities: [] };
    const own = { audioInput: 32_000_000 };
    const usual = { input: 2_000_000, output: 10_000_000, cacheRead: 100_000, cacheWrite: null, own };
    const price = { ...usual, bands: [{ ...usual, above: 272_000, input: 4_500_000 }] };
    expect(list).toEqual({
      format: "genai-prices",
      rows: [
        { ...row, upstream: "gpt-6", price, context: 1_050_000 },
        { ...row, upstream: "gpt-6-2026-09-01", price, context: 1_050_000 },
        {
          ...{ ...row, upstream: "dated", price: { input: 750_000, output: 3_750_000, ...plain } },
          later: [{ from: "2027-01-01", price: { input: 1_500_000, output: 7_500_000, ...plain } }],
        },
        {
          ...{ ...row, upstream: "timed", price: { input: 150_000, output: 600_000, ...plain } },
          ...{ isTimed: true, retires: "" },
        },
      ],
      refused: [{ upstream: "minus", vendor: "xai", reason: "input_mtok is negative" }],
    });
  });

  it("that arrives in parts is the same list, and only what is wanted is kept", () => {
    const whole = readPriceList(LITELLM);
    for (const size of [1, 7, 100]) {
      const reader = createListReader({ day: "2026-11-19" });
      for (let at = 0; at < LITELLM.length; at += size) reader.push(LITELLM.slice(at, at + size));
      expect(reader.end()).toEqual(whole);
    }
    const groq = readList(LITELLM, { day: "2026-11-19", isWanted: (vendor) => vendor === "groq" });
    expect(groq?.rows.map(({ upstream }) => upstream)).toEqual(["fast-new"]);
    expect(groq?.refused).toEqual([]);
  });

  it.each([
    LITELLM.slice(0, -2),
    `${LITELLM}}`,
    `${LITELLM},`,
    `${LITELLM} {}`,
    LITELLM.replace("},", "}"),
    LITELLM.replace("},", "},,"),
    LITELLM.replace(/\}$/, "]"),
    LITELLM.replace('"bad-shape"', "bad-shape"),
    '{"data": [{"id": "a", "pricing": {}}, ]}',
    '{"data": [{"id": "a", "pricing": {}}] 1}',
  ])("with a mistake in its JSON is refused as a whole", (text) => {
    expect(readPriceList(text)).toBeNull();
  });

  it.each(["", "<html>", "[]", "7", "{}", '{"a": 1}', '{"a": {"b": 1}', "NaN"])("is not %s", (text) => {
    expect(readPriceList(text)).toBeNull();
  });
});

describe("the difference to the catalogue", () => {
  const env = { OPENAI_API_KEY: "sk-1", GROQ_API_KEY: "gsk-1" };
  const loaded = load({ flags: {}, env, cwd: import.meta.dirname });
  if (!loaded.ok) throw new Error("the built-in catalogue does not load");
  const { catalog } = loaded.settings;
  const list = readPriceList(LITELLM);
  const diff = diffPrices(catalog, list ?? { rows: [], refused: [] });

  it("names what changed, by how much, and since when it was so", () => {
    const change = diff.changes.find(({ model }) => model === "gpt-4.1-mini");
    expect(change).toMatchObject({
      provider: "openai",
      from: { input: 400_000, output: 1_600_000 },
      fromAsOf: expect.stringMatching(/^\d{4}-\d{2}-\d{2}$/),
      to: { input: 440_000, output: 1_600_000, cacheRead: 100_000 },
      percent: 10,
    });
  });

  it("lists models of configured providers that the catalogue lacks", () => {
    expect(diff.unpriced).toContainEqual({
      provider: "groq",
      upstream: "fast-new",
      price: { input: 50_000, output: 80_000, cacheRead: null, cacheWrite: null },
      context: 131_072,
      maxOutput: null,
      model: null,
      isOwnPrice: false,
      capabilities: [],
    });
  });

  it("says nothing of providers that are not configured", () => {
    const none = diffPrices({ ...catalog, providers: new Map() }, list ?? { rows: [], refused: [] });
    expect(none).toEqual({ changes: [], same: 0, refused: [], unpriced: [] });
  });

  const pricesOf = (ours: PriceRow, listed: PriceRow, more: { readonly context?: number } = {}) => {
    const { price, schedule } = priceFromRow(ours)!;
    const host = makeModel({ id: "m", provider: "lab", price, ...(schedule && { schedule }), ...more });
    const own = makeCatalog({ chains: { SIMPLE: [host] }, providers: [makeProvider({ id: "lab" })] });
    const row = { ...{ upstream: host.upstream, vendor: "lab", context: null, maxOutput: null, capabilities: [] } };
    return diffPrices(own, { rows: [{ ...row, price: priceFromRow(listed)!.price }], refused: [] }).changes;
  };
  const plain = { input: 2, output: 10 };
  const bands = [{ above: 200_000, input: 4, output: 15 }];

  it.each<[string, PriceRow, PriceRow, { readonly context?: number }, number | null | undefined]>([
    ["a band that we lack", plain, { ...plain, bands }, { context: 500_000 }, 100],
    ["a band beyond our window", plain, { ...plain, bands }, { context: 200_000 }, undefined],
    ["another price in a band", { ...plain, bands }, { ...plain, bands: [{ ...bands[0]!, input: 5 }] }, {}, 25],
    [
      "an edge that belongs to the band",
      { ...plain, bands: [{ ...bands[0]!, above: 199_999 }] },
      { ...plain, bands },
      {},
      undefined,
    ],
    ["a tier that we lack", plain, { ...plain, factors: { batch: 0.5 } }, {}, undefined],
    ["another factor", { ...plain, factors: { batch: 0.5 } }, { ...plain, factors: { batch: 0.8 } }, {}, 60],
    ["a unit at the price of its bucket", plain, { ...plain, imageInput: 2 }, {}, undefined],
    ["a unit at another price", plain, { ...plain, imageInput: 3 }, {}, 50],
    [
      "the price of peak hours",
      { ...plain, hours: [{ from: "00:00", until: "24:00", factor: 2 }] },
      { input: 4, output: 20 },
      {},
      undefined,
    ],
  ])("knows %s", (_name, ours, listed, more, percent) => {
    expect(pricesOf(ours, listed, { context: 1_000_000, ...more })[0]?.percent).toBe(percent);
  });

  it("keeps the edge of our band, and what a list has no word for", () => {
    const ours = { ...plain, bands: [{ ...bands[0]!, above: 199_999 }], factors: { priority: 2 } };
    const [change] = pricesOf(ours, { input: 3, output: 10, bands }, { context: 1_000_000 });
    expect(change?.to).toMatchObject({
      input: 3_000_000,
      bands: [{ above: 199_999, input: 4_000_000 }],
      tiers: { priority: { input: 4_000_000 } },
    });
  });

  it("is nothing where the list is right", () => {
    const model = catalog.models.get("gpt-4.1-mini");
    const price = { ...(model?.price ?? { input: 0, output: 0, cacheRead: null, cacheWrite: null }), cacheWrite: null };
    const row = { upstream: "gpt-4.1-mini", vendor: "openai", price, context: null, maxOutput: null, capabilities: [] };
    expect(diffPrices(catalog, { rows: [row], refused: [] })).toMatchObject({
      changes: [],
      same: 1,
    });
  });
});
