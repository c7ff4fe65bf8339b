// Models that are new at a provider: which count, and which are one at several providers.

import { describe, expect, it } from "vitest";
import type { ListedRow } from "../../../../src/catalog/prices/listed.ts";
import { newcomers, newModels } from "../../../../src/catalog/prices/newcomers.ts";
import type { Model } from "../../../../src/core/model.ts";
import { makeCatalog, makeModel, makeProvider } from "../../../support/catalog.ts";
import { card, catalogWith, checkOf, feed, row } from "../../../support/providers/feed-states.ts";

describe("a model that is new", () => {
  const TERMS = { catalogDay: "2026-11-18", today: "2026-12-01", before: { openai: [] } };
  const offer = (id: string, more: object = {}) => ({ id, price: null, ...more });
  const found = (
    ids: readonly ReturnType<typeof offer>[],
    { rows, genai = [], terms = TERMS, more = {} }: FoundTerms,
  ) => {
    const feeds = [feed("litellm", rows), feed("genai", genai)];
    return newcomers(catalogWith(), checkOf(feeds, { offered: { openai: ids }, ...more }), terms);
  };
  interface FoundTerms {
    readonly rows: readonly ListedRow[];
    readonly genai?: readonly ListedRow[];
    readonly terms?: Parameters<typeof newcomers>[2];
    readonly more?: object;
  }

  it("is one that its provider lists and a feed prices", () => {
    const rows = ["gpt-7", "gpt-2026-01-31", "gpt", "elsewhere"].map((id) => row(id, card([1, 4])));
    const offers = ["gpt", "gpt-2026-01-31", "gpt-7", "gpt-8"].map((id) => offer(id));
    expect(found(offers, { rows })).toEqual([
      {
        ...{ provider: "openai", upstream: "gpt-7", price: card([1, 4]), feeds: ["litellm"], tier: "STANDARD" },
        ...{ context: null, maxOutput: null, capabilities: [], isChainable: true },
      },
    ]);
  });

  it.each([
    [[0.1, 0.3], "NANO"],
    [[0.1, 0.5], "SIMPLE"],
    [[0.5, 2], "LIGHT"],
    [[1, 4], "STANDARD"],
    [[4, 20], "COMPLEX"],
  ] as const)("at %s belongs to %s", (figures, tier) => {
    expect(found([offer("gpt-7")], { rows: [row("gpt-7", card(figures))] })).toMatchObject([{ tier }]);
  });

  it.each([
    ["priced by nobody", [], []],
    ["disputed", [row("gpt-7", card([1, 4]))], [row("gpt-7", card([10, 40]))]],
    ["free", [row("gpt-7", card([0, 0]))], []],
    ["gone", [row("gpt-7", card([1, 4]), { retires: "2026-11-30" })], []],
    ["deprecated", [row("gpt-7", card([1, 4]), { retires: "" })], []],
    ["no chat model", [row("gpt-7", card([1, 4]), { capabilities: ["embeddings"] })], []],
    ["priced by the hour", [row("gpt-7", card([1, 4]), { isTimed: true })], []],
    ["free at a service tier", [row("gpt-7", { ...card([1, 4]), tiers: { flex: card([0, 4]) } })], []],
    ["free for long prompts", [row("gpt-7", { ...card([1, 4]), bands: [{ ...card([1, 0]), above: 9 }] })], []],
    ["free while it thinks", [row("gpt-7", { ...card([1, 4]), own: { reasoning: 0 } })], []],
  ])("is not one that is %s", (_, rows, genai) => {
    expect(found([offer("gpt-7")], { rows, genai })).toEqual([]);
  });

  it("is not added again after somebody removed it, nor under a second name", () => {
    const rows = [row("gpt-7", card([1, 4]))];
    expect(found([offer("gpt-7")], { rows, more: { adopted: { "openai\ngpt-7": "x" } } })).toEqual([]);
    const twice = { openai: [offer("gpt-7")], openrouter: [offer("openai/gpt-7"), offer("lab/own")] };
    const routed = ["openai/gpt-7", "lab/own"].map((id) => row(id, card([1, 4]), { vendor: "openrouter" }));
    const catalog = makeCatalog({ providers: ["openai", "openrouter"].map((id) => makeProvider({ id })) });
    const check = checkOf([feed("litellm", rows), feed("openrouter", routed)], { offered: twice });
    const adopted = { ...check, adopted: { "openai\ngpt-7": "x" } };
    expect(newcomers(catalog, adopted, TERMS).map(({ upstream }) => upstream)).toEqual(["lab/own"]);
  });

  describe("at several providers", () => {
    const PROVIDERS = ["openrouter", "together", "openai"];
    /** Ids of models, and the providers of each, by what each provider calls it. */
    const namedBy = (
      names: Readonly<Record<string, string>>,
      known: readonly Model[] = [],
      mayJoin: (model: Model) => boolean = () => true,
    ) => {
      const offered = Object.fromEntries(Object.entries(names).map(([provider, id]) => [provider, [offer(id)]]));
      const rows = Object.entries(names).map(([provider, id]) =>
        row(id, card([1, 4]), { vendor: provider === "together" ? "together_ai" : provider }),
      );
      const chains = known.length === 0 ? {} : { LIGHT: known };
      const catalog = makeCatalog({ chains, providers: PROVIDERS.map((id) => makeProvider({ id })) });
      const check = checkOf([feed("litellm", rows)], { offered });
      return newModels(catalog, newcomers(catalog, check, TERMS), mayJoin).map(({ known: id, hosts }) => [
        ...[id, hosts.map(({ provider }) => provider)],
      ]);
    };

    it("is one model, its maker first, whatever stands before its name", () => {
      expect(namedBy({ openrouter: "lab/GLM-6.1", together: "lab-org/glm-6-1", openai: "glm-6.1" })).toEqual([
        [null, ["openai", "openrouter", "together"]],
      ]);
      // The aggregator of a model that its maker offers as well is a host of it.
      expect(namedBy({ openrouter: "openai/gpt-7", openai: "gpt-7" })).toEqual([[null, ["openai", "openrouter"]]]);
    });

    it("is several where the names differ, or say too little", () => {
      expect(namedBy({ openrouter: "lab/glm-6", together: "lab/glm-6-mini" })).toHaveLength(2);
      expect(namedBy({ openrouter: "lab/chat-latest", together: "other/chat-latest" })).toHaveLength(2);
    });

    const OWN = { id: "glm-6", provider: "together", upstream: "lab/glm-6", price: card([1, 4]) };
    const NAMES = { openai: "glm-6", together: "lab/glm-6" };

    it("joins the provisional model of its name", () => {
      expect(namedBy(NAMES, [makeModel({ ...OWN, isProvisional: true })])).toEqual([["glm-6", ["openai"]]]);
    });

    it.each([
      ["at a near price", [1, 4], [["glm-6", ["openai"]]]],
      ["a quarter dearer elsewhere", [0.8, 3.2], [["glm-6", ["openai"]]]],
      ["ten times as dear elsewhere", [10, 40], []],
      ["at a tenth of the price elsewhere", [0.1, 0.4], []],
      ["at a tenth of the price of answers", [1, 0.4], []],
    ] as const)("is a host of the known model of its name %s", (_, figures, models) => {
      expect(namedBy(NAMES, [makeModel({ ...OWN, price: card(figures) })])).toEqual(models);
    });

    it("is a model of its own where the known one is an operator's, or one of two of the name", () => {
      const apart = [[null, ["openai"]]];
      expect(namedBy(NAMES, [makeModel(OWN)], () => false)).toEqual(apart);
      expect(namedBy(NAMES, [makeModel(OWN), makeModel({ ...OWN, id: "other" })])).toEqual(apart);
    });

    it("has the known model's facts where no feed says them", () => {
      const known = makeModel({ ...OWN, context: 9_000, maxOutput: 900, tier: "COMPLEX" });
      const catalog = makeCatalog({ chains: { LIGHT: [known] }, providers: [makeProvider({ id: "openai" })] });
      const check = checkOf([feed("litellm", [row("glm-6", card([1, 4]))])], { offered: { openai: [offer("glm-6")] } });
      const [model] = newModels(catalog, newcomers(catalog, check, TERMS), () => true);
      expect(model?.hosts).toMatchObject([
        { context: 9_000, maxOutput: 900, tier: "COMPLEX", capabilities: [...known.capabilities] },
      ]);
    });
  });

  it.each([
    ["came out after the catalogue", offer("gpt-7", { created: "2026-11-20" }), { openai: [offer("gpt-7")] }, true],
    ["is older than the catalogue", offer("gpt-7", { created: "2026-11-17" }), { openai: [] }, false],
    ["was listed at the check before", offer("gpt-7"), { openai: [offer("gpt-7")] }, false],
    ["is in the first list of its provider", offer("gpt-7"), {}, false],
    ["was not listed at the check before", offer("gpt-7"), { openai: [] }, true],
    ["is a gated variant", offer("gpt-7-cyber"), { openai: [] }, false],
  ])("may join a chain or not: one that %s", (_, one, before, isChainable) => {
    const rows = [row(one.id, card([1, 4]))];
    expect(found([one], { rows, terms: { ...TERMS, before } })).toMatchObject([{ isChainable }]);
    // A list that does not say what a model is for puts none into a chain.
    expect(found([one], { rows: [], genai: rows, terms: { ...TERMS, before } })).toMatchObject([
      { isChainable: false },
    ]);
  });
});
