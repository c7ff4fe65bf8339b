// @ts-check
// node scripts/release-notes.mjs VERSION: prints the section of CHANGELOG.md for that version, for a release.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** The text under the heading of a version; null where there is none. */
export function notesOf(/** @type {string} */ changelog, /** @type {string} */ version) {
  const sections = changelog.split(/^## /m).slice(1);
  const section = sections.find((text) => text.startsWith(`[${version}]`));
  return section === undefined ? null : section.slice(section.indexOf("\n")).trim();
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [, , version = ""] = process.argv;
  const notes = notesOf(readFileSync(join(import.meta.dirname, "../CHANGELOG.md"), "utf8"), version);
  if (notes === null) throw new Error(`CHANGELOG.md has no section for ${version}.`);
  console.log(notes);
}
