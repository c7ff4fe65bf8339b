// @ts-check
// npm run structure: measures how the code is laid out. With --check it fails where a limit is broken; lint runs it so.

import { readFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { pathToFileURL } from "node:url";
import { parseAst } from "rolldown/parseAst";
import { listFiles, ROOT } from "../setup/files.mjs";

/** Limits of the code. Data and migrations are not code and do not count. */
const LIMITS = { filesPerFolder: 20, functionLines: 60, typeNamesTwice: 5, commentPercent: 9 };
const SOURCE = /\.(ts|tsx|mjs)$/;

/** @typedef {{ path: string, text: string, lines: string[], program: any }} SourceFile */

export function measure(root = ROOT, folders = ["src", "ui"]) {
  const paths = folders.flatMap((folder) => listFiles(root, folder)).filter((path) => SOURCE.test(path));
  const files = paths.map((path) => readSource(root, path));
  const { floors, arrows, cycles } = importGraph(files);
  return {
    files: files.length,
    lines: sum(files.map(({ lines }) => lines.length)),
    folders: crowdedFirst(paths),
    functions: files.flatMap(functionsOf).sort((a, b) => b.lines - a.lines),
    typeNamesTwice: typeNamesTwice(files),
    commentPercent: (100 * sum(files.map(commentLines))) / sum(files.map(({ lines }) => lines.length)),
    withoutHeader: files.filter(({ text }) => !/^(#!.*\n)?(\/\/|\/\*)/.test(text)).map(({ path }) => path),
    floors,
    arrows,
    cycles,
  };
}

/** @returns {SourceFile} */
function readSource(/** @type {string} */ root, /** @type {string} */ path) {
  const text = readFileSync(join(root, path), "utf8");
  const lang = path.endsWith(".tsx") ? "tsx" : "ts";
  return { path, text, lines: text.trimEnd().split("\n"), program: parseAst(text, { lang, astType: "ts" }) };
}

function crowdedFirst(/** @type {readonly string[]} */ paths) {
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const path of paths) counts.set(dirname(path), (counts.get(dirname(path)) ?? 0) + 1);
  return [...counts].map(([folder, count]) => ({ folder, count })).sort((a, b) => b.count - a.count);
}

function functionsOf(/** @type {SourceFile} */ { path, text, program }) {
  /** @type {{ path: string, line: number, lines: number }[]} */
  const found = [];
  walk(program, (node) => {
    if (!/^(FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/.test(node.type)) return;
    const line = lineOf(text, node.start);
    found.push({ path, line, lines: lineOf(text, node.end) - line + 1 });
  });
  return found;
}

/** Names of types in more than one file of a program: one word should mean one thing. Server and dashboard are two programs. */
function typeNamesTwice(/** @type {readonly SourceFile[]} */ files) {
  const programs = new Set(files.map(({ path }) => path.split("/")[0]));
  return [...programs].flatMap((top) => repeatedTypes(files.filter(({ path }) => path.startsWith(`${top}/`))));
}

function repeatedTypes(/** @type {readonly SourceFile[]} */ files) {
  /** @type {Map<string, string[]>} */
  const places = new Map();
  for (const { path, program } of files) {
    for (const statement of program.body) {
      const node = statement.type === "ExportNamedDeclaration" ? statement.declaration : statement;
      if (!/^TS(Interface|TypeAlias)Declaration$/.test(node?.type ?? "")) continue;
      const name = node.id.name;
      places.set(name, [...new Set([...(places.get(name) ?? []), path])]);
    }
  }
  return [...places].filter(([, where]) => where.length > 1).map(([name, where]) => ({ name, where }));
}

function commentLines(/** @type {SourceFile} */ { lines }) {
  return lines.filter((line) => /^\s*(\/\/|\/?\*(?!\w)|\{\/\*)/.test(line)).length;
}

/** Counts the floors that the imports stack up to and the arrows between files, and names every file on a cycle. */
function importGraph(/** @type {readonly SourceFile[]} */ files) {
  const known = new Set(files.map(({ path }) => path));
  const targets = new Map(files.map((file) => [file.path, importsOf(file).filter((path) => known.has(path))]));
  /** @type {Map<string, number>} */
  const heights = new Map();
  /** @type {Set<string>} */
  const cycles = new Set();
  const height = (/** @type {string} */ path, /** @type {readonly string[]} */ above) => {
    const done = heights.get(path);
    if (done !== undefined) return done;
    if (above.includes(path)) {
      cycles.add(path);
      return 0;
    }
    /** @type {number} */
    const tallest = Math.max(0, ...(targets.get(path) ?? []).map((target) => 1 + height(target, [...above, path])));
    heights.set(path, tallest);
    return tallest;
  };
  const floors = 1 + Math.max(...files.map(({ path }) => height(path, [])));
  return { floors, arrows: sum([...targets.values()].map((list) => list.length)), cycles: [...cycles] };
}

function importsOf(/** @type {SourceFile} */ { path, program }) {
  /** @type {Set<string>} */
  const found = new Set();
  walk(program, (node) => {
    const source = /^(Import|Export(Named|All))Declaration$|^ImportExpression$/.test(node.type) ? node.source : null;
    if (source?.value?.startsWith(".")) found.add(posix.join(dirname(path), source.value));
  });
  return [...found];
}

function walk(/** @type {any} */ node, /** @type {(node: any) => void} */ visit) {
  if (typeof node !== "object" || node === null) return;
  if (Array.isArray(node)) for (const item of node) walk(item, visit);
  else {
    if (typeof node.type === "string") visit(node);
    for (const key in node) if (key !== "parent") walk(node[key], visit);
  }
}

function lineOf(/** @type {string} */ text, /** @type {number} */ offset) {
  let line = 1;
  for (let at = text.indexOf("\n"); at >= 0 && at < offset; at = text.indexOf("\n", at + 1)) line += 1;
  return line;
}

function sum(/** @type {readonly number[]} */ numbers) {
  return numbers.reduce((total, number) => total + number, 0);
}

/** Every broken limit in one sentence each. */
export function brokenLimits(/** @type {ReturnType<typeof measure>} */ measured) {
  const { folders, functions, typeNamesTwice: twice, commentPercent, withoutHeader, cycles } = measured;
  return [
    ...folders
      .filter(({ count }) => count > LIMITS.filesPerFolder)
      .map(({ folder, count }) => `${folder} has ${count} files; ${LIMITS.filesPerFolder} are allowed`),
    ...functions
      .filter(({ lines }) => lines > LIMITS.functionLines)
      .map(({ path, line, lines }) => `${path}:${line} is ${lines} lines long; ${LIMITS.functionLines} are allowed`),
    ...(twice.length > LIMITS.typeNamesTwice
      ? [`${twice.length} type names are declared twice: ${twice.map(({ name }) => name).join(", ")}`]
      : []),
    ...(commentPercent < LIMITS.commentPercent ? [`only ${commentPercent.toFixed(1)}% of the lines are comments`] : []),
    ...withoutHeader.map((path) => `${path} does not open with a comment that says what it is for`),
    ...cycles.map((path) => `${path} is part of an import cycle`),
  ];
}

function print(/** @type {ReturnType<typeof measure>} */ measured) {
  const { files, lines, folders, functions, typeNamesTwice: twice, commentPercent, floors, arrows } = measured;
  const lengths = functions.map((entry) => entry.lines);
  console.log(`files ${files}, lines ${lines}, comment lines ${commentPercent.toFixed(1)}%`);
  console.log(`import graph: ${floors} floors, ${arrows} arrows`);
  console.log(
    `largest folders: ${folders
      .slice(0, 5)
      .map(({ folder, count }) => `${folder} ${count}`)
      .join(", ")}`,
  );
  console.log(`functions: longest ${lengths[0]} lines, 95th percentile ${lengths[Math.floor(lengths.length * 0.05)]}`);
  for (const { path, line, lines: length } of functions.slice(0, 12)) console.log(`  ${length}  ${path}:${line}`);
  console.log(`type names declared twice: ${twice.length}`);
  for (const { name, where } of twice) console.log(`  ${name}: ${where.join(", ")}`);
}

function main() {
  const folders = process.argv.slice(2).filter((word) => !word.startsWith("--"));
  const measured = measure(ROOT, folders.length > 0 ? folders : undefined);
  if (!process.argv.includes("--check")) return print(measured);
  const broken = brokenLimits(measured);
  for (const line of broken) console.error(line);
  process.exitCode = broken.length === 0 ? 0 : 1;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) main();
