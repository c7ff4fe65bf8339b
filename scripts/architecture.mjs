// @ts-check
// Keeps the tree in docs/ARCHITECTURE.md true: every file of src/ with the first sentence of its opening comment.
// Run it to rewrite the tree; with --check it only says whether the tree is true.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { listFiles } from "./setup/fingerprint.mjs";
import { ROOT } from "./setup/surroundings.mjs";

const PAGE = "docs/ARCHITECTURE.md";
const BEGIN = "<!-- tree:begin, written by scripts/architecture.mjs -->";
const END = "<!-- tree:end -->";
const COLUMN = 30;

/** What stands between the two marks on the page, and what should. */
export function compareTree(root = ROOT) {
  const page = readFileSync(join(root, PAGE), "utf8");
  const begin = page.indexOf(BEGIN);
  const end = page.indexOf(END);
  if (begin < 0 || end < begin) throw new Error(`${PAGE} has no tree between "${BEGIN}" and "${END}"`);
  const files = listFiles(root, "src");
  const expected = `\n\n\`\`\`text\n${drawTree(root, files)}\n\`\`\`\n\n`;
  return {
    drawn: page.slice(begin + BEGIN.length, end),
    expected,
    page: page.slice(0, begin + BEGIN.length) + expected + page.slice(end),
    /** Files that do not say what they are. */
    silent: files.filter((path) => describe(root, path) === ""),
  };
}

/** Files of a folder come before its folders, as one reads a house from the door. */
export function drawTree(/** @type {string} */ root, /** @type {readonly string[]} */ files) {
  const lines = ["src/"];
  /** @type {string[]} */
  let open = ["src"];
  for (const path of [...files].sort(filesFirst)) {
    const folders = path.split("/").slice(0, -1);
    folders.forEach((folder, depth) => {
      if (folders.slice(0, depth + 1).join("/") !== open.slice(0, depth + 1).join("/"))
        lines.push(`${"  ".repeat(depth)}${folder}/`);
    });
    open = folders;
    const name = `${"  ".repeat(folders.length)}${path.slice(path.lastIndexOf("/") + 1)}`;
    lines.push(`${name.padEnd(COLUMN)}  ${describe(root, path)}`.trimEnd());
  }
  return lines.join("\n");
}

function filesFirst(/** @type {string} */ a, /** @type {string} */ b) {
  // "/" after every letter would not do; a folder's name is compared with a mark that sorts after file names.
  const key = (/** @type {string} */ path) =>
    path
      .split("/")
      .map((part, index, parts) => (index < parts.length - 1 ? `~${part}` : part))
      .join("/");
  return key(a) < key(b) ? -1 : 1;
}

function describe(/** @type {string} */ root, /** @type {string} */ path) {
  if (/\.(json|bin)$/.test(path)) return "Data";
  return firstSentence(readFileSync(join(root, path), "utf8"));
}

/** The first sentence of the comment a file opens with, without its full stop; empty when it opens with none. */
export function firstSentence(/** @type {string} */ text) {
  const comment = [];
  for (const line of text.split("\n")) {
    if (line.startsWith("#!") || line === "// @ts-check") continue;
    const match = /^(?:\/\/|--|\/?\*+)\s?(.*?)(?:\*\/)?$/.exec(line.trim());
    if (match === null) break;
    comment.push(match[1]);
  }
  const [sentence = ""] = comment
    .join(" ")
    .trim()
    .split(/(?<=[.!?])\s+(?=[A-Z(`])/);
  return sentence.trim().replace(/\.$/, "");
}

function main() {
  const { drawn, expected, page, silent } = compareTree();
  if (silent.length > 0)
    console.error(`These files do not open with a comment that says what they are:\n${silent.join("\n")}`);
  if (process.argv.includes("--check")) {
    if (drawn !== expected) console.error(`The tree in ${PAGE} is not that of src/: run node scripts/architecture.mjs`);
    process.exitCode = drawn === expected && silent.length === 0 ? 0 : 1;
    return;
  }
  writeFileSync(join(ROOT, PAGE), page);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) main();
