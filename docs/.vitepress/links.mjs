// @ts-check
// Links from a page to a file of the repository outside docs/, such as deploy/compose.yaml. A reader of the repository
// follows them; the site does not hold the files, so it shows the name alone.

import { posix } from "node:path";

/** A markdown-it plugin. */
export function unlinkOutside(/** @type {import("vitepress").MarkdownRenderer} */ markdown) {
  markdown.core.ruler.push("unlink-outside", ({ tokens, env }) => {
    const folder = posix.dirname(env.relativePath ?? "index.md");
    for (const { children } of tokens) unlink(children ?? [], folder);
  });
}

/** @typedef {NonNullable<ReturnType<import("vitepress").MarkdownRenderer["parse"]>[number]["children"]>} Tokens */

function unlink(/** @type {Tokens} */ tokens, /** @type {string} */ folder) {
  let isOutside = false;
  for (const token of tokens) {
    if (token.type === "link_open") isOutside = leadsOutside(token.attrGet("href") ?? "", folder);
    if (!isOutside || (token.type !== "link_open" && token.type !== "link_close")) continue;
    token.tag = "span";
    token.attrs = null;
    if (token.type === "link_close") isOutside = false;
  }
}

function leadsOutside(/** @type {string} */ href, /** @type {string} */ folder) {
  return !/^(?:[a-z]+:|\/|#)/.test(href) && posix.join(folder, href).startsWith("../");
}
