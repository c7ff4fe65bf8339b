// @ts-check
// Runs the built program inside this process, so that signals reach it without a process in between. The npm package ships
// this script and no other, because it comes built.

import { lstatSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import module from "node:module";
import { homedir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const ROOT = join(import.meta.dirname, "..");
const LOOK_FOR_PARENT_EVERY_MS = 200;

/** Hands the arguments after the script's name to `main` of dist/program/main.js. */
export async function launch() {
  if (process.env.npm_lifecycle_event !== undefined) endWithParent();
  hushJsonImports();
  keepCompiledCode();
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

/** Undefined before Node 22. */
const ENABLE = /** @type {{ enableCompileCache?: (folder: string) => unknown }} */ (/** @type {unknown} */ (module))
  .enableCompileCache;
/** The entries of several builds. With more, the cache begins again. */
const CACHED_FILES_MAX = 500;

/**
 * Has Node 22 and newer keep compiled code between starts. A writer to that folder decides what runs, so it must
 * belong to this user alone. Without such a folder nothing is kept: no start needs it.
 */
export function keepCompiledCode(env = process.env, enable = ENABLE) {
  if (env.NODE_COMPILE_CACHE !== undefined || enable === undefined) return;
  try {
    const folder = join(env.XDG_CACHE_HOME || env.LOCALAPPDATA || join(homedir(), ".cache"), "switchyard");
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const found = lstatSync(folder);
    const isOurs = process.getuid === undefined || (found.uid === process.getuid() && (found.mode & 0o022) === 0);
    if (!found.isDirectory() || !isOurs) return;
    const files = readdirSync(folder, { recursive: true });
    if (files.length > CACHED_FILES_MAX) rmSync(folder, { recursive: true, force: true });
    enable(folder);
  } catch {
    // A home folder may be missing or read-only.
  }
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
