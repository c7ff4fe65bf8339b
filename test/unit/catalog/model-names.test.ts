// Names of models: ids, aliases, and the names that other gateways have for them.

import { expect, test } from "vitest";
import { type BuiltCatalog, buildCatalog } from "../../../src/catalog/build.ts";
import { readBuiltin } from "../../../src/catalog/builtin.ts";
import type { Catalog } from "../../../src/catalog/catalog.ts";
import { aliasesOf, findModel, idsNamed } from "../../../src/catalog/model-names.ts";
import { makeModel } from "../../support/catalog.ts";

const shipped = buildCatalog().catalog as Catalog;

test.each([
  ["gpt-6-luna", "gpt-6-luna"],
  ["openai/gpt-6-luna", "gpt-6-luna"],
  ["claude-sonnet-latest", "claude-sonnet-5-5"],
  ["anthropic/claude-sonnet-latest", "claude-sonnet-5-5"],
  ["anthropic/claude-sonnet-5.5", "claude-sonnet-5-5"],
  ["anthropic/claude-haiku-5-5", "claude-haiku-5-5"],
  ["x-ai/grok-4.7", "grok-4.7"],
  ["moonshotai/kimi-k3.1-pro", "kimi-k3.1-pro"],
  ["gpt-latest", "gpt-6.1-sol"],
  // Names of hosts that are not made of vendor and id.
  ["meta-llama/Llama-3.3-70B-Instruct-Turbo", "llama-3.3-70b"],
  ["mistralai/mistral-large-2512", "mistral-large-3"],
  // Two models are hosted under this name, so the id counts.
  ["mistralai/ministral-8b-2512", "ministral-8b-2512"],
])("%s is %s", (name, id) => {
  expect(findModel(shipped, name)?.id).toBe(id);
});

test.each(["gpt-9", "anthropic/gpt-6-luna", "openai/claude-sonnet-latest", "openai/", "/gpt-6-luna", "__proto__", ""])(
  "%j is no model",
  (name) => expect(findModel(shipped, name)).toBeUndefined(),
);

test("every alias that ships names a routable model, and no id", () => {
  const { models, aliases } = readBuiltin();
  const chat = new Set(models.filter(({ tier }) => tier !== undefined).map(({ id }) => id));
  for (const [alias, id] of Object.entries(aliases)) {
    expect(chat.has(id), `${alias} is ${id}`).toBe(true);
    expect(models.some((row) => row.id === alias)).toBe(false);
  }
});

test("the id of a model wins over an alias, and an alias of a missing model names none", () => {
  const models = new Map(["a", "latest"].map((id) => [id, makeModel({ id })]));
  const rows = new Map(["a", "latest"].map((id) => [id, { id, context: 1000, maxOutput: 100, capabilities: [] }]));
  const aliases = aliasesOf({ latest: "a", newest: "a", gone: "b" }, rows);
  const names = { models, aliases };
  expect(["latest", "newest", "gone"].map((name) => findModel(names, name)?.id)).toEqual(["latest", "a", undefined]);
  expect([...idsNamed(names, ["newest", "gone"])]).toEqual(["a", "gone"]);
});

test("chains and the baseline may be written with aliases", () => {
  const { catalog, problems }: BuiltCatalog = buildCatalog({
    tiers: { NANO: ["gpt-luna-latest@low", "anthropic/claude-haiku-latest"] },
    baseline: "claude-opus-latest",
  });
  expect(problems).toEqual([]);
  expect(catalog?.chains.NANO.map(({ id }) => id)).toEqual(["gpt-6-luna", "claude-haiku-5-5"]);
  expect(catalog?.efforts.NANO).toEqual({ "gpt-6-luna": "low" });
  expect(catalog?.baseline.id).toBe("claude-opus-5-5");
});

test("a chain that names one model twice is refused, whatever it calls it", () => {
  const { problems } = buildCatalog({ tiers: { NANO: ["gpt-6-luna", "openai/gpt-6-luna"] } });
  expect(problems.map(({ message }) => message)).toEqual(['"openai/gpt-6-luna" is listed twice in NANO']);
});
