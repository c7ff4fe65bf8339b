// `switchyard models export | sign | update` with catalogue files, beside a server on the same database.

import { generateKeyPairSync } from "node:crypto";
import { readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { CatalogueFile } from "../../../src/catalog/file/file.ts";
import { readArguments } from "../../../src/cli/command/arguments.ts";
import { models } from "../../../src/cli/models.ts";
import { HELLO, startGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { recordTerminal } from "../../support/gateway/terminal.ts";
import { sends, startFakeProvider } from "../../support/providers/fake-provider.ts";
import { promisedMs } from "../../support/random.ts";

const SECRET = { SWITCHYARD_SECRET: "a-secret-for-catalogues" };
const WITHIN = { timeout: promisedMs(5_000), interval: 50 };
const NOW = Date.parse("2026-12-05T12:00:00Z");

const privateKey = (): string =>
  generateKeyPairSync("ed25519").privateKey.export({ type: "pkcs8", format: "pem" }) as string;
const KEY = privateKey();

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ env: SECRET, database: "file" });
  await change("POST", "/api/models", {
    ...{ id: "gpt-6-luna", provider: "sandbox", price: { input: 7, output: 9 }, note: "our contract" },
  });
});
afterAll(() => gateway.stop());

async function change(method: string, path: string, body: object): Promise<void> {
  const response = await gateway.api(method, path, body);
  expect(response.status, await response.text()).toBeLessThan(300);
}

interface Ran {
  readonly code: number;
  readonly out: string;
  readonly said: string;
}

/** A folder in which commands run, with the file that `edit` makes of the catalogue in use, signed where a key is given. */
async function folderWith(edit: (file: CatalogueFile) => object, key: string | null = KEY) {
  const { cwd } = recordTerminal();
  const run = async (words: readonly string[], env: Record<string, string> = {}): Promise<Ran> => {
    const trust = trusted === "" ? {} : { SWITCHYARD_CATALOGUE_KEYS: trusted };
    const terminal = recordTerminal({
      cwd,
      env: { ...SECRET, DATABASE_URL: gateway.database, ...trust, ...env },
      now: () => NOW,
      readInput: async () => key ?? "",
    });
    const code = await models(readArguments(["models", ...words]), terminal);
    return { code, out: terminal.takeOut(), said: terminal.takeSaid() };
  };
  const path = join(cwd, "catalogue.json");
  const exported = JSON.parse((await run(["export"])).out) as CatalogueFile;
  writeFileSync(path, JSON.stringify(edit(exported)));
  const signing = key === null ? null : await run(["sign", "catalogue.json", "--key-from", "-"]);
  return { run, path, signing };
}

let trusted = "";

/** Another price of a model, in another version. */
function repriced(version: string, input = 0.07): (file: CatalogueFile) => object {
  return (file) => ({
    ...file,
    version,
    date: version.slice(0, 10),
    models: file.models.map((row) =>
      row.id === "claude-haiku-5-5" || row.id === "gpt-6-luna"
        ? { ...row, price: { ...row.price, input }, priceAsOf: version.slice(0, 10), priceSource: "a test" }
        : row,
    ),
  });
}

async function promptPrice(id: string): Promise<string | undefined> {
  const { data } = (await (await gateway.get("/v1/models")).json()) as {
    readonly data: readonly { readonly id: string; readonly pricing: { readonly prompt: string } }[];
  };
  return data.find((model) => model.id === id)?.pricing.prompt;
}

const versionsOf = async (): Promise<readonly ShownVersion[]> => {
  const { data } = (await (await gateway.api("GET", "/api/versions")).json()) as {
    readonly data: readonly RawVersion[];
  };
  return data.map((version) => ({ ...version, changes: version.changes.map(({ words }) => words) }));
};

interface RawVersion {
  readonly number: number;
  readonly changes: readonly { readonly words: string }[];
}
interface ShownVersion {
  readonly number: number;
  readonly changes: readonly string[];
}

test("the operator signs a file of their own, and nothing is taken over before --apply", async () => {
  const { run, signing } = await folderWith(repriced("2026-12-01.1"));
  expect(signing).toMatchObject({
    code: 0,
    said: expect.stringMatching(/^✓ Signed catalogue\.json \(version 2026-12-01\.1\)/),
  });
  const untrusted = await run(["update", "--from", "catalogue.json", "--apply"]);
  expect(untrusted).toMatchObject({ code: 1, out: "" });
  expect(untrusted.said).toMatch(/which is not trusted\. If you trust it, add it .* Nothing was changed\.$/m);
  trusted = /catalogueKeys: (\S+)/.exec(signing?.said ?? "")?.[1] ?? "";
  const shown = await run(["update", "--from", "catalogue.json"]);
  expect(shown.code).toBe(0);
  expect(shown.out).toMatch(/^claude-haiku-5-5 +anthropic +0\.1\/0\.5 +0\.07\/0\.5 +30%$/m);
  expect(shown.said).toMatch(
    /is in use, the file has 2026-12-01\.1[\s\S]*Prices that an operator wrote stay: gpt-6-luna\.\nNothing was changed\. Add --apply/,
  );
  expect(await versionsOf()).toHaveLength(1);
});

