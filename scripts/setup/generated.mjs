// @ts-check
// Generated blocks: the part of a hand-written page between two comments that a renderer of `npm run docs` fills. And the
// tables in them.

/** Writes a Markdown table. */
export function tableOf(/** @type {readonly string[]} */ head, /** @type {readonly (readonly unknown[])[]} */ rows) {
  const lines = rows.map((cells) => `| ${cells.join(" | ")} |`);
  return [`| ${head.join(" | ")} |`, `|${"---|".repeat(head.length)}`, ...lines].join("\n");
}

/** The comment a block opens with. The page keeps it, so a reader knows not to edit what follows. */
export function blockBegin(/** @type {string} */ block) {
  return `<!-- generated: ${block} (npm run docs) -->`;
}

export function blockEnd(/** @type {string} */ block) {
  return `<!-- end: ${block} -->`;
}

/**
 * The page with the text of one block replaced. A page without the block is an error: nothing would hold it true.
 * @param {{ path: string, page: string, block: string, text: string }} input
 */
export function fillBlock({ path, page, block, text }) {
  const begin = page.indexOf(blockBegin(block));
  const end = page.indexOf(blockEnd(block));
  if (begin < 0 || end < begin)
    throw new Error(`${path} has no block between "${blockBegin(block)}" and "${blockEnd(block)}"`);
  return `${page.slice(0, begin)}${blockBegin(block)}\n\n${text.trim()}\n\n${page.slice(end)}`;
}
