// Commands and the run-time configuration: those that look see what a server serves with, and those that change a provider
// work beside it.

import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { readArguments } from "../../../src/cli/command/arguments.ts";
import type { Terminal } from "../../../src/cli/command/terminal.ts";
import { doctor } from "../../../src/cli/doctor/doctor.ts";
import { models } from "../../../src/cli/models.ts";
import { profiles } from "../../../src/cli/profiles.ts";
import { providers } from "../../../src/cli/providers.ts";
import { route } from "../../../src/cli/route.ts";
import { versions } from "../../../src/cli/versions.ts";
import { HELLO, labYaml, startGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { recordTerminal } from "../../support/gateway/terminal.ts";
import { answers, type FakeProvider, fails, sends, startFakeProvider } from "../../support/providers/fake-provider.ts";

const SECRET = { SWITCHYARD_SECRET: "a-secret-for-commands" };
const COMMANDS = { doctor, models, profiles, providers, route, versions };

const GENEROUS = { timeout: 60_000, interval: 50 };

let lab: FakeProvider;
let gateway: TestGateway;
let yaml: string;
beforeAll(async () => {
  const listed = sends(200, { object: "list", data: [{ id: "beta" }] });
  lab = await startFakeProvider((exchange) => (exchange.request.raw === "" ? listed : answers("ok"))(exchange));
  yaml = labYaml(lab.url, ["alpha"]).replace(/^ {2}SIMPLE.*$/m, "");
  gateway = await startGateway({ yaml, env: SECRET, database: "file" });
});
afterAll(async () => {
  await gateway.stop();
  await lab.close();
});

async function change(method: string, path: string, body: object): Promise<void> {
  const response = await gateway.api(method, path, body);
  expect(response.status, await response.text()).toBeLessThan(300);
}

/** The program beside the server, on its database. */
async function run(words: readonly string[], more: Partial<Terminal> = {}) {
  const terminal = recordTerminal({ env: { ...SECRET, DATABASE_URL: gateway.database }, ...more });
  writeFileSync(join(terminal.cwd, "switchyard.yaml"), yaml);
  const name = words[0] as keyof typeof COMMANDS;
  const code = await COMMANDS[name](readArguments(words), terminal);
  return { code, out: terminal.takeOut(), said: terminal.takeSaid(), cwd: terminal.cwd };
}

describe("with a provider, a model and a chain that were added at run time", () => {
  beforeAll(async () => {
    await change("POST", "/api/providers", { id: "other", kind: "openai", baseUrl: lab.url, apiKey: "other-secret-1" });
    await change("POST", "/api/models", { id: "beta", provider: "other", price: { input: 2, output: 6 } });
    await change("PUT", "/api/chains", { chains: { SIMPLE: ["beta"] } });
  });

  test("`models list` and `check` have them", async () => {
    expect((await run(["models", "list", "--tier", "SIMPLE"])).out).toMatch(/^beta +other +SIMPLE +2 +6/m);
    expect((await run(["models", "check"])).out).toMatch(/beta +other +beta +SIMPLE +offered/);
  });

  test("`route` decides by them", async () => {
    const { out } = await run(["route", "Hi", "--tier", "SIMPLE", "--json"]);
    expect(JSON.parse(out).decision).toMatchObject({ model: "beta", filteredChain: ["beta"] });
  });

  test("`profiles` takes their names, and no others", async () => {
    expect((await run(["profiles", "set", "p", "--allow", "beta"])).code).toBe(0);
    expect((await run(["profiles", "set", "p", "--allow", "gamma"])).code).toBe(2);
  });

  test("`doctor` checks them", async () => {
    const { out } = await run(["doctor", "--json"]);
    const { checks } = JSON.parse(out) as { checks: { state: string; what: string }[] };
    expect(checks).toContainEqual(expect.objectContaining({ state: "ok", what: "other: configured, 1 model" }));
    expect(checks).toContainEqual(expect.objectContaining({ what: "SIMPLE: beta" }));
    expect(checks.find(({ what }) => /^other: .* lists 1 models/.test(what))).toMatchObject({ state: "ok" });
    expect(checks).toContainEqual(expect.objectContaining({ what: "Run-time configuration: version 3" }));
    const env = { ...SECRET, DATABASE_URL: gateway.database, PORT: new URL(gateway.url).port };
    // What runs already need not be started.
    expect((await run(["doctor"], { env })).said).toMatch(/^\nReady(, \d+ warnings?)?\.\n$/);
  });

  test("a wrong secret does not hide the rest of the configuration", async () => {
    const env = { SWITCHYARD_SECRET: "another-secret", DATABASE_URL: gateway.database };
    expect((await run(["models", "list"], { env })).out).toContain("beta");
    // Keys that cannot be read are not taken for one key that is listed twice.
    const another: Partial<Terminal> = { readInput: async () => "other-secret-2" };
    expect((await run(["providers", "add-key", "other", "--key-from", "-"], another)).code).toBe(0);
    const { code, out } = await run(["doctor"], { env });
    expect(code).toBe(1);
    expect(out).toContain("✓ Run-time configuration: version 4");
    expect(out).toContain("✗ other: its stored key was encrypted with another secret");
    expect((await run(["doctor"])).out).not.toContain("another secret");
  });
});

test("without a database nothing is made", async () => {
  const { code, cwd } = await run(["route", "Hi"], { env: {} });
  expect([code, readdirSync(cwd)]).toEqual([0, ["switchyard.yaml"]]);
  await run(["models", "list"], { env: {}, cwd });
  expect(existsSync(join(cwd, "data"))).toBe(false);
});

test("a database that is away is said, and file and environment count", async () => {
  const env = { DATABASE_URL: "postgres://nobody@127.0.0.1:1/none" };
  const { code, out, said } = await run(["models", "list"], { env });
  expect([code, out.includes("alpha")]).toEqual([0, true]);
  expect(said).toContain("! The run-time configuration cannot be read. Only file and environment apply:");
});

describe("`providers`", () => {
  const provider = async (id: string) => {
    const { document } = (await (await gateway.api("GET", "/api/configuration")).json()) as {
      document: { providers?: Record<string, { baseUrl?: string; apiKey?: { lastFour: string } }> };
    };
    return document.providers?.[id];
  };
  const typing = (text: string): Partial<Terminal> => ({ readInput: async () => text });

  test("add, set and remove are versions with a note, and the key comes from standard input", async () => {
    const add = ["providers", "add", "spare", "--kind", "openai", "--base-url", lab.url, "--key-from", "-"];
    const added = await run([...add, "--note", "for the weekend"], typing("spare-secret-1111\n"));
    expect([added.code, added.said]).toEqual([0, expect.stringMatching(/^Version \d+: added provider spare\.\n$/)]);
    const stored = { baseUrl: lab.url, apiKey: { lastFour: "1111" } };
    await vi.waitFor(async () => expect(await provider("spare")).toMatchObject(stored), GENEROUS);
    expect((await run(add, typing("spare-secret-1111"))).said).toContain("Provider 'spare' already exists.");

    const set = await run(["providers", "set", "spare", "--key-from", "-", "--json"], typing("spare-secret-2222"));
    expect(JSON.parse(set.out).changes).toEqual([
      { path: "providers.spare.apiKey", words: "providers.spare.apiKey: replaced (ends in 2222)" },
    ]);
    const moved = await run(["providers", "set", "spare", "--base-url", "http://127.0.0.1:1/v1"]);
    expect([moved.code, moved.said]).toEqual([1, expect.stringContaining("Write its key and headers again")]);

    expect((await run(["providers", "remove", "spare"])).said).toContain("removed provider spare");
    await vi.waitFor(async () => expect(await provider("spare")).toBeUndefined(), GENEROUS);
    expect((await run(["providers", "remove", "spare"])).said).toContain("No provider 'spare' was added at run time.");
    const { data } = (await (await gateway.api("GET", "/api/versions?limit=3")).json()) as { data: { note: string }[] };
    expect(data.at(-1)?.note).toBe("for the weekend");
  });

  test("keys of one provider are listed, added with a weight and removed by their ids", async () => {
    const add = ["providers", "add", "pair", "--kind", "openai", "--base-url", lab.url, "--key-from", "-"];
    await run(add, typing("short"));
    const second = ["providers", "add-key", "pair", "--key-from", "-", "--weight", "3"];
    expect((await run(second, typing("other"))).code).toBe(0);
    const listed = JSON.parse((await run(["providers", "keys", "pair", "--json"])).out).data;
    expect(listed).toMatchObject([
      { lastFour: "", weight: 1 },
      { lastFour: "", weight: 3 },
    ]);
    expect((await run(["providers", "keys", "pair"])).out).toMatch(
      new RegExp(`^${listed[1].id} +… +3 +command line`, "m"),
    );
    const removed = await run(["providers", "remove-key", "pair", listed[0].id]);
    expect(removed.said).toContain(`1 key (… ${listed[1].id} × 3)`);
    expect(JSON.parse((await run(["providers", "keys", "pair", "--json"])).out).data).toEqual([listed[1]]);
    const last = await run(["providers", "remove-key", "pair", listed[1].id]);
    expect([last.code, last.said]).toEqual([1, expect.stringContaining("is the only key of 'pair'.")]);
    expect(JSON.parse((await run(["providers", "keys", "pair", "--json"])).out).data).toEqual([listed[1]]);
    expect((await run(["providers", "remove-key", "pair"])).code).toBe(2);
    expect((await run(["providers", "add-key", "pair"])).code).toBe(2);
    const idle = await run(["providers", "remove-key", "pair", listed[1].id, "--base-url", lab.url]);
    expect([idle.code, idle.said]).toEqual([2, expect.stringContaining("providers remove-key takes no --base-url.")]);
    expect((await run(["providers", "keys", "nobody"])).said).toContain("No provider 'nobody'");
    // The way that the message names.
    expect(last.said).toContain('{"apiKey": null, "apiKeys": null} with PATCH /api/providers/pair.');
    const none = { apiKey: null, apiKeys: null };
    expect((await gateway.api("PATCH", "/api/providers/pair", none)).status).toBe(200);
    expect(JSON.parse((await run(["providers", "keys", "pair", "--json"])).out).data).toEqual([]);
    await run(["providers", "remove", "pair"]);
  });

  test("the only key of a provider that works without one is removed", async () => {
    await run(
      ["providers", "add", "own", "--kind", "ollama", "--base-url", lab.url, "--key-from", "-"],
      typing("short"),
    );
    const keys = async () => JSON.parse((await run(["providers", "keys", "own", "--json"])).out).data;
    const [{ id }] = await keys();
    expect((await run(["providers", "remove-key", "own", id])).code).toBe(0);
    expect(await keys()).toEqual([]);
    await run(["providers", "remove", "own"]);
  });

  test("test asks with a key before it is stored, and says what is wrong", async () => {
    const words = ["providers", "test", "fresh", "--kind", "openai", "--base-url", lab.url, "--key-from", "-"];
    const good = await run(words, typing("fresh-secret-3333"));
    expect([good.code, good.said]).toEqual([0, expect.stringMatching(/^fresh answers \(its list of models, \d+ ms\)/)]);
    expect(lab.requests.at(-1)?.headers.authorization).toBe("Bearer fresh-secret-3333");
    const one = await run(["providers", "test", "other", "--json"]);
    expect(JSON.parse(one.out)).toMatchObject({ provider: "other", ok: true, model: "beta" });
    lab.once("beta", fails(401, { message: "wrong key other-secret-1" }));
    const bad = await run(["providers", "test", "other"]);
    expect([bad.code, bad.said]).toEqual([1, expect.stringContaining("other refuses the key (401).")]);
    expect(bad.said).not.toContain("other-secret-1");
    expect(await provider("fresh")).toBeUndefined();
    // Names the place of the key: a terminal has no "here".
    const keyless = await run(["providers", "test", "openai"]);
    const missing = "openai has no key: set OPENAI_API_KEY or providers.openai.apiKey.";
    expect([keyless.code, keyless.said]).toEqual([1, expect.stringContaining(missing)]);
  });

  test("what the file has cannot be changed, and an empty key is none", async () => {
    const locked = await run(["providers", "set", "lab", "--base-url", "http://127.0.0.1:1/v1"]);
    expect([locked.code, locked.said]).toEqual([1, expect.stringContaining("'providers.lab' is set in")]);
    expect((await run(["providers", "add", "x", "--key-from", "-"], typing(" \n"))).code).toBe(2);
    expect((await run(["providers", "add", "x", "--key-from", "no-such-file"])).said).toContain("cannot be read");
  });
});

describe("`versions`", () => {
  const typing = (text: string): Partial<Terminal> => ({ readInput: async () => text });

  test("apply publishes models, chains and rules of a file, and replays them first", async () => {
    for (let count = 0; count < 3; count += 1) await (await gateway.post("/v1/chat/completions", HELLO)).text();
    const changes = [
      "models: [{ id: delta, provider: lab, price: { input: 4, output: 12 } }]",
      "tiers: { SIMPLE: [delta] }",
      "routing: { markup: 1.1 }",
    ].join("\n");
    const asked = lab.requests.length;
    const before = (await run(["versions", "list", "--json"])).out;
    await expect
      .poll(async () => JSON.parse((await run(["versions", "apply", "-", "--replay", "--json"], typing(changes))).out))
      .toMatchObject({ requests: 3 });
    const replayed = await run(["versions", "apply", "-", "--replay"], typing(changes));
    expect(replayed.out).toMatch(/^Last 3 requests: \d would change .*\n\$0\.\d+ charged, \$0\.\d+ with these changes/);
    expect([lab.requests.length, (await run(["versions", "list", "--json"])).out]).toEqual([asked, before]);
    const applied = await run(["versions", "apply", "-", "--note", "dearer"], typing(changes));
    expect(applied.said).toMatch(
      /^Version \d+: .*added model delta; tiers\.SIMPLE: .*routing\.markup: not set → 1\.1\.\n$/,
    );
    expect((await run(["versions", "list"])).out.split("\n")[1]).toMatch(/ added model delta, and 2 more +dearer$/);
    expect((await run(["models", "list", "--tier", "SIMPLE"])).out).toMatch(/^delta +lab +SIMPLE +4 +12/m);
    const undone = await run(["versions", "apply", "-"], typing("routing: { markup: null }"));
    expect(undone.said).toContain("routing.markup: 1.1 → not set");
  });

  test("locked says what the file sets, and apply does not change it", async () => {
    expect((await run(["versions", "locked"])).out).toMatch(/^providers\.lab +.*switchyard\.yaml/m);
    const refused = await run(["versions", "apply", "-"], typing("tiers: { LIGHT: [beta] }"));
    expect([refused.code, refused.said]).toEqual([1, expect.stringContaining("'tiers.LIGHT' is set in")]);
    expect((await run(["versions", "apply", "-"], typing("- a list"))).code).toBe(2);
    expect((await run(["versions", "apply", "no-such-file"])).said).toContain("cannot be read");
  });
});
