// `models check`: the catalogue compared with what providers offer.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readArguments } from "../../../src/cli/command/arguments.ts";
import { models } from "../../../src/cli/models.ts";
import { TIERS } from "../../../src/core/tiers.ts";
import { recordTerminal } from "../../support/gateway/terminal.ts";
import { answers, type ListAnswer, lists, startListProvider } from "../../support/providers/list-provider.ts";

const TODAY = new Date().toISOString().slice(0, 10);

interface Row {
  readonly id: string;
  readonly upstream?: string;
  readonly priceAsOf?: string;
}

function yamlOf(url: string, rows: readonly Row[], routed: readonly string[]): string {
  const models = rows.map(
    ({ id, upstream = id, priceAsOf = TODAY }) =>
      `  - { id: ${id}, upstream: ${upstream}, provider: lab, price: { input: 1, output: 3 }, priceAsOf: ${priceAsOf}, context: 128000, maxOutput: 16384, capabilities: [tools] }`,
  );
  return [
    "catalog: none",
    `providers: { lab: { kind: openai, baseUrl: "${url}/v1", apiKey: lab-secret } }`,
    "models:",
    ...models,
    `tiers: { ${TIERS.map((tier) => `${tier}: [${routed.join(", ")}]`).join(", ")} }`,
    `routing: { baseline: ${rows[0]?.id} }`,
  ].join("\n");
}

interface Checked {
  readonly code: number;
  readonly out: string;
  readonly said: string;
}

async function check(
  answer: ListAnswer,
  rows: readonly Row[],
  routed: readonly string[],
  ...flags: string[]
): Promise<Checked> {
  const terminal = recordTerminal();
  const { url } = await startListProvider(answer);
  writeFileSync(join(terminal.cwd, "switchyard.yaml"), yamlOf(url, rows, routed));
  const code = await models(readArguments(["models", "check", ...flags]), terminal);
  return { code, out: terminal.takeOut(), said: terminal.takeSaid() };
}

test("a price is the one of today", async () => {
  const terminal = recordTerminal();
  const rows = yamlOf("http://127.0.0.1:1", [{ id: "alpha" }], ["alpha"]);
  const changes = "changes: [{ from: 2026-01-01, input: 7, output: 8 }]";
  writeFileSync(join(terminal.cwd, "switchyard.yaml"), rows.replace("output: 3 }", `output: 3, ${changes} }`));
  expect(await models(readArguments(["models", "list"]), terminal)).toBe(0);
  expect(terminal.takeOut()).toMatch(/alpha .* 7 +8 /);
});

test("everything offered is fine, under whatever name vendors list it", async () => {
  const rows = [{ id: "alpha" }, { id: "beta" }, { id: "short", upstream: "claude-short" }, { id: "named" }];
  const listed = lists("alpha", "beta-2026-01-31", "claude-short-20251001", { id: "x", aliases: ["named"] }, "other");
  const { code, out, said } = await check(listed, rows, ["alpha", "beta", "short", "named"]);
  expect(code).toBe(0);
  expect(out).toMatch(/^✓ lab: .* lists 5 models/);
  expect(out).toMatch(/^✓ alpha +lab +alpha +NANO SIMPLE LIGHT STANDARD COMPLEX +offered$/m);
  expect(out).toMatch(/^✓ beta .* offered as beta-2026-01-31$/m);
  expect(out).toMatch(/^✓ short +lab +claude-short .* offered as claude-short-20251001$/m);
  expect(out).toMatch(/^✓ named .* offered as x$/m);
  expect(said).toContain("All 4 models are available.");
});

test("what is missing breaks it where requests are routed to it", async () => {
  const rows = [{ id: "alpha" }, { id: "retired" }, { id: "spare" }];
  const { code, out, said } = await check(lists("alpha", "retired-pro"), rows, ["alpha", "retired"]);
  expect(code).toBe(1);
  expect(out).toMatch(/^✗ retired .* missing$/m);
  expect(out).toMatch(/^! spare +lab +spare +- +missing$/m);
  expect(said).toContain("2 missing. Correct 'upstream'");
});

test("what only can be asked for by name may be missing", async () => {
  expect((await check(lists("alpha"), [{ id: "alpha" }, { id: "spare" }], ["alpha"])).code).toBe(0);
});

test("another price than the provider's breaks it, an old one does not", async () => {
  const rows = [{ id: "alpha" }, { id: "beta" }, { id: "old", priceAsOf: "2020-01-31" }];
  const priced = (id: string, input: number): object => ({
    id,
    pricing: { prompt: `${input}e-6`, completion: "3e-6" },
  });
  const wrong = await check(lists(priced("alpha", 2), priced("beta", 1.001), "old"), rows, ["alpha", "beta", "old"]);
  expect(wrong.code).toBe(1);
  expect(wrong.out).toMatch(/^✗ alpha .* offered; price 1\/3, the provider says 2\/3$/m);
  expect(wrong.out).toMatch(/^✓ beta /m);
  expect(wrong.out).toMatch(/^! old .* offered; price of 2020-01-31, \d+ days old$/m);
  expect(wrong.said).toContain("1 with wrong prices.");
  const old = await check(lists("alpha", "beta", "old"), rows, ["alpha", "beta", "old"]);
  expect(old).toMatchObject({ code: 0, said: expect.stringContaining("1 with old prices.") });
});

test.each([
  [
    "a wrong key",
    answers(401, { error: { message: "No." } }),
    1,
    /^✗ lab refuses the key \(401\)\. It says: No\n {4}Replace the key/,
  ],
  ["no list", answers(404, {}), 0, /^✓ lab: .* lists no models/],
])("of a provider with %s nothing is known", async (_, answer, code, out) => {
  const ran = await check(answer, [{ id: "alpha" }], ["alpha"]);
  expect(ran.code).toBe(code);
  expect(ran.out).toMatch(out);
  expect(ran.out).toMatch(/^! alpha .* unchecked$/m);
  expect(ran.said).toContain("1 not checked.");
});

test("programs get the same, with what the catalogue does not have", async () => {
  const { code, out, said } = await check(
    lists("alpha", "new"),
    [{ id: "alpha" }, { id: "retired" }],
    ["alpha", "retired"],
    "--json",
  );
  expect(code).toBe(1);
  expect(said).toBe("");
  expect(JSON.parse(out)).toEqual({
    ok: false,
    providers: [{ state: "ok", what: expect.any(String), fix: null, id: "lab", listed: 2, notInCatalogue: ["new"] }],
    models: [
      expect.objectContaining({
        id: "alpha",
        state: "ok",
        result: "offered",
        price: { input: 1, output: 3 },
        listedPrice: null,
      }),
      expect.objectContaining({ id: "retired", state: "fail", result: "missing", listedAs: null, tiers: [...TIERS] }),
    ],
  });
});

test("the sandbox offers everything, and says that it simulates", async () => {
  const terminal = recordTerminal();
  expect(await models(readArguments(["models", "check"]), terminal)).toBe(0);
  expect(terminal.takeOut()).toMatch(/^ {2}MODEL +PROVIDER[\s\S]*^✓ .* simulated$/m);
  expect(terminal.takeSaid()).toMatch(/\d+ simulated\. Set a provider key/);
});
