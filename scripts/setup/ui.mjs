// @ts-check
// Builds the dashboard from ui/ into the new build's folder, or takes it over from the old build when nothing of it changed.

import { cpSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { compress } from "./compress.mjs";
import { contentPrint, listFiles, readJson } from "./fingerprint.mjs";
import { SetupError, tail } from "./surroundings.mjs";

/** @typedef {import("./surroundings.mjs").Surroundings} Surroundings */

const STAMP = "ui/.stamp.json";

/** What the dashboard is made from; it also takes types and constants from core, and the list of its pages. */
export function uiInputsOf(/** @type {string} */ root) {
  return listFiles(root, "ui");
}

/**
 * @param {Surroundings} surroundings
 * @param {string} outDir
 */
export async function buildUi({ root, run }, outDir) {
  const inputs = uiInputsOf(root);
  // A checkout may come without the dashboard, as those made by tests do.
  if (inputs.length === 0) return;
  const shared = [...listFiles(root, "src/core"), ...listFiles(root, "src/http/pages")];
  const content = contentPrint(root, ["package-lock.json", "scripts/setup/licences.mjs", ...inputs, ...shared]);
  const old = join(root, "dist");
  if (readJson(join(old, STAMP))?.content === content) {
    cpSync(join(old, "ui"), join(outDir, "ui"), { recursive: true });
    return;
  }
  const vite = join(root, "node_modules", "vite", "bin", "vite.js");
  const args = [vite, "build", "--config", join("ui", "vite.config.mjs"), "--outDir", join(outDir, "ui")];
  const { code, output } = await run(process.execPath, args, { cwd: root });
  if (code !== 0) throw new SetupError(`The dashboard could not be built:\n${tail(output, 40)}`);
  compress(join(outDir, "ui"), ["gz", "br"]);
  writeFileSync(join(outDir, STAMP), JSON.stringify({ content }));
}
