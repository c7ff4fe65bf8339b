// @ts-check
// Joins the compiled program and the packages it always loads into a few files, dist/program/: reading one file is quicker
// than finding and reading two thousand. What is left out is native, or loaded only where it is configured: package.json
// names it under dependencies, and all others as development dependencies. A process of its own, started by the build in
// the root of the checkout, with the folder of the new build.

import { readFileSync } from "node:fs";
import { posix, relative, sep } from "node:path";
import { rolldown } from "rolldown";
import { listFiles, printOf } from "./files.mjs";
import { withLicences } from "./licences.mjs";

/** Programs that a process loads first. The names are those of the compiled files. */
const ENTRIES = ["main", "cli/serve", "cli/serve-worker"];
/** Stands for the way from a chunk to the folder of the build until the chunk's own place is known. */
const BUILD = "BUILD_FOLDER";

const [folder = ""] = process.argv.slice(2);
const { dependencies } = JSON.parse(readFileSync("package.json", "utf8"));
const bundle = await rolldown({
  input: Object.fromEntries(ENTRIES.map((name) => [name, `${folder}/${name}.js`])),
  platform: "node",
  external: [/^node:/, ...Object.keys(dependencies)],
  transform: { define: { BUILD_HASH: JSON.stringify(printOf(folder, listFiles(folder, "."))) } },
  plugins: [
    { name: "places", transform: keepPlace, renderChunk: findBuild },
    { name: "latin", generateBundle: (_options, files) => Object.values(files).forEach(escapeLetters) },
    withLicences(),
  ],
});
const minify = { compress: false, mangle: false, codegen: { removeWhitespace: true } };
await bundle.write({ dir: `${folder}/program`, chunkFileNames: "[name]-[hash].js", minify });

/** A module finds the files beside it (SQL, data, programs of workers) by its own address, which stays the old one. */
function keepPlace(/** @type {string} */ code, /** @type {string} */ id) {
  const path = relative(folder, id).replaceAll(sep, "/");
  if (path.startsWith("..") || !code.includes("import.meta.url")) return null;
  return code.replaceAll("import.meta.url", `new URL("${BUILD}/${path}", import.meta.url).href`);
}

function findBuild(/** @type {string} */ code, /** @type {{ fileName: string }} */ { fileName }) {
  if (!code.includes(BUILD)) return null;
  return code.replaceAll(BUILD, posix.relative(`/program/${fileName}/..`, "/"));
}

/**
 * V8 keeps the text of a file in two bytes a letter if a single one is beyond Latin-1, in every process. A letter after a
 * backslash means itself. Runs after the minifier, which would write the letters again.
 * @param {import("rolldown").OutputChunk | import("rolldown").OutputAsset} file
 */
function escapeLetters(file) {
  if (file.type !== "chunk") return;
  file.code = file.code.replaceAll(/\\?[\u0100-\uffff]|\\[\s\S]/g, (found) => {
    const letter = found.at(-1) ?? "";
    return letter > "\u00ff" ? `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}` : found;
  });
}