test("--apply publishes it as a version: served within seconds, shown in words, and taken back by a rollback", async () => {
  const before = await promptPrice("claude-haiku-5-5");
  const { run } = await folderWith(repriced("2026-12-01.1"));
  const applied = await run(["update", "--from", "catalogue.json", "--apply"]);
  expect(applied.said).toMatch(
    /✓ Catalogue 2026-12-01\.1 is in use, as version 2 of the configuration\. Go back: .*versions rollback 1/,
  );
  await vi.waitFor(async () => expect(await promptPrice("claude-haiku-5-5")).toBe("0.0000000735"), WITHIN);
  expect(await promptPrice("gpt-6-luna")).toBe("0.00000735");
  const [newest] = await versionsOf();
  expect(newest).toMatchObject({
    number: 2,
    author: "command line",
    note: `Catalogue 2026-12-01.1, signed by ${trusted}`,
    changes: expect.arrayContaining([
      expect.stringMatching(/^catalogue: 2026-11-\d\d\.\d+ → 2026-12-01\.1$/),
      "claude-haiku-5-5 at anthropic: 0.1/0.5 → 0.07/0.5",
    ]),
  });
  expect((await run(["update", "--from", "catalogue.json", "--apply"])).said).toContain(
    "is version 2026-12-01.1 already",
  );
  const answer = await gateway.post("/v1/chat/completions", {
    ...HELLO,
    service_profile: "direct",
    model: "claude-haiku-5-5",
  });
  expect(answer.status).toBe(200);
  const other = await folderWith(repriced("2026-12-01.1", 0.06));
  expect((await other.run(["update", "--from", "catalogue.json", "--apply"])).said).toContain("with other contents");
  const older = await folderWith(repriced("2026-11-30.9", 0.06));
  const refused = await older.run(["update", "--from", "catalogue.json", "--apply"]);
  expect(refused).toMatchObject({
    code: 1,
    said: expect.stringContaining("2026-12-01.1 is in use. Add --allow-older"),
  });
  const back = await older.run(["update", "--from", "catalogue.json", "--apply", "--allow-older"]);
  expect(back.said).toContain("Catalogue 2026-11-30.9 is in use");
  await vi.waitFor(async () => expect(await promptPrice("claude-haiku-5-5")).toBe("0.000000063"), WITHIN);
  await change("POST", "/api/versions/1/rollback", {});
  expect(await promptPrice("claude-haiku-5-5")).toBe(before);
  const [rolled] = await versionsOf();
  expect(rolled?.changes).toContain("claude-haiku-5-5 at anthropic: 0.06/0.5 → 0.1/0.5");
});

test.each([
  [
    "changed after it was signed",
    (path: string) => writeFileSync(path, readFileSync(path, "utf8").replace('"input":0.07', '"input":0.01')),
    "changed after it was signed",
  ],
  ["cut off", (path: string) => truncateSync(path, 20_000), "cut off, or is not JSON"],
  ["of 50 MB", (path: string) => truncateSync(path, 50 * 1024 * 1024), "larger than a catalogue"],
  ["no catalogue at all", (path: string) => writeFileSync(path, "{}"), "is no price list"],
])("a file that is %s changes nothing", async (_, damage, reason) => {
  const before = await versionsOf();
  const { run, path } = await folderWith(repriced("2026-12-02.1"));
  damage(path);
  const ran = await run(["update", "--from", "catalogue.json", "--apply"]);
  expect(ran).toMatchObject({ code: 1, out: "", said: expect.stringContaining(reason) });
  expect(await versionsOf()).toHaveLength(before.length);
});

test("a file with an unknown field or from the future is neither signed nor taken over", async () => {
  const odd = await folderWith((file) => ({ ...file, colour: "red" }));
  expect(odd.signing).toMatchObject({
    code: 1,
    said: expect.stringContaining("the file has the unknown field colour"),
  });
  const future = await folderWith(repriced("2031-01-01.1"));
  const ran = await future.run(["update", "--from", "catalogue.json", "--apply"]);
  expect(ran).toMatchObject({ code: 1, said: expect.stringContaining("dated 2031-01-01, which is in the future") });
});

test("a file comes from an address as well; run-time prices from a list give way where they are older", async () => {
  const listed = (id: string, priceAsOf: string): object => ({
    ...{
      id,
      provider: "anthropic",
      price: { input: 9, output: 90 },
      priceAsOf,
      priceSource: "LiteLLM and genai-prices",
    },
  });
  await change("POST", "/api/models", listed("claude-opus-5-5", "2026-11-01"));
  await change("POST", "/api/models", listed("claude-sonnet-5-5", "2026-12-04"));
  const { run, path } = await folderWith(repriced("2026-12-03.1"));
  const server = await startFakeProvider(sends(200, JSON.parse(readFileSync(path, "utf8"))));
  try {
    const ran = await run(["update", "--from", `${server.url}/catalogue.json`, "--apply", "--json"]);
    expect(JSON.parse(ran.out)).toMatchObject({ to: "2026-12-03.1", signedBy: trusted, applied: expect.any(Number) });
  } finally {
    await server.close();
  }
  const rows = async (): Promise<readonly object[]> => {
    const { document } = (await (await gateway.api("GET", "/api/configuration")).json()) as {
      readonly document: { readonly models: readonly object[] };
    };
    return document.models;
  };
  const expected = [
    { id: "gpt-6-luna", price: { input: 7 } },
    { id: "claude-opus-5-5", price: { input: 4, output: 20 }, priceAsOf: "2026-11-18" },
    { id: "claude-sonnet-5-5", price: { input: 9, output: 90 }, priceAsOf: "2026-12-04" },
  ];
  await vi.waitFor(async () => expect(await rows()).toMatchObject(expected), WITHIN);
});

test("flags of catalogues are refused where there is none", async () => {
  const { run, path } = await folderWith((file) => file, null);
  writeFileSync(
    path,
    '{"groq/a":{"litellm_provider":"groq","input_cost_per_token":1e-6,"output_cost_per_token":1e-6}}',
  );
  expect(await run(["update", "--from", "catalogue.json", "--allow-older"])).toMatchObject({ code: 2 });
  expect(await run(["sign", "catalogue.json"])).toMatchObject({ code: 2 });
});
