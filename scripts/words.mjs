// @ts-check
// The words check of the lint step: banned words in pages and source, long sentences in pages, long commit subjects, first
// words of comments, and texts in components of the dashboard that belong in a text file.
// CONTRIBUTING.md says how we write; this script holds what a machine can hold.

import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { listFiles, ROOT } from "./setup/files.mjs";
import { mayHoldNoProse, proseIn } from "./structure/prose.mjs";

/** A page at the top of the repository. All below docs/ are checked too. */
const TOP_PAGE = /^[A-Z_]+\.md$/;

/** Folders whose files are checked for banned words: names, comments and texts alike. */
const SOURCE_FOLDERS = ["bench", "eval", "scripts", "src", "test", "ui"];
const SOURCE = /\.(ts|tsx|mjs)$/;

/** The list of banned words has to name them, and so has its test. */
const UNCHECKED_SOURCES = ["scripts/words.mjs", "test/unit/project/words.test.ts"];

/** Prompts of tests, which users could write. */
const KEPT_TEXTS = ["the door is open", "a door of iron"];

const SENTENCE_WORDS_MAX = 30;
const SUBJECT_CHARACTERS_MAX = 72;
/** Subjects up to this commit are not checked: some are longer than the limit. */
const LAST_UNCHECKED_COMMIT = "365b99e9271195b0406f87db4a0af88cf54539c4";

