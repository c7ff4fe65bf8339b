// The store of `serve --demo`: never one with real data, never with a provider, never filled twice.

import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readArguments } from "../../../src/cli/command/arguments.ts";
import { withStore } from "../../../src/cli/command/store.ts";
import { credits } from "../../../src/cli/credits.ts";
import { demoStore, fillOnce } from "../../../src/cli/demo/store.ts";
import { load } from "../../../src/config/load.ts";
import type { Settings } from "../../../src/config/settings.ts";
import { demoSettings } from "../../../src/demo/configuration.ts";
import { demoStateOf, fillWithDemo } from "../../../src/demo/fill.ts";
import { withLog } from "../../../src/store/db.ts";
import { HELLO, startGateway } from "../../support/gateway/gateway.ts";
import { type RecordedTerminal, recordTerminal } from "../../support/gateway/terminal.ts";

function settingsIn({ cwd, env }: RecordedTerminal): Settings {
  const loaded = load({ flags: {}, env, cwd });
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
  return loaded.settings;
}

function countRequests(database: string): Promise<number> {
  return withStore(database, async ({ db }) => {
    const [row] = await withLog(database, db, (log) => log.query("SELECT COUNT(*) AS requests FROM requests"));
    return Number(row?.requests);
  });
}

describe("the store", () => {
  test("is a temporary one, which is taken away", () => {
    const { config, isTemporary, clear } = demoStore({ port: "0" });
    expect(config).toMatchObject({ port: "0", database: expect.stringMatching(/^sqlite:.*switchyard-demo-/) });
    expect(isTemporary).toBe(true);
    expect(existsSync(config.data ?? "")).toBe(true);
    clear();
    expect(existsSync(config.data ?? "")).toBe(false);
  });

  test.each([{ database: "sqlite:demo.db" }, { data: "demo" }])("or the one that %j names", (config) => {
    expect(demoStore(config)).toMatchObject({ config, isTemporary: false });
  });
});

test("providers and Redis are left alone, whatever is configured", () => {
  const terminal = recordTerminal({ env: { OPENAI_API_KEY: "sk-x", REDIS_URL: "redis://127.0.0.1:1" } });
  writeFileSync(join(terminal.cwd, "switchyard.yaml"), "providers:\n  groq: { apiKey: k }\n");
  const settings = settingsIn(terminal);
  expect([...settings.catalog.providers.keys()].sort()).toEqual(["groq", "openai"]);
  const { catalog, redis } = demoSettings(settings);
  expect(catalog.providers.size).toBeGreaterThan(3);
  expect([...catalog.providers.values()].every(({ transport }) => transport === "sandbox")).toBe(true);
  expect(redis).toBeNull();
});

test("a store that was filled is served as it is", async () => {
  const terminal = recordTerminal();
  const settings = settingsIn(terminal);
  const plan = { requests: 20, days: 30, seed: 1, nowMs: Date.now(), onProgress: () => {} };
  await withStore(settings.database, ({ db }) => fillWithDemo({ db, log: db }, plan));
  expect(await fillOnce(settings, terminal)).toBeNull();
  expect(await countRequests(settings.database)).toBe(20);
});

test("a store with a request in it is rejected and not changed", async () => {
  const terminal = recordTerminal();
  const settings = settingsIn(terminal);
  const gateway = await startGateway({ database: settings.database, creditsUsd: null });
  expect((await gateway.post("/v1/chat/completions", HELLO)).status).toBe(200);
  await gateway.stop();
  await expect(fillOnce(settings, terminal)).rejects.toThrow("already holds requests or credits");
  expect(await countRequests(settings.database)).toBe(1);
});

test("a store with money in it is rejected", async () => {
  const terminal = recordTerminal();
  expect(await credits(readArguments(["credits", "add", "25", "--note", "January"]), terminal)).toBe(0);
  await expect(fillOnce(settingsIn(terminal), terminal)).rejects.toThrow("already holds requests or credits");
});

test("a store that a server uses is rejected before anything is written", async () => {
  const terminal = recordTerminal();
  const settings = settingsIn(terminal);
  const gateway = await startGateway({ database: settings.database, creditsUsd: null });
  await expect(fillOnce(settings, terminal)).rejects.toThrow("Another process is serving");
  await gateway.stop();
  expect(await withStore(settings.database, ({ db }) => demoStateOf({ db, log: db }))).not.toBe("demo");
});
