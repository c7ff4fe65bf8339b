// @ts-check
// Runs the built program inside this process, so that signals reach it without a process in between.

import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { buildSiteInBackground } from "./site.mjs";
import { ROOT } from "./surroundings.mjs";

const LOOK_FOR_PARENT_EVERY_MS = 200;

/** Hands the arguments after the script's name to `main` of dist/program/main.js. */
export async function launch() {
  hushJsonImports();
  if (process.env.npm_lifecycle_event !== undefined) endWithParent();
  const [command = "serve"] = process.argv.slice(2);
  if (command === "serve" || command.startsWith("-")) buildSiteInBackground(ROOT);
  const program = await import(pathToFileURL(join(ROOT, "dist", "program", "main.js")).href);
  await program.main(process.argv.slice(2));
}

/** Node 20 calls JSON imports experimental on every start; they are final since Node 22 as we use them. */
export function hushJsonImports() {
  const emitWarning = process.emitWarning;
  process.emitWarning = /** @type {typeof emitWarning} */ (
    (/** @type {string | Error} */ warning, /** @type {any[]} */ ...rest) => {
      if (String(warning).startsWith("Importing JSON modules")) return;
      Reflect.apply(emitWarning, process, [warning, ...rest]);
    }
  );
}

/** npm killed outright, or a shell between it and us that keeps signals to itself, would leave a server nobody owns. */
function endWithParent() {
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    process.kill(process.pid, "SIGTERM");
  }, LOOK_FOR_PARENT_EVERY_MS);
  timer.unref();
}
