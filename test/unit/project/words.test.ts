// The words check: what it finds, and that the pages and sources of the repository keep to it.

import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { mayHoldNoProse, proseIn } from "../../../scripts/structure/prose.mjs";
import {
  checkedPages,
  checkedSources,
  openerProblems,
  pageProblems,
  sentencesOf,
  sourceProblems,
  subjectProblem,
  subjectProblems,
} from "../../../scripts/words.mjs";

const ROOT = join(import.meta.dirname, "../../..");
const LONG = `${"word ".repeat(31).trim()}.`;

test.each(checkedPages())("%s keeps to the rules", (path) => {
  expect(pageProblems(path, readFileSync(join(ROOT, path), "utf8"))).toEqual([]);
});

test("source has no banned words", () => {
  const paths = checkedSources(ROOT);
  expect(paths.length).toBeGreaterThan(20);
  expect(paths.flatMap((path) => sourceProblems(path, readFileSync(join(ROOT, path), "utf8")))).toEqual([]);
});

test("a banned word is found in source, and a remainder is none", () => {
  expect(sourceProblems("a.ts", "// Opens the door.\nconst rest = 5 % two;\n")).toHaveLength(1);
});

test.each([
  ["ui/a.tsx", "<p>The answer broke off.</p>", 1],
  ["ui/a.tsx", "// The answer broke off.", 0],
  ["src/store/a.ts", '"The answer broke off."', 0],
  ["src/cli/a.ts", '"Make a key."', 1],
])("texts for users: %s, %s", (path, line, found) => {
  expect(sourceProblems(path, line)).toHaveLength(found);
});

test("components of the dashboard, routing and gateway hold no texts", () => {
  const paths = checkedSources(ROOT).filter(mayHoldNoProse);
  expect(paths.length).toBeGreaterThan(50);
  expect(paths.flatMap((path) => proseIn(path, readFileSync(join(ROOT, path), "utf8")))).toEqual([]);
});

test.each([
  ["<p>Not found</p>", 1],
  ["<p>Saved {when} by <b>{name}</b></p>", 2],
  ['<Field label="Name" />', 1],
  ['<Field title={isOn ? "Turn it off" : TEXT.turnOn} />', 1],
  [`<p title={\`Spent \${amount} of it\`} />`, 1],
  [`<p title={\`Test \${name}\`} />`, 1],
  ['const HEAD = ["Spent"];', 1],
  ["<p>{TEXT.notFound}</p>", 0],
  ["<p>{TEXT.saved(when)} · {name}</p>", 0],
  [`<p class={\`chip good \${tone}\`} role="status">–</p>`, 0],
  ["<code>logging.content</code>", 0],
  ['const isEscape = event.key === "Escape";', 0],
  [`const path = \`/api/keys/\${id}?by=\${step}\`;`, 0],
  ['type Kind = "Some kind" | "Other";', 0],
  ['log.warn({ event: "attempt.failed" }, "attempt failed");', 0],
  ['throw new Error("a sample needs a profile");', 0],
  ['throw new GatewayError("badRequest", "The model is missing.");', 1],
])("in a component, %s has %i texts", (code, found) => {
  expect(proseIn("ui/a.tsx", code)).toHaveLength(found);
});

test.each([
  ["ui/pages/keys/index.tsx", true],
  ["ui/pages/keys/text.ts", false],
  ["ui/parts/failure-text.ts", false],
  ["src/gateway/attempt/chain-error.ts", true],
  ["src/routing/needs.ts", true],
  ["src/routing/classifier/lexicon.ts", false],
  ["src/cli/keys.ts", false],
])("%s may hold no texts: %s", (path, expected) => {
  expect(mayHoldNoProse(path)).toBe(expected);
});

describe("sentences", () => {
  test.each([
    ["One. Two!\nGoes on.", ["One.", "Two!", "Goes on."]],
    ["# Title\nText of\ntwo lines.", ["Title", "Text of two lines."]],
    ["- first item\n- second item", ["first item", "second item"]],
    ["| a b | c d |\n|---|---|\n| e | f |", ["a b", "c d", "e", "f"]],
    ["Run `npm run x. Y` now.\n\n```sh\nnot. prose.\n```", ["Run code now."]],
    ["See [the page](docs/page.md). <!-- note. --> End.", ["See the page.", "End."]],
  ])("of %j", (markdown, sentences) => {
    expect(sentencesOf(markdown)).toEqual(sentences);
  });
});

test.each([
  [LONG, "31 words"],
  [`- ${LONG}`, "31 words"],
  ["Start the server anew.", "again"],
  ["It takes 5 % longer.", "no space"],
])("a problem is found in %j", (markdown, words) => {
  expect(pageProblems("page.md", markdown).join()).toContain(words);
});

test.each([
  ["Price the lost prompt cache before switching models", null],
  ["x".repeat(73), "73 characters"],
  ["Fix it.", "punctuation"],
])("the subject %j", (subject, problem) => {
  expect(subjectProblem(subject)).toEqual(problem === null ? null : expect.stringContaining(problem));
});

describe("the first word of a comment", () => {
  test.each([
    ["// What is known of a host.\n", 1],
    ["// @ts-check\n// Where rows are written.\n", 1],
    ["// Reads rows.\n// What follows is no opening.\n", 0],
    ["// Head.\n/** Null when there is none. */\nconst a = 1;\n", 1],
    ["// Head.\n/**\n * Of a worker: its pool.\n */\n", 1],
    ["// Head.\n/** Returns null when there is none. */\n", 0],
    ["// Head.\n/** Whatsoever is a word of its own. */\n", 0],
    ["// Head.\nconst a = 1; // When\n", 0],
  ])("%j has %i problems", (text, found) => {
    expect(openerProblems("src/a.ts", text)).toHaveLength(found);
  });
});

describe("commit subjects", () => {
  const folder = mkdtempSync(join(tmpdir(), "switchyard-subjects-"));
  const git = (...args: string[]): string => {
    const identity = ["-c", "user.name=Tests", "-c", "user.email=tests@example.org"];
    const { status, stdout, stderr } = spawnSync("git", [...identity, ...args], { cwd: folder, encoding: "utf8" });
    expect(status, stderr).toBe(0);
    return stdout.trim();
  };
  const commit = (subject: string): string => {
    git("commit", "--quiet", "--allow-empty", "--message", subject);
    return git("rev-parse", "HEAD");
  };
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test.skipIf(spawnSync("git", ["--version"]).status !== 0)("since a commit are checked; an unknown one fails", () => {
    expect(subjectProblems(folder, "abc")).toEqual([]);
    git("init", "--quiet");
    const long = "x".repeat(73);
    commit(long);
    const since = commit("Begin");
    commit(long);
    commit("Go on");
    expect(subjectProblems(folder, since)).toEqual([`commit "${long}": 73 characters, 72 allowed`]);
    expect(subjectProblems(folder, "9a8e9884")).toEqual(["git knows no commit 9a8e9884"]);
    git("clone", "--quiet", "--depth=1", `file://${folder}`, "shallow");
    expect(subjectProblems(join(folder, "shallow"), since)).toEqual([]);
  });
});
