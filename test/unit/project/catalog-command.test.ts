// `npm run catalog`: prices that feeds agree on go into models.json; the rest waits for a person.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { regenerated, writeRows } from "../../../scripts/catalog/rows.mjs";
import { compare } from "../../../scripts/catalog.mjs";
import * as build from "../../../src/catalog/build.ts";
import * as builtin from "../../../src/catalog/builtin.ts";
import * as diff from "../../../src/catalog/file/diff.ts";
import * as feeds from "../../../src/catalog/prices/feeds.ts";
import * as review from "../../../src/catalog/prices/review.ts";
import * as rows from "../../../src/catalog/prices/rows.ts";
import * as kinds from "../../../src/catalog/provider-kinds.ts";
import * as list from "../../../src/providers/sources/price-list.ts";
import * as source from "../../../src/providers/sources/source.ts";

const ROOT = join(import.meta.dirname, "../../..");
const SRC = { ...build, ...builtin, ...diff, ...feeds, ...review, ...rows, ...kinds, ...list, ...source };

/** Files of the two feeds, with the prices of these models in USD per million tokens. */
function feedFiles(litellm: object, genai: readonly object[]): Readonly<Record<string, string>> {
  const folder = mkdtempSync(join(tmpdir(), "switchyard-catalog-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const write = (name: string, value: object): string => {
    writeFileSync(join(folder, name), JSON.stringify(value));
    return join(folder, name);
  };
  const providers = [{ id: "openai", name: "OpenAI", pricing_urls: [], api_pattern: "x", models: genai }];
  return { litellm: write("litellm.json", litellm), genai: write("genai.json", providers), openrouter: "off" };
}

const litellm = (input: number, output: number): object => ({
  litellm_provider: "openai",
  mode: "chat",
  input_cost_per_token: input / 1e6,
  output_cost_per_token: output / 1e6,
});
/** The rates of service tiers at the factors that ship. */
const inTiers = (input: number, output: number): object => ({
  ...litellm(input, output),
  cache_read_input_token_cost: input / 1e7,
  ...Object.fromEntries(
    Object.entries({ batches: 0.5, flex: 0.5, priority: 2 }).flatMap(([tier, factor]) => [
      [`input_cost_per_token_${tier}`, (factor * input) / 1e6],
      [`output_cost_per_token_${tier}`, (factor * output) / 1e6],
      [`cache_read_input_token_cost_${tier}`, (factor * input) / 1e7],
    ]),
  ),
});
const genai = (id: string, input: number, output: number): object => ({
  id,
  match: { equals: id },
  prices: { input_mtok: input, output_mtok: output },
});

test("the file is written as it is read", () => {
  const text = readFileSync(join(ROOT, "src/catalog/models.json"), "utf8");
  expect(writeRows(JSON.parse(text))).toBe(text);
});

test("takes over what two feeds agree on, and lets the rest wait with its figures", async () => {
  const files = feedFiles({ "gpt-5.2": inTiers(1.5, 12), "gpt-5.5": litellm(4, 20), "gpt-5.1": litellm(0.9, 9) }, [
    genai("gpt-5.2", 1.5, 12),
    genai("gpt-5.5", 5, 25),
  ]);
  const { changes, waiting, models, version, read } = await compare(SRC, files);
  expect(read).toEqual([
    expect.stringMatching(/litellm\.json: 3 prices/),
    expect.stringMatching(/genai\.json: 2 prices/),
  ]);
  expect(changes).toEqual(["gpt-5.2 at openai: 1.75/14 → 1.5/12"]);
  expect(waiting).toEqual([
    expect.stringMatching(/^gpt-5\.5 at openai: input 5 → 4, output 30 → 20.*disputed\)$/),
    expect.stringMatching(/^gpt-5\.1 at openai: input 1\.25 → 0\.9, output 10 → 9.*single\)$/),
  ]);
  const changed = models.find(({ id }) => id === "gpt-5.2");
  expect(changed).toMatchObject({ priceAsOf: version.asOf, priceSource: "LiteLLM and genai-prices" });
  const flex = { input: 0.75, output: 6 };
  expect(changed?.price).toMatchObject({ input: 1.5, output: 12, factors: { flex, batch: flex } });
  const others = builtin.readBuiltin().models.filter(({ id }) => id !== "gpt-5.2");
  expect(models.filter(({ id }) => id !== "gpt-5.2")).toEqual(others);
});

test("a feed that is down, empty or broken changes nothing", async () => {
  const files = feedFiles({}, []);
  writeFileSync(files.genai ?? "", "[{");
  const { changes, read } = await compare(SRC, { ...files, litellm: "/no/such/file.json" });
  expect(changes).toEqual([]);
  expect(read).toEqual([expect.stringContaining("cannot be read"), expect.stringContaining("not valid JSON")]);
});

test("an override keeps its price, with its day and source", () => {
  const row = { id: "m", provider: "p", price: { input: 1, output: 2 }, context: 1, maxOutput: 1, capabilities: [] };
  const to = { input: 3_000_000, output: 6_000_000, cacheRead: null, cacheWrite: null };
  const proposal = { model: "m", provider: "p", upstream: "m", to } as unknown as review.Proposal;
  const terms = { proposals: [proposal], asOf: "2026-12-01", sourceOf: () => "feeds", prices: rows };
  const dated = { reason: "r", asOf: "2026-11-18", source: "s" };
  const of = (overrides: object[]) => regenerated([row], { ...terms, overrides: overrides as never })[0];
  expect(of([])).toMatchObject({ price: { input: 3, output: 6 }, priceAsOf: "2026-12-01", priceSource: "feeds" });
  expect(of([{ model: "m", provider: "p", ...dated }])).toBe(row);
  expect(of([{ model: "m", provider: "p", ...dated, price: { input: 9, output: 9 } }])).toMatchObject({
    price: { input: 9, output: 9 },
    priceAsOf: "2026-11-18",
    priceSource: "s",
  });
});

test("every override names a host of the catalogue, with its reason", () => {
  const { models } = builtin.readBuiltin();
  const overrides = JSON.parse(readFileSync(join(ROOT, "scripts/catalog/overrides.json"), "utf8"));
  for (const { model, provider, reason, asOf, source: from } of overrides) {
    const row = models.find(({ id }) => id === model);
    const hosts = [row?.provider, ...(row?.hosts ?? []).map((host) => host.provider)];
    expect(hosts, model).toContain(provider);
    expect([reason, asOf, from].every((each) => typeof each === "string" && each !== "")).toBe(true);
  }
});
