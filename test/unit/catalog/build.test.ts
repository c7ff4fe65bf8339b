// Building the catalogue: who serves, which chains are left, and every problem that can be found.

import { describe, expect, it } from "vitest";
import { buildCatalog, type CatalogInput, DEFAULT_TIMEOUTS, type ProviderSetup } from "../../../src/catalog/build.ts";
import { isRoutable, isUsable } from "../../../src/catalog/catalog.ts";
import { providerKind } from "../../../src/catalog/provider-kinds.ts";
import type { ModelRow } from "../../../src/catalog/rows.ts";
import { TIERS } from "../../../src/core/tiers.ts";

const WITHOUT_ANTHROPIC: ReadonlySet<string> = new Set(["openai", "sandbox"]);

function setup(id: string, kind = "openai"): ProviderSetup {
  const address = { baseUrl: "http://127.0.0.1:1", apiKey: "k", headers: {}, timeouts: DEFAULT_TIMEOUTS };
  return { provider: { id, ...providerKind(kind), ...address } };
}

function row(id: string, changes: Partial<ModelRow> = {}): ModelRow {
  const price = { input: 0.1, output: 0.3 };
  return { id, provider: "lab", price, context: 8000, maxOutput: 1000, capabilities: ["tools"], ...changes };
}

function built(input: CatalogInput) {
  const outcome = buildCatalog(input);
  expect(outcome.problems).toEqual([]);
  if (outcome.catalog === null) throw new Error("no catalogue came out");
  return { catalog: outcome.catalog, warnings: outcome.warnings };
}

describe("who serves", () => {
  it("is the sandbox, for every model, when no provider is configured", () => {
    const { catalog, warnings } = built({});
    expect([...catalog.providers.keys()]).toEqual(["sandbox"]);
    for (const model of catalog.models.values()) {
      expect(model.provider).toBe("sandbox");
      expect(isUsable(catalog, model)).toBe(true);
    }
    expect(warnings).toEqual([]);
    expect(catalog.markupPpm).toBe(50_000);
    expect(catalog.baseline.id).toBe("claude-opus-4-8");
  });

  it("is the sandbox for every model when it is the only one named", () => {
    const { catalog } = built({ providers: [setup("sandbox", "sandbox")] });
    expect(catalog.models.get("gpt-5")?.provider).toBe("sandbox");
  });

  it("is a sandbox under another name only for models that name it", () => {
    const { catalog } = built({ providers: [setup("lab", "sandbox")], models: [row("a", { tier: "NANO" })] });
    expect(catalog.models.get("gpt-5")?.provider).toBe("openai");
    expect(TIERS.map((tier) => catalog.chains[tier].map((model) => model.id))).toEqual([["a"], [], [], [], []]);
  });

  it("leaves out providers of a kind that cannot be called, with a warning", () => {
    const { catalog, warnings } = built({
      providers: [setup("anthropic", "anthropic"), setup("openai")],
      supportedKinds: WITHOUT_ANTHROPIC,
    });
    expect([...catalog.providers.keys()]).toEqual(["openai"]);
    expect(isRoutable(catalog, catalog.models.get("claude-opus-4-8") as never)).toBe(false);
    expect(warnings.map((warning) => warning.at)).toEqual(["providers.anthropic"]);
  });

  it("calls them as soon as the kind is supported", () => {
    const supportedKinds = new Set(["openai", "anthropic", "sandbox"]);
    const { catalog, warnings } = built({ providers: [setup("anthropic", "anthropic")], supportedKinds });
    expect(catalog.chains.COMPLEX.map((model) => model.id)).toEqual(["claude-opus-4-5", "claude-opus-4-8"]);
    expect(warnings).toEqual([]);
  });

  it("falls to the sandbox when nothing else can be called, and says so", () => {
    const { catalog, warnings } = built({
      providers: [setup("anthropic", "anthropic")],
      supportedKinds: WITHOUT_ANTHROPIC,
    });
    expect([...catalog.providers.keys()]).toEqual(["sandbox"]);
    expect(warnings.map((warning) => warning.at)).toEqual(["providers.anthropic", "providers"]);
  });
});

