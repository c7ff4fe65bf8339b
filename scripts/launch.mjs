// @ts-check
// Runs the built program inside this process, so that signals reach it without a process in between. The npm package ships
// this script and no other, because it comes built.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const ROOT = join(import.meta.dirname, "..");
const LOOK_FOR_PARENT_EVERY_MS = 200;

/** Hands the arguments after the script's name to `main` of dist/program/main.js. */
export async function launch() {
  if (process.env.npm_lifecycle_event !== undefined) endWithParent();
  hushJsonImports();
  const program = await import(pathToFileURL(join(ROOT, "dist", "program", "main.js")).href);
  await program.main(process.argv.slice(2));
}

/** Tells a user of an old Node what to do; null where this Node is what package.json asks for (">=major.minor"). */
export function nodeProblem(version = process.versions.node) {
  const { engines } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  const [major = 0, minor = 0] = engines.node.replace(">=", "").split(".").map(Number);
  const [haveMajor = 0, haveMinor = 0] = version.split(".").map(Number);
  if (haveMajor > major || (haveMajor === major && haveMinor >= minor)) return null;
  return (
    `Switchyard needs Node ${major}.${minor} or newer, and this is Node ${version} (${process.execPath}).\n` +
    "Install a newer one from https://nodejs.org or with a version manager (nvm install), then run the command again."
  );
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
