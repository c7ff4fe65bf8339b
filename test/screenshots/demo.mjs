// @ts-check
// A gateway for screenshots: `switchyard serve --demo` in a process of its own, which signs its visitors in.

import { spawn } from "node:child_process";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT } from "../../scripts/setup/files.mjs";
import { SetupError } from "../../scripts/setup/run.mjs";

/** Resolves when it serves. */
export async function startDemo() {
  const program = join(ROOT, "bin", "switchyard.mjs");
  const child = spawn(process.execPath, [program, "serve", "--demo", "--port", "0"], { cwd: tmpdir() });
  const ended = new Promise((resolve) => child.once("close", resolve));
  let said = "";
  const url = await new Promise((resolve, reject) => {
    child.stdout.setEncoding("utf8").on("data", (/** @type {string} */ text) => {
      said += text;
      const found = /Base URL +(\S+)\/v1/.exec(said)?.[1];
      if (found !== undefined) resolve(found);
    });
    ended.then(() => reject(new SetupError(`switchyard serve --demo ended:\n${said}`)));
  });
  return {
    url: /** @type {string} */ (url),
    async stop() {
      child.kill("SIGTERM");
      await ended;
    },
  };
}