/** Folders whose comments open with a noun or a verb in the third person. */
const REVIEWED_COMMENTS = ["src", "ui"];
/** Words that open a clause without its noun. */
const BANNED_OPENERS = new Set([
  ...["What", "Whether", "Where", "When", "Which", "Who", "Whose", "Why", "How", "If"],
  ...["Of", "As", "That", "Those", "It", "Its", "They", "Null"],
]);
/** The header of a file, after a line that names its interpreter or checks its types, and doc comments. */
const OPENERS = /(?<=^(?:#!.*\n)?(?:\/\/ @ts-check\n)?\/\/ )\w+|(?<=\/\*\*[\s*]+)\w+/g;

/**
 * Private metaphors and old spellings, each with the word to use instead.
 * @type {readonly (readonly [RegExp, string])[]}
 */
const BANNED = [
  [/\b(door|doors|doorkeeper)\b/i, "admission"],
  [/\bpatience\b/i, "flood detection"],
  [/\bwhoever\b/i, "anyone who"],
  [/\banew\b/i, "again"],
  [/\bmend(s|ed)?\b/i, "fix"],
  [/\bleavers?\b/i, "disconnected client"],
  [/\bsecond (try|tries)\b/i, "retry"],
  [/\b(is|are) resting\b|\bmodels? at rest\b/i, "cooling down"],
  [/\bmarks of wrong tiers\b/i, "feedback"],
  [/\bthe books\b/i, "the ledger"],
  [/\bkinds? of tasks?\b/i, "category"],
  [/\bwith an attacker's eyes\b/i, "security review"],
  [/\bper cent\b/i, "%"],
];

/** Files whose texts people read in the dashboard, the terminal or an error. */
const USER_FACING = /^(ui|src\/cli|src\/http|src\/accounts|src\/gateway)\//;
/** Comments may say it in other words. */
const COMMENT = /^\s*(\/\/|\/?\*)/;

/**
 * Words that no text for users has, each with the word to use instead.
 * @type {readonly (readonly [RegExp, string])[]}
 */
const BANNED_FOR_USERS = [
  [/\bbroken? off\b/i, "interrupted"],
  [/\bthis once\b/i, "once"],
  [/\bplay money\b/i, "not real"],
  [/\banswers? 4\d\d\b/i, "fails with 4xx"],
  [/\ball the same\b/i, "anyway"],
  [/\bone word too many\b/i, "unexpected argument"],
  [/\bstands? in the way\b/i, "ready"],
  [/\bnot yours\b/i, "no access"],
  [/\bin part\b/i, "partly"],
  [/["`>](Make|Made) (a|an|the|it|them)\b/, "create"],
];

/** In source it is the remainder of a division. */
const SPACED_PERCENT = /** @type {const} */ ([/\d %/, "no space before %"]);

/** Everything wrong with the words of one page, each as one line. */
export function pageProblems(/** @type {string} */ path, /** @type {string} */ markdown) {
  const sentences = sentencesOf(markdown);
  const long = sentences.filter((sentence) => wordsOf(sentence) > SENTENCE_WORDS_MAX);
  const banned = [...BANNED, SPACED_PERCENT].flatMap(([pattern, better]) => {
    const sentence = sentences.find((text) => pattern.test(text));
    return sentence === undefined ? [] : [`${path}: "${pattern.exec(sentence)?.[0]}", better "${better}": ${sentence}`];
  });
  return [...banned, ...long.map((sentence) => `${path}: ${wordsOf(sentence)} words: ${sentence}`)];
}

/** The lines of a source file with a banned word in a name, a comment or a text. */
export function sourceProblems(/** @type {string} */ path, /** @type {string} */ text) {
  return text.split("\n").flatMap((line, index) => {
    const checked = KEPT_TEXTS.reduce((rest, kept) => rest.replaceAll(kept, ""), line);
    const isText = USER_FACING.test(path) && !COMMENT.test(line);
    const found = (isText ? [...BANNED, ...BANNED_FOR_USERS] : BANNED).find(([pattern]) => pattern.test(checked));
    return found === undefined ? [] : [`${path}:${index + 1}: better "${found[1]}": ${line.trim()}`];
  });
}

/** Every page that is checked. */
export function checkedPages(root = ROOT) {
  const top = readdirSync(root).filter((name) => TOP_PAGE.test(name));
  return [...top, ...listFiles(root, "docs").filter((path) => path.endsWith(".md"))];
}

/** Every source file that is checked. */
export function checkedSources(root = ROOT) {
  const paths = SOURCE_FOLDERS.flatMap((folder) => listFiles(root, folder)).filter((path) => SOURCE.test(path));
  return paths.filter((path) => !UNCHECKED_SOURCES.includes(path));
}

/**
 * The sentences of a page. Code blocks and comments are no prose, inline code counts as one word, and a heading, a list
 * item or a cell of a table ends a sentence.
 */
export function sentencesOf(/** @type {string} */ markdown) {
  const prose = markdown
    .replace(/^```.*?^```$/gms, "\n")
    .replace(/<!--.*?-->/gs, "")
    .replace(/`[^`\n]+`/g, "code")
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, "$1");
  const blocks = prose.split(/\n(?=\s*(?:[-*]|\d+\.)\s)|\n\s*\n|\n(?=[#|])|(?<=^[#|].*)\n|\|/m);
  return blocks
    .flatMap((block) => block.replace(/\s+/g, " ").split(/(?<=[.!?][)"*]*)\s+/))
    .map((sentence) => sentence.replace(/^[\s#*-]+/, "").trim())
    .filter((sentence) => /\w/.test(sentence));
}

function wordsOf(/** @type {string} */ sentence) {
  return sentence.split(/\s+/).filter((word) => /[\w%$]/.test(word)).length;
}

/** What is wrong with the subject of a commit, or null. */
export function subjectProblem(/** @type {string} */ subject) {
  if (subject.length > SUBJECT_CHARACTERS_MAX) return `${subject.length} characters, ${SUBJECT_CHARACTERS_MAX} allowed`;
  if (/[.,;:]$/.test(subject)) return "ends with a punctuation mark";
  return null;
}

/** The comments of a source file that open with a word that needs another before it. */
export function openerProblems(/** @type {string} */ path, /** @type {string} */ text) {
  return [...text.matchAll(OPENERS)]
    .filter(([word]) => BANNED_OPENERS.has(word))
    .map(({ 0: word, index }) => {
      const line = text.slice(0, index).split("\n").length;
      return `${path}:${line}: a comment opens with a noun or a verb ("Returns"), not with "${word}"`;
    });
}

function hasReviewedComments(/** @type {string} */ path) {
  return REVIEWED_COMMENTS.some((folder) => path.startsWith(`${folder}/`));
}

/**
 * Problems of the subjects since a commit. A clone that does not reach back so far has nothing to check, and says so.
 * @returns {readonly string[]}
 */
export function subjectProblems(root = ROOT, since = LAST_UNCHECKED_COMMIT) {
  const git = (/** @type {string[]} */ ...args) => spawnSync("git", args, { cwd: root, encoding: "utf8" });
  const { status, stdout } = git("log", "--no-merges", "--format=%s", `${since}..HEAD`);
  if (status !== 0) {
    const isShallow = git("rev-parse", "--is-shallow-repository");
    if (isShallow.status === 0 && isShallow.stdout.trim() === "false") return [`git knows no commit ${since}`];
    console.log(`– commit subjects: not checked, ${isShallow.status === 0 ? "the clone is shallow" : "no git here"}`);
    return [];
  }
  const subjects = stdout.split("\n").filter((subject) => subject !== "");
  return subjects.flatMap((subject) => {
    const problem = subjectProblem(subject);
    return problem === null ? [] : [`commit "${subject}": ${problem}`];
  });
}

function main() {
  const pages = checkedPages().map((path) => ({ path, text: readFileSync(join(ROOT, path), "utf8") }));
  const sources = checkedSources().map((path) => ({ path, text: readFileSync(join(ROOT, path), "utf8") }));
  const problems = [
    ...pages.flatMap(({ path, text }) => pageProblems(path, text)),
    ...sources.flatMap(({ path, text }) => sourceProblems(path, text)),
    ...sources.filter(({ path }) => mayHoldNoProse(path)).flatMap(({ path, text }) => proseIn(path, text)),
    ...sources.filter(({ path }) => hasReviewedComments(path)).flatMap(({ path, text }) => openerProblems(path, text)),
    ...subjectProblems(),
  ];
  for (const problem of problems) console.error(problem);
  process.exitCode = problems.length === 0 ? 0 : 1;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) main();
