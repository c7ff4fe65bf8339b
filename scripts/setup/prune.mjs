// @ts-check
// Runs after a production install and removes what it cannot use: the SQLite driver brings its C sources, source maps and
// binaries for every platform, 26 MB beside the one that is loaded. A development install is left as npm made it. In a
// checkout, whose .npmrc lets no script run, the image calls it with --production.

import { existsSync, readdirSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const DRIVER = "@photostructure/sqlite";

/** Installed as somebody's dependency, or in a checkout with `--omit=dev`. */
export function isProduction(/** @type {NodeJS.ProcessEnv} */ env, /** @type {string} */ root) {
  const isRoot = env.INIT_CWD === undefined || resolve(env.INIT_CWD) === resolve(root);
  return !isRoot || (env.npm_config_omit ?? "").split(/[\s,]+/).includes("dev");
}

/** Removes nothing where there is no binary for this machine: then the sources are what it is built from. */
export function prune(/** @type {string} */ folder, target = `${process.platform}-${process.arch}`) {
  const binaries = join(folder, "prebuilds");
  if (!existsSync(join(binaries, target))) return;
  const others = readdirSync(binaries).filter((name) => name !== target);
  const maps = ["dist/index.cjs.map", "dist/index.mjs.map"];
  for (const name of [...others.map((other) => join("prebuilds", other)), "src", ...maps]) {
    rmSync(join(folder, name), { recursive: true, force: true });
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = resolve(import.meta.dirname, "../..");
  const driver = createRequire(join(root, "package.json")).resolve(DRIVER);
  if (process.argv.includes("--production") || isProduction(process.env, root)) prune(join(dirname(driver), ".."));
}
