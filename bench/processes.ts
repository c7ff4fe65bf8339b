// The parent's end: starts benchmark processes, asks them things, and ends them and removes their files however the run
// ends, a Ctrl-C included.

import { type ChildProcess, fork } from "node:child_process";
import { closeSync, mkdtempSync, openSync, rmSync } from "node:fs";
import { devNull, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Message, Question, Work } from "./child.ts";

const START_MS_MAX = 20_000;

export interface Child<W extends Work> {
  /** What the process said when it was ready: the port it listens on, say. */
  readonly ready: unknown;
  ask<Name extends keyof W & string>(name: Name, input: Parameters<W[Name]>[0]): Promise<Awaited<ReturnType<W[Name]>>>;
}

export interface Workshop {
  /** `program` is relative to this folder, without its ending. */
  start<W extends Work>(program: string, argument?: object): Promise<Child<W>>;
  folder(): string;
  close(): Promise<void>;
}

export function openWorkshop(): Workshop {
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
      await Promise.all(children.map(leave));
      clear();
      process.off("exit", clear);
      process.off("SIGINT", onSignal);
      process.off("SIGTERM", onSignal);
    },
  };
}

// What a child logs is written but not kept: producing the line is part of a server's work, a disk is not.
async function startChild<W extends Work>(
  program: string,
  argument: object,
  children: ChildProcess[],
): Promise<Child<W>> {
  const nowhere = openSync(devNull, "w");
  const ending = import.meta.url.endsWith(".ts") ? ".ts" : ".js";
  const child = fork(fileURLToPath(new URL(`./${program}${ending}`, import.meta.url)), [JSON.stringify(argument)], {
    // Numbers that are none survive it.
    serialization: "advanced",
    execArgv: ["--expose-gc", "--max-semi-space-size=32"],
    env: { ...process.env, NODE_ENV: "production" },
    stdio: ["ignore", nowhere, "inherit", "ipc"],
  });
  closeSync(nowhere);
  children.push(child);
  const ready = await firstWord(child, program);
  return { ready, ask: asker<W>(child, program) };
}

function firstWord(child: ChildProcess, program: string): Promise<unknown> {
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

function asker<W extends Work>(child: ChildProcess, program: string): Child<W>["ask"] {
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

/** Children leave by themselves when the parent's end of the channel closes. */
function leave(child: ChildProcess): Promise<void> {
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
