// @ts-check
// The words check of the lint step: banned words in pages and source, long sentences in pages, long commit subjects,
// and texts in components of the dashboard that belong in a text file.
// CONTRIBUTING.md says how we write; this script holds what a machine can hold.

import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { listFiles, ROOT } from "./setup/files.mjs";
import { mayHoldNoProse, proseIn } from "./structure/prose.mjs";

/** Pages written by these rules. */
export const CHECKED_PAGES = [
  "README.md",
  "CHANGELOG.md",
  "CONTRIBUTING.md",
  "SECURITY.md",
  "docs/concepts/charging.md",
  "docs/concepts/conversations.md",
  "docs/concepts/glossary.md",
  "docs/concepts/outcomes.md",
  "docs/concepts/sessions.md",
  "docs/concepts/reliability.md",
  "docs/concepts/routing.md",
  "docs/contribute/architecture.md",
  "docs/contribute/behaviour.md",
  "docs/contribute/benchmarks.md",
  "docs/contribute/extending.md",
  "docs/contribute/ledger.md",
  "docs/contribute/model-card.md",
  "docs/contribute/routing-experiments.md",
  "docs/contribute/testing.md",
  "docs/dashboard/analyse.md",
  "docs/dashboard/demo.md",
  "docs/dashboard/index.md",
  "docs/guides/claude-code.md",
  "docs/guides/codex.md",
  "docs/guides/cursor.md",
  "docs/guides/from-litellm.md",
  "docs/guides/from-openrouter.md",
  "docs/guides/gemini.md",
  "docs/guides/langchain.md",
  "docs/guides/open-webui.md",
  "docs/guides/opencode.md",
  "docs/guides/vercel-ai-sdk.md",
  "docs/index.md",
  "docs/operate/alerts.md",
  "docs/operate/backups.md",
  "docs/operate/deployment.md",
  "docs/operate/limits.md",
  "docs/operate/logs.md",
  "docs/operate/observability.md",
  "docs/operate/performance.md",
  "docs/operate/request-log.md",
  "docs/operate/scaling.md",
  "docs/operate/traces.md",
  "docs/reference/api.md",
  "docs/reference/cli.md",
  "docs/reference/compatibility-chat.md",
  "docs/reference/compatibility-gemini.md",
  "docs/reference/compatibility-messages.md",
  "docs/reference/compatibility-responses.md",
  "docs/reference/compatibility-responses-provider.md",
  "docs/reference/compatibility.md",
  "docs/reference/configuration.md",
  "docs/reference/errors.md",
  "docs/reference/models.md",
  "docs/reference/other-endpoints.md",
  "docs/reference/request-fields.md",
  "docs/start/clients.md",
  "docs/start/providers.md",
  "docs/start/quickstart.md",
  "docs/start/troubleshooting.md",
];

/** Folders whose files are checked for banned words: names, comments and texts alike. */
const SOURCE_FOLDERS = ["bench", "eval", "scripts", "src", "test", "ui"];
const SOURCE = /\.(ts|tsx|mjs)$/;

/** The list of banned words has to name them, and so has its test. */
const UNCHECKED_SOURCES = ["scripts/words.mjs", "test/unit/project/words.test.ts"];

/** Prompts of tests, which users could write. */
const KEPT_TEXTS = ["the door is open", "a door of iron"];

const SENTENCE_WORDS_MAX = 30;
const SUBJECT_CHARACTERS_MAX = 72;
/** Commits up to this one were made before subjects had a limit. */
const LAST_UNCHECKED_COMMIT = "9a8e9884";

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

/** Subjects since the limit exists. Empty without git and in a shallow clone that does not reach back so far. */
function newSubjects() {
  const args = ["log", "--no-merges", "--format=%s", `${LAST_UNCHECKED_COMMIT}..HEAD`];
  const { status, stdout } = spawnSync("git", args, { cwd: ROOT, encoding: "utf8" });
  return status === 0 ? stdout.split("\n").filter((subject) => subject !== "") : [];
}

function main() {
  const problems = [
    ...CHECKED_PAGES.flatMap((path) => pageProblems(path, readFileSync(join(ROOT, path), "utf8"))),
    ...checkedSources().flatMap((path) => sourceProblems(path, readFileSync(join(ROOT, path), "utf8"))),
    ...checkedSources()
      .filter(mayHoldNoProse)
      .flatMap((path) => proseIn(path, readFileSync(join(ROOT, path), "utf8"))),
    ...newSubjects().flatMap((subject) => {
      const problem = subjectProblem(subject);
      return problem === null ? [] : [`commit "${subject}": ${problem}`];
    }),
  ];
  for (const problem of problems) console.error(problem);
  process.exitCode = problems.length === 0 ? 0 : 1;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) main();
