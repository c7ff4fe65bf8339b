// @ts-check
// Runs one child process to its end and passes on the signals that arrive meanwhile.

import { spawn } from "node:child_process";
import { constants } from "node:os";

/** @typedef {{ code: number, output: string }} Outcome */
/** @typedef {{ cwd: string, show?: boolean, shell?: boolean, env?: NodeJS.ProcessEnv }} RunOptions */
/** @typedef {(command: string, args: readonly string[], options: RunOptions) => Promise<Outcome>} Run */

/** Thrown when a signal ended the child; the process should end the way the signal asked. */
export class Interrupted extends Error {
  constructor(/** @type {NodeJS.Signals} */ signal) {
    super(`interrupted by ${signal}`);
    this.exitCode = 128 + (constants.signals[signal] ?? 0);
  }
}

/**
 * `show` lets the child write to our terminal; otherwise its output is collected.
 * @type {Run}
 */
export function run(command, args, { cwd, show = false, shell = false, env = process.env }) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, [...args], { cwd, shell, env, stdio: show ? "inherit" : ["ignore", "pipe", "pipe"] });
    let output = "";
    child.stdout?.setEncoding("utf8").on("data", (text) => {
      output += text;
    });
    child.stderr?.setEncoding("utf8").on("data", (text) => {
      output += text;
    });
    const signals = passSignals(child);
    child.on("error", (error) => {
      signals.stop();
      resolve({ code: 127, output: `${output}${error.message}\n` });
    });
    child.on("close", (code, signal) => {
      signals.stop();
      if (signals.received !== null) reject(new Interrupted(signals.received));
      else resolve({ code: code ?? 1, output: signal === null ? output : `${output}ended by ${signal}\n` });
    });
  });
}

/** Waiting for the child instead of dying at once lets the caller give back its lock. */
function passSignals(/** @type {import("node:child_process").ChildProcess} */ child) {
  const state = { received: /** @type {NodeJS.Signals | null} */ (null), stop };
  const onSignal = (/** @type {NodeJS.Signals} */ signal) => {
    state.received = signal;
    // At a terminal Ctrl-C reaches the child by itself; a second one would make it give up its own clean-up.
    if (signal !== "SIGINT" || !process.stdin.isTTY) child.kill(signal);
  };
  const names = /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP"]);
  for (const name of names) process.on(name, onSignal);
  function stop() {
    for (const name of names) process.off(name, onSignal);
  }
  return state;
}
