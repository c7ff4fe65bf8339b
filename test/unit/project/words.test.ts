// The words check: what it finds, and that every page is either held to it or named as not yet rewritten.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { listFiles } from "../../../scripts/setup/files.mjs";
import { mayHoldNoProse, proseIn } from "../../../scripts/structure/prose.mjs";
import {
  CHECKED_PAGES,
  checkedSources,
  pageProblems,
  sentencesOf,
  sourceProblems,
  subjectProblem,
} from "../../../scripts/words.mjs";

const ROOT = join(import.meta.dirname, "../../..");
const LONG = `${"word ".repeat(31).trim()}.`;

test.each(CHECKED_PAGES)("%s keeps to the rules", (path) => {
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

test("every page is checked", () => {
  const top = ["CHANGELOG.md", "CONTRIBUTING.md", "README.md", "SECURITY.md"];
  const pages = [...top, ...listFiles(ROOT, "docs").filter((path) => path.endsWith(".md"))];
  expect([...CHECKED_PAGES].sort()).toEqual(pages.sort());
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