describe("chains", () => {
  it("keep only routable models, in order", () => {
    const { catalog } = built({ providers: [setup("openai")] });
    for (const tier of TIERS) {
      expect(catalog.chains[tier].length).toBeGreaterThan(0);
      for (const model of catalog.chains[tier]) expect(model.provider).toBe("openai");
    }
    expect(catalog.chains.COMPLEX.map((model) => model.id)).toEqual(["gpt-5.4", "gpt-5.5"]);
  });

  it("are filled with models of the tier, cheapest first, where no shipped one is routable", () => {
    const { catalog } = built({ providers: [setup("xai")] });
    expect(catalog.chains.COMPLEX.map((model) => model.id)).toEqual(["grok-4.5", "grok-4"]);
    expect(catalog.chains.NANO).toEqual([]);
  });

  it("as written replace those that ship, tier by tier", () => {
    const tiers = { NANO: ["gpt-5-nano"], COMPLEX: [] };
    const { catalog } = built({ providers: [setup("openai")], tiers });
    expect(catalog.chains.NANO.map((model) => model.id)).toEqual(["gpt-5-nano"]);
    expect(catalog.chains.COMPLEX).toEqual([]);
    expect(catalog.chains.LIGHT.map((model) => model.id)).toEqual(["gpt-5-mini"]);
  });

  it("leave out written models that are not routable, with the reason", () => {
    const models = [row("free", { price: { input: 0, output: 0 } }), row("unpriced")];
    const { price: _, ...unpriced } = models[1] as ModelRow;
    const { catalog, warnings } = built({
      providers: [setup("lab")],
      models: [models[0] as ModelRow, unpriced],
      tiers: { NANO: ["free", "unpriced", "gpt-5"] },
    });
    expect(catalog.chains.NANO.map((model) => model.id)).toEqual(["free"]);
    expect(catalog.models.get("unpriced")?.price).toBeNull();
    expect(warnings.map((warning) => warning.at)).toEqual(["models[1]", "tiers.NANO[1]", "tiers.NANO[2]"]);
  });
});

describe("models", () => {
  it("of a configuration are added, or replace the entry with the same id", () => {
    const { catalog } = built({ providers: [setup("lab")], models: [row("gpt-5", { upstream: "mine" }), row("new")] });
    expect(catalog.models.get("gpt-5")).toMatchObject({ provider: "lab", upstream: "mine", scores: null });
    expect(catalog.models.get("new")).toMatchObject({ name: "new", vendor: "lab", upstream: "new" });
    expect(catalog.models.get("new")?.price).toEqual({
      input: 100_000,
      output: 300_000,
      cacheRead: null,
      cacheWrite: null,
    });
    expect(catalog.models.has("gpt-5-mini")).toBe(true);
  });

  it("are those of the configuration alone when nothing that ships is used; the dearest is the baseline", () => {
    const models = [row("a"), row("b", { price: { input: 1, output: 9 } })];
    const { catalog } = built({
      isBuiltinUsed: false,
      providers: [setup("lab")],
      models,
      tiers: { LIGHT: ["a"], NANO: ["a"] },
    });
    expect([...catalog.models.keys()]).toEqual(["a", "b"]);
    expect(catalog.baseline.id).toBe("b");
  });

  it.each([
    ["the tier it names", { tier: "COMPLEX" as const }, "COMPLEX"],
    ["the lowest tier that lists it", {}, "SIMPLE"],
  ])("belong to %s", (_, changes, tier) => {
    const tiers = { STANDARD: ["a"], SIMPLE: ["a"] };
    const { catalog } = built({ providers: [setup("lab")], models: [row("a", changes)], tiers });
    expect(catalog.models.get("a")?.tier).toBe(tier);
  });

  it("belong to STANDARD when no chain lists them", () => {
    const { catalog } = built({ models: [row("a", { provider: "openai" })] });
    expect(catalog.models.get("a")?.tier).toBe("STANDARD");
  });

  it("keep an unset cache price unset and a zero zero", () => {
    const price = { input: 1, output: 2, cacheRead: 0, cacheWrite: null };
    const { catalog } = built({ providers: [setup("lab")], models: [row("a", { price, tier: "NANO" })] });
    expect(catalog.models.get("a")?.price).toMatchObject({ cacheRead: 0, cacheWrite: null });
  });
});

describe("problems", () => {
  const lab = { providers: [setup("lab")] };
  it.each<[string, CatalogInput, string, string | null]>([
    ["an id used twice", { ...lab, models: [row("a"), row("a")], tiers: { NANO: ["a"] } }, "models[1].id", null],
    ["an unknown provider", { models: [row("a", { provider: "opnai" })] }, "models[0].provider", "openai"],
    ["an unknown model in a tier", { tiers: { NANO: ["gpt-5-mini", "gpt-5-nanno"] } }, "tiers.NANO[1]", "gpt-5-nano"],
    ["a model twice in a tier", { tiers: { NANO: ["gpt-5", "gpt-5"] } }, "tiers.NANO[1]", null],
    ["an unknown baseline", { baseline: "claude-opus-4-9" }, "routing.baseline", "claude-opus-4-8"],
    ["no chain at all", { providers: [setup("elsewhere")] }, "tiers", null],
  ])("%s", (_, input, at, suggestion) => {
    const { catalog, problems } = buildCatalog(input);
    expect(catalog).toBeNull();
    expect(problems).toEqual([{ at, message: expect.any(String), suggestion }]);
  });

  it("a baseline without a price", () => {
    const { price: _, ...unpriced } = row("a", { provider: "openai" });
    const { problems } = buildCatalog({ models: [unpriced], baseline: "a" });
    expect(problems.map((problem) => problem.at)).toEqual(["routing.baseline"]);
  });
});
