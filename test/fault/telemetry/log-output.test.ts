// A log that cannot be written: a full disk, a file at its size limit, a reader that is gone and one that never reads.
// The gateway serves on, counts what it drops, says so, and stops in time.

import { type ChildProcess, type StdioOptions, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  closeSync,
  constants,
  existsSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { ensureBuild } from "../../../scripts/setup.mjs";
import { ADMIN_TOKEN, HELLO, NEVER_SHEDS, PLAIN_START } from "../../support/gateway/gateway.ts";
import { scrape } from "../../support/gateway/scrape.ts";
import { freePort } from "../../support/network/ports.ts";
import { type FakeProvider, startFakeProvider } from "../../support/providers/fake-provider.ts";
import { bankYaml } from "../../support/stores/money.ts";

const PROGRAM = join(import.meta.dirname, "../../support/gateway/serve.mjs");
const hasFull = existsSync("/dev/full");
if (!hasFull) console.info("a full disk under the log is skipped: there is no /dev/full here");
const canLimit = spawnSync("prlimit", ["--version"]).status === 0;
if (!canLimit) console.info("a log file at its size limit is skipped: there is no prlimit here");
const hasPipes = spawnSync("mkfifo", ["--version"]).status === 0;
if (!hasPipes) console.info("a log that nobody reads is skipped: there is no mkfifo here");

let provider: FakeProvider;
let folder: string;
let child: ChildProcess;
let url: string;
let key: string;

beforeAll(async () => {
  await ensureBuild();
  provider = await startFakeProvider();
});
afterEach(() => {
  child.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});
afterAll(() => provider.close());

/** Started with this as standard output, with a key and credit. */
async function serve(stdout: number | "pipe"): Promise<void> {
  const port = await freePort();
  url = `http://127.0.0.1:${port}`;
  const env = { SWITCHYARD_ADMIN_TOKEN: ADMIN_TOKEN, SWITCHYARD_DRAIN_SECONDS: "2", ...NEVER_SHEDS, ...PLAIN_START };
  writeFileSync(join(folder, "switchyard.yaml"), bankYaml(provider.url, { chain: ["alpha"] }));
  const stdio: StdioOptions = ["ignore", stdout, "inherit"];
  child = spawn(process.execPath, [PROGRAM], {
    cwd: folder,
    stdio,
    env: { PATH: process.env.PATH, PORT: String(port), ...env },
  });
  const isReady = (): Promise<boolean> =>
    fetch(`${url}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
  await expect.poll(isReady, { timeout: 300_000 }).toBe(true);
  await operate("/api/credits/topups", { amountUsd: "10" });
  key = ((await (await operate("/api/keys", { name: "test" })).json()) as { key: string }).key;
}

function operate(path: string, body: object): Promise<Response> {
  return post(path, ADMIN_TOKEN, body);
}

function post(path: string, token: string, body: object): Promise<Response> {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  return fetch(`${url}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
}

async function askTenTimes(): Promise<void> {
  for (let round = 0; round < 10; round += 1) {
    expect((await post("/v1/chat/completions", key, HELLO)).status).toBe(200);
  }
}

async function dropped(): Promise<number> {
  return (await scrape(url)).value("switchyard_log_lines_dropped_total") ?? -1;
}

async function expectServingWithWarning(reason: string): Promise<void> {
  await expect.poll(dropped).toBeGreaterThanOrEqual(10);
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
  const verbose = await fetch(`${url}/readyz?verbose`);
  expect(verbose.status).toBe(200);
  expect(await verbose.text()).toContain(`[-]log failed: lines cannot be written (${reason});`);
  expect(await (await fetch(`${url}/readyz`)).json()).toMatchObject({
    status: "ready",
    warnings: [expect.stringContaining("log: ")],
  });
}

async function stop(): Promise<number | null> {
  const exited = once(child, "exit");
  child.kill("SIGTERM");
  const [code] = await exited;
  return code as number | null;
}

function newFolder(): string {
  folder = mkdtempSync(join(tmpdir(), "switchyard-log-output-"));
  return folder;
}

test.skipIf(!hasFull)("a full disk", async () => {
  newFolder();
  const fd = openSync("/dev/full", "w");
  await serve(fd);
  closeSync(fd);
  await askTenTimes();
  await expectServingWithWarning("ENOSPC");
  expect(await stop()).toBe(0);
});

test("a reader that is gone", async () => {
  newFolder();
  await serve("pipe");
  child.stdout?.destroy();
  await askTenTimes();
  await expectServingWithWarning("EPIPE");
  expect(await stop()).toBe(0);
});

/** Larger than the other files of the process, which the limit must not reach. */
const LOG_START = 16 * 1024 * 1024;
/** Shorter than a line. */
const ROOM = 100;

test.skipIf(!canLimit)("a file at its size limit, which later has room again", async () => {
  const path = join(newFolder(), "log");
  writeFileSync(path, "");
  truncateSync(path, LOG_START);
  const fd = openSync(path, "a");
  await serve(fd);
  closeSync(fd);
  const limit = (size: string): void => {
    expect(spawnSync("prlimit", ["--pid", String(child.pid), `--fsize=${size}:unlimited`]).status).toBe(0);
  };
  const written = (): string => readFileSync(path, "utf8").slice(LOG_START);
  await expect.poll(written).toContain("Try it");
  limit(String(statSync(path).size + ROOM));
  await askTenTimes();
  await expectServingWithWarning("EFBIG");
  limit("unlimited");
  await expect.poll(async () => (await fetch(`${url}/readyz`)).json()).toEqual({ status: "ready" });
  const lost = await dropped();
  await askTenTimes();
  expect(await stop()).toBe(0);
  const lines = written().split("\n");
  const reports = lines.filter((line) => line.includes('"log.lines_dropped"')).map((line) => JSON.parse(line));
  expect(reports).toMatchObject([{ level: 50, event: "log.lines_dropped", droppedLines: lost }]);
  // The one that the limit cut in two; a line break follows it.
  expect(lines.filter((line) => line.startsWith("{") && !line.endsWith("}"))).toHaveLength(1);
  const after = lines.slice(lines.findIndex((line) => line.includes('"log.lines_dropped"')));
  expect(after.filter((line) => line.includes('"request.completed"'))).toHaveLength(10);
});

test.skipIf(!hasPipes)("a full pipe that nobody reads", async () => {
  const path = join(newFolder(), "pipe");
  expect(spawnSync("mkfifo", [path]).status).toBe(0);
  const reader = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
  expect(() => {
    for (;;) writeSync(reader, "x".repeat(4_096));
  }).toThrow("EAGAIN");
  // Opened apart, so that it is a blocking pipe, as a shell makes it.
  const fd = openSync(path, "w");
  await serve(fd);
  closeSync(fd);
  await askTenTimes();
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
  expect(await stop()).toBe(0);
  closeSync(reader);
});
