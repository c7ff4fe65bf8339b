// @ts-check
// Finds texts for people in the dashboard's components, in routing and in the gateway. They belong in the text file of the
// folder, where they are read, compared and corrected together.

import { parseAst } from "rolldown/parseAst";

/** `text.ts` of a folder, and files such as `failure-text.ts`. */
const TEXT_FILE = /(^|[/-])text\.ts$/;

/** Files that write numbers, dates and commands, and no sentences. */
const WRITERS = ["ui/format.ts", "ui/charts/scale.ts", "ui/pages/requests/curl.ts"];

/** Folders whose texts stand in a `text.ts`. */
const ROOMS = /^(ui|src\/routing|src\/gateway)\/.*\.tsx?$/;
/** Files of routing that hold words to look for in prompts, calls and results. */
const WORD_LISTS = /^src\/routing\/(classifier\/|tools\/|history|warm|sessions\/(checks|complaint|failure|reading))/;

/** Attributes whose values are for machines, though they may have several words. */
const MACHINE_ATTRIBUTES = new Set(["class", "d", "viewBox", "href", "key"]);
/** Elements that show what is typed: options, paths and keys. */
const MACHINE_ELEMENTS = new Set(["code", "kbd"]);
const WORD = /[A-Za-z]{2,}/;

/** Is the file in one of these folders, and none whose texts belong in it? */
export function mayHoldNoProse(/** @type {string} */ path) {
  return ROOMS.test(path) && ![TEXT_FILE, WORD_LISTS].some((pattern) => pattern.test(path)) && !WRITERS.includes(path);
}

/** The texts for people in a file, each with its place. */
export function proseIn(/** @type {string} */ path, /** @type {string} */ text) {
  const program = parseAst(text, { lang: path.endsWith(".tsx") ? "tsx" : "ts", astType: "ts" });
  /** @type {string[]} */
  const found = [];
  visit(program, null, (node, parent) => {
    const words = proseOf(node, parent);
    if (words === null) return;
    const line = text.slice(0, node.start).split("\n").length;
    found.push(`${path}:${line}: belongs in the text file of its folder: ${words}`);
  });
  return found;
}

/** The text of a node if people read it, else null. */
function proseOf(/** @type {any} */ node, /** @type {any} */ parent) {
  if (node.type === "JSXText") return WORD.test(node.value) ? node.value.trim() : null;
  if (node.type === "Literal" && typeof node.value === "string") {
    return isProse(node.value) && !isName(node, parent) ? node.value : null;
  }
  if (node.type !== "TemplateLiteral") return null;
  const pieces = node.quasis.map((/** @type {any} */ piece) => piece.value.cooked);
  return pieces.some(hasWordBesideSpace) ? pieces.join("…") : null;
}

/** A name with a capital, or a phrase. */
function isProse(/** @type {string} */ text) {
  return /^[A-Z][a-z]/.test(text) || /[A-Za-z]{2,} [A-Za-z]{2,}/.test(text);
}

function hasWordBesideSpace(/** @type {string} */ piece) {
  return /\s[A-Za-z]{2,}|[A-Za-z]{2,}\s/.test(piece) || /^[A-Z][a-z]+\W/.test(piece);
}

/** Nobody reads what a value is compared with (`event.key === "Escape"`) or found under. */
function isName(/** @type {any} */ node, /** @type {any} */ parent) {
  return parent?.type === "BinaryExpression" || (parent?.type === "Property" && parent.key === node);
}

function isForMachines(/** @type {any} */ node) {
  if (node.type === "CallExpression") return isLog(node.callee.object);
  if (node.type === "NewExpression") return node.callee.name === "Error";
  if (node.type === "JSXAttribute") return MACHINE_ATTRIBUTES.has(node.name.name);
  if (node.type === "JSXElement") return MACHINE_ELEMENTS.has(node.openingElement.name.name);
  return node.type === "ImportDeclaration" || node.type === "TSLiteralType";
}

/** `log` in `log.warn(…)`, `services.log.warn(…)`; log lines stay beside their event. */
function isLog(/** @type {any} */ object) {
  return object?.name === "log" || object?.property?.name === "log";
}

function visit(
  /** @type {any} */ node,
  /** @type {any} */ parent,
  /** @type {(node: any, parent: any) => void} */ each,
) {
  if (Array.isArray(node)) for (const one of node) visit(one, parent, each);
  if (typeof node?.type !== "string" || isForMachines(node)) return;
  each(node, parent);
  for (const part of Object.values(node)) if (typeof part === "object" && part !== null) visit(part, node, each);
}
