// @ts-check
// What the site holds beside its pages: their Markdown for agents, a list of pages for /llms.txt and /docs/llms-full.txt,
// and the renderer of the API reference.

import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { SECTIONS } from "./navigation.mjs";

export const SWAGGER = dirname(createRequire(import.meta.url).resolve("swagger-ui-dist/package.json"));

/** @param {{ outDir: string, srcDir: string, pages: readonly string[] }} site */
export function writeExtras({ outDir, srcDir, pages }) {
  // The first line of the script refers to its licences by this name.
  for (const file of ["swagger-ui-bundle.js", "swagger-ui-bundle.js.LICENSE.txt"]) {
    cpSync(join(SWAGGER, file), join(outDir, file));
  }
  const style = readFileSync(join(SWAGGER, "swagger-ui.css"), "utf8");
  writeFileSync(join(outDir, "swagger-ui.css"), style.replaceAll("html.dark-mode", "html.dark"));
  for (const page of pages) {
    mkdirSync(dirname(join(outDir, page)), { recursive: true });
    cpSync(join(srcDir, page), join(outDir, page));
  }
  const entries = SECTIONS.flatMap(({ items }) => items).map(({ text, link }) => {
    const path = `${link.slice(1)}${link.endsWith("/") ? "index" : ""}.md`;
    return { text, path, markdown: readFileSync(join(srcDir, path), "utf8") };
  });
  writeFileSync(
    join(outDir, "pages.json"),
    JSON.stringify(entries.map(({ text, path, markdown }) => ({ text, path, about: firstSentence(markdown) }))),
  );
}

/** The first sentence below the title, without its markup. */
function firstSentence(/** @type {string} */ markdown) {
  const paragraph = /^# .*\n+(?:<!--.*-->\s*)*([^\n#|<]+)/m.exec(markdown)?.[1] ?? "";
  const plain = paragraph.replace(/!?\[([^\]]*)\]\([^)]*\)/g, "$1").replace(/[`*]/g, "");
  return /^.*?\.(?=\s|$)/.exec(plain)?.[0] ?? plain.trim();
}
