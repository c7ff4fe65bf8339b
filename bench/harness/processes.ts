// The parent's side: starts benchmark processes and calls their operations. However the run ends, Ctrl-C included, the
// processes are stopped and their files removed.

import { type ChildProcess, fork } from "node:child_process";
import { closeSync, mkdtempSync, openSync, rmSync } from "node:fs";
import { devNull, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Message, Question, Work } from "./child.ts";

/** Generous: a start on a busy machine takes seconds. */
const START_MS_MAX = 20_000;

/** A running process and its operations. */
export interface Child<W extends Work> {
  /** Report of the process when it was ready, such as its port. */
  readonly ready: unknown;
  ask<Name extends keyof W & string>(name: Name, input: Parameters<W[Name]>[0]): Promise<Awaited<ReturnType<W[Name]>>>;
}

/** The processes and folders of one benchmark. */
export interface Processes {
  /** `program` is relative to bench/, without its ending. */
  start<W extends Work>(program: string, argument?: object): Promise<Child<W>>;
  /** A fresh folder, removed at the end. */
  folder(): string;
  close(): Promise<void>;
}

export function openProcesses(): Processes {
  const children: ChildProcess[] = [];
  const folders: string[] = [];
  const clear = (): void => {
    for (const child of children) child.kill("SIGKILL");
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
  };
  const onSignal = (signal: NodeJS.Signals): void => process.exit(signal === "SIGINT" ? 130 : 143);
  process.on("exit", clear);
  process.on("SIGINT", onSignal);
  process.on("SIGTERM", onSignal);
  return {
    start: (program, argument = {}) => startChild(program, argument, children),
    folder() {
      const folder = mkdtempSync(join(tmpdir(), "switchyard-bench-"));
      folders.push(folder);
      return folder;
    },
    async close() {
      await Promise.all(children.map(stopChild));
      clear();
      process.off("exit", clear);
      process.off("SIGINT", onSignal);
      process.off("SIGTERM", onSignal);
    },
  };
}

/** Logs of a child go to /dev/null: writing a line is part of a server's work, the disk is not. */
async function startChild<W extends Work>(
  program: string,
  argument: object,
  children: ChildProcess[],
): Promise<Child<W>> {
  const nowhere = openSync(devNull, "w");
  const ending = import.meta.url.endsWith(".ts") ? ".ts" : ".js";
  const child = fork(fileURLToPath(new URL(`../${program}${ending}`, import.meta.url)), [JSON.stringify(argument)], {
    // JSON would turn NaN into null.
    serialization: "advanced",
    execArgv: ["--expose-gc", "--max-semi-space-size=32"],
    env: { ...process.env, NODE_ENV: "production" },
    stdio: ["ignore", nowhere, "inherit", "ipc"],
  });
  closeSync(nowhere);
  children.push(child);
  const ready = await untilReady(child, program);
  return { ready, ask: createAsk<W>(child, program) };
}

/** The value the child reports; rejects when it ends or hangs first. */
function untilReady(child: ChildProcess, program: string): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error(`${program} did not start in time`)), START_MS_MAX);
    child.once("exit", () => reject(new Error(`${program} ended before it was ready`)));
    child.once("message", (message: Message) => {
      clearTimeout(late);
      if (message.kind === "ready") resolve(message.value);
      else reject(new Error(`${program} spoke before it was ready`));
    });
  });
}

/** Calls may overlap; each is answered by its id. */
export function createAsk<W extends Work>(child: ChildProcess, program: string): Child<W>["ask"] {
  const waiting = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
  let lastId = 0;
  child.on("exit", () => {
    for (const { reject } of waiting.values()) reject(new Error(`${program} ended while it was asked`));
  });
  child.on("message", (message: Message) => {
    if (message.kind === "ready") return;
    const asked = waiting.get(message.id);
    waiting.delete(message.id);
    if (message.kind === "answer") asked?.resolve(message.value);
    else asked?.reject(new Error(`${program}: ${message.message}`));
  });
  return (name, input) => {
    lastId += 1;
    const question: Question = { id: lastId, name, input };
    return new Promise((resolve, reject) => {
      waiting.set(question.id, { resolve: resolve as (value: unknown) => void, reject });
      child.send(question);
    });
  };
}

/** Children end by themselves when the channel closes; one that does not is killed. */
function stopChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => {
    const late = setTimeout(() => child.kill("SIGKILL"), 3_000);
    child.once("exit", () => {
      clearTimeout(late);
      resolve();
    });
    if (child.connected) child.disconnect();
  });
}
