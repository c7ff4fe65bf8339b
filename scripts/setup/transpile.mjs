// @ts-check
// Strips the types of folders' TypeScript, file by file: `node scripts/setup/transpile.mjs OUT FOLDER...`. Serving needs no
// type check, so no compiler is installed for it; `npm test` checks the types. A process of its own, started by the build
// in the root of the checkout. The files of one folder lie directly in OUT, those of several below their folders' names.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { transformSync } from "rolldown/utils";
import { listFiles } from "./files.mjs";

const [outDir = "", ...folders] = process.argv.slice(2);
const [base = ""] = folders.length === 1 ? folders : ["."];
const files = folders.flatMap((folder) => listFiles(".", folder)).filter((path) => path.endsWith(".ts"));
const faults = files.flatMap((path) => transpile(path, join(outDir, relative(base, path)).replace(/ts$/, "js")));
if (faults.length > 0) console.error(faults.join("\n"));
process.exitCode = faults.length > 0 ? 1 : 0;

/**
 * @param {string} path
 * @param {string} target
 * @returns {readonly string[]}
 */
function transpile(path, target) {
  const { code, map, errors } = transformSync(path, readFileSync(path, "utf8"), {
    target: "es2023",
    sourcemap: true,
    typescript: { onlyRemoveTypeImports: true, rewriteImportExtensions: "rewrite" },
  });
  if (errors.length > 0) return errors.map(({ message }) => stripVTControlCharacters(message));
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, `${code}//# sourceMappingURL=${basename(target)}.map\n`);
  if (map) writeFileSync(`${target}.map`, JSON.stringify({ ...map, sources: [relative(dirname(target), path)] }));
  return [];
}
