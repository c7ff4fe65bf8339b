// @ts-check
// Writes the catalogue and its schema as files for other programs. The release signs the file. A process of its own, started
// by the build with the folder of the new build.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [folder = ""] = process.argv.slice(2);
const load = (/** @type {string} */ path) => import(pathToFileURL(join(folder, path)).href);
const { readBuiltin } = await load("catalog/builtin.js");
const { fileOf, writeFileText } = await load("catalog/file/file.js");
const { CATALOGUE_SCHEMA } = await load("catalog/file/schema.js");
writeFileSync(join(folder, "catalogue.json"), writeFileText(fileOf(readBuiltin())));
writeFileSync(join(folder, "catalogue.schema.json"), `${JSON.stringify(CATALOGUE_SCHEMA)}\n`);
