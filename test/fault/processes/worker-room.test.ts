// When workers are started again. One that hangs is killed and replaced. One that the system has no room for, here without a free file descriptor, is tried again
// until everything stops, and leaves nothing behind. The last one that served is replaced at once.

import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ensureBuild } from "../../../scripts/setup.mjs";

const WORKERS = join(import.meta.dirname, "../../../dist/workers");
const address = (file: string): string => pathToFileURL(join(WORKERS, file)).href;
const folder = mkdtempSync(join(tmpdir(), "switchyard-worker-room-"));
const program = join(folder, "primary.mjs");

/** A worker that listens and answers nothing, and a primary process that can take all file descriptors and follows a script. */
const PRIMARY = `
import cluster from "node:cluster";
import { closeSync, openSync } from "node:fs";
import { createServer, Socket } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { createLink } from "${address("link.js")}";
import { createSupervisor, LINK_FD } from "${address("supervisor.js")}";

if (cluster.isWorker) {
  process.on("disconnect", () => process.exit());
  createLink(new Socket({ fd: LINK_FD }));
  createServer().listen(0, "127.0.0.1");
} else {
  const seen = [];
  const log = { error: ({ event }) => void seen.push(event) };
  const onStart = () => void seen.push("started");
  cluster.on("online", () => void seen.push("online"));
  const onEnd = () => {
    seen.push("ended");
    setImmediate(() => seen.push("next turn"));
  };
  const onLost = () => undefined;
  const onHung = () => void seen.push("hung");
  const onSpare = () => undefined;
  const options = { crew: { least: 2, most: 2 }, onSpare, program: process.argv[1], args: [], log, onStart, onEnd, onHung, onLost, hungMs: 10_000 };
  const supervisor = createSupervisor(options);
  const files = [];
  const takeAll = () => {
    try {
      for (;;) files.push(openSync("/dev/null"));
    } catch {}
  };
  const free = () => files.splice(0).forEach((file) => closeSync(file));
  const listed = () => Object.keys(cluster.workers).length;
  const stop = () => {
    supervisor.retire();
    for (const { pid } of supervisor.running()) process.kill(pid);
  };
  const print = (value) => console.log(JSON.stringify(value));
  SCRIPT
}
`;

beforeAll(() => ensureBuild());
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** What the script has printed when the primary process has ended by itself. */
function play(script: string): unknown {
  writeFileSync(program, PRIMARY.replace("SCRIPT", script));
  const limited = ["-c", 'ulimit -n 64; exec "$0" "$1"', process.execPath, program];
  const { status, stdout, stderr } = spawnSync("sh", limited, { encoding: "utf8", timeout: 300_000 });
  expect([status, stderr]).toEqual([0, ""]);
  return JSON.parse(stdout);
}

test("the first worker is not tried again, and Node's list has nothing of it", () => {
  const script = `
    takeAll();
    let reason = "";
    try { supervisor.startFirst(); } catch (error) { reason = error.message; }
    print([reason, listed(), seen]);`;
  expect(play(script)).toEqual(["the system starts no further process", 0, []]);
});

test("a further worker is tried again until there is room", () => {
  const script = `
    takeAll();
    supervisor.startOthers();
    while (seen.length < 3) await wait(10);
    const between = listed();
    free();
    while (seen.at(-1) !== "online") await wait(10);
    print([seen.slice(-3), between, listed()]);
    stop();`;
  expect(play(script)).toEqual([["worker.start_failed", "started", "online"], 0, 1]);
});

test("nothing is tried again, or waited for, once everything stops", () => {
  const script = `
    takeAll();
    supervisor.startOthers();
    while (seen.length < 5) await wait(10);
    supervisor.retire();
    free();
    const timers = process.getActiveResourcesInfo().filter((name) => name === "Timeout");
    process.on("exit", () => print([seen.length, timers]));`;
  expect(play(script)).toEqual([5, []]);
});

test("the last worker that served is replaced at once, however often it dies", () => {
  const script = `
    for (let round = 0; round < 4; round += 1) {
      const listening = new Promise((resolve) => cluster.once("listening", resolve));
      if (round === 0) supervisor.startFirst();
      await listening;
      process.kill(supervisor.running()[0].pid, "SIGKILL");
    }
    while (seen.filter((event) => event === "next turn").length < 4) await wait(10);
    print(seen.filter((event) => event !== "online"));
    stop();`;
  const round = ["ended", "worker.ended", "started", "next turn"];
  expect(play(script)).toEqual(["started", ...round, ...round, ...round, ...round]);
});

test("a worker that answers no more is counted, killed and replaced, and one that answers is not", () => {
  const script = `
    const untilListening = () => new Promise((resolve) => cluster.once("listening", resolve));
    const first = untilListening();
    supervisor.startFirst();
    await first;
    const second = untilListening();
    supervisor.startOthers();
    await second;
    const [healthy, hung] = supervisor.running();
    process.kill(hung.pid, "SIGSTOP");
    let mostSilent = 0;
    while (!seen.includes("hung")) {
      await wait(100);
      mostSilent = Math.max(mostSilent, supervisor.silent());
    }
    await untilListening();
    const [left, next] = supervisor.running();
    print([mostSilent, supervisor.silent(), left === healthy, next.isReplacement, seen.filter((event) => event !== "online")]);
    stop();`;
  const events = ["started", "started", "worker.hung", "hung", "ended", "worker.ended", "next turn", "started"];
  expect(play(script)).toEqual([1, 0, true, true, events]);
});
