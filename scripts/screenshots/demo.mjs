// @ts-check
// A gateway for screenshots: it serves a new store that `switchyard demo` filled with a month of traffic.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { here, ROOT, SetupError } from "../setup/surroundings.mjs";

const REQUESTS = 30_000;
const SEED = 7;

/** Fills the store and starts the gateway on a free port. */
export async function startDemo() {
  const folder = mkdtempSync(join(tmpdir(), "switchyard-screenshots-"));
  const database = `sqlite:${join(folder, "demo.db")}`;
  const { run } = here();
  const program = join(ROOT, "bin", "switchyard.mjs");
  const filling = ["demo", "--requests", String(REQUESTS), "--seed", String(SEED), "--database", database];
  const { code, output } = await run(process.execPath, [program, ...filling], { cwd: folder });
  if (code !== 0) throw new SetupError(`switchyard demo failed:\n${output}`);
  const [{ start }, { load }] = await Promise.all([module("app/app.js"), module("config/load.js")]);
  const loaded = load({ flags: { database }, env: { PORT: "0" }, cwd: folder });
  if (!loaded.ok) throw new SetupError(JSON.stringify(loaded.problems));
  const silent = { debug() {}, info() {}, warn() {}, error() {} };
  const app = await start(loaded.settings, silent);
  return {
    url: app.url,
    setupLink: app.setupLink,
    async stop() {
      await app.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function module(/** @type {string} */ path) {
  return import(pathToFileURL(join(ROOT, "dist", path)).href);
}
