// @ts-check
// Runs one program to its end, and says which work is under way and how long it took. All of that goes to standard error,
// so that a command's own output stays clean.

import { spawn } from "node:child_process";
import { constants } from "node:os";

const SIGNALS = /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP"]);

/** A failure whose message says all the user needs; its stack would not help. */
export class SetupError extends Error {
  constructor(/** @type {string} */ message, exitCode = 1) {
    super(message);
    this.exitCode = exitCode;
  }
}

/**
 * Shows the program's output, or collects it. Passes on the signals that arrive meanwhile, and throws when the program has
 * ended after one: dying at once would keep the lock.
 * @param {string} command
 * @param {readonly string[]} args
 * @param {{ cwd: string, show?: boolean | "stderr", shell?: boolean, env?: NodeJS.ProcessEnv }} options
 * @returns {Promise<{ code: number, output: string }>}
 */
export function run(command, args, { cwd, show = false, shell = false, env = process.env }) {
  const channel = show === "stderr" ? 2 : "pipe";
  /** @type {import("node:child_process").StdioOptions} */
  const stdio = show === true ? "inherit" : ["ignore", channel, channel];
  const child = spawn(command, [...args], { cwd, shell, env, stdio });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding("utf8").on("data", (text) => {
      output += text;
    });
  }
  /** @type {NodeJS.Signals | null} */
  let received = null;
  const pass = (/** @type {NodeJS.Signals} */ signal) => {
    received = signal;
    // At a terminal Ctrl-C reaches the child by itself; a second one would make it give up its own clean-up.
    if (signal !== "SIGINT" || !process.stdin.isTTY) child.kill(signal);
  };
  for (const name of SIGNALS) process.on(name, pass);
  return new Promise((resolve, reject) => {
    child.on("error", (error) => {
      output += error.message;
    });
    child.on("close", (code) => {
      for (const name of SIGNALS) process.off(name, pass);
      if (received === null) resolve({ code: code ?? 1, output });
      else reject(new SetupError(`interrupted by ${received}`, 128 + constants.signals[received]));
    });
  });
}

/**
 * Runs a Node program that has to succeed.
 * @param {string} root
 * @param {readonly string[]} args
 * @param {string} failure
 */
export async function runNode(root, args, failure) {
  const { code, output } = await run(process.execPath, args, { cwd: root });
  if (code !== 0) throw new SetupError(`${failure}:\n${output.trimEnd().split("\n").slice(-40).join("\n")}`);
}

/**
 * @template T
 * @param {string} label
 * @param {() => Promise<T>} work
 */
export async function step(label, work) {
  const startedAtMs = Date.now();
  console.error(`… ${label}`);
  const value = await work();
  console.error(`✓ ${label} (${seconds(Date.now() - startedAtMs)})`);
  return value;
}

export function seconds(/** @type {number} */ durationMs) {
  return `${(durationMs / 1000).toFixed(1)} s`;
}
