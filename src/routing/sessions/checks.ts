// Checks: what test runners, compilers, linters and package managers say at the ends of their output. Each row of the table
// has the words by which a program says that it failed, where possible with a count, and by which it says that all is well.

/** Verdict of one run. `failing` is 0 when the run passed, and 1 where a program that failed gives no count. */
export interface CheckResult {
  readonly name: string;
  readonly failing: number;
}

/** Patterns of one program. Groups of `fails` are counts, which are added up; without groups, matches are counted. */
interface CheckPatterns {
  readonly name: string;
  readonly fails: RegExp;
  readonly passes?: RegExp;
}

/** In this order: a build tool that runs tests is named only where the tests said nothing. */
const CHECKS: readonly CheckPatterns[] = [
  {
    name: "pytest",
    fails: /(?:(\d+) failed|(\d+) errors?)(?=(?:, \d+ [a-z]+)* in \d[\d.]* ?s)/g,
    passes: /\d+ passed(?:, \d+ [a-z]+)* in \d[\d.]* ?s/,
  },
  {
    name: "unittest",
    fails: /^FAILED \((?:failures=(\d+))?(?:, )?(?:errors=(\d+))?/gm,
    passes: /^Ran \d+ tests? in [\d.]+s\s+OK\b/m,
  },
  {
    name: "jest",
    fails: /^Tests:\s+(\d+) failed|^Test Suites:\s+(\d+) failed(?![\s\S]*^Tests:\s+\d+ failed)/gm,
    passes: /^Tests:\s+(?:\d+ \w+, )*\d+ passed/m,
  },
  {
    name: "vitest",
    fails:
      /^\s*Tests\s+(\d+) failed|^\s*Test Files\s+(\d+) failed(?![\s\S]*^\s*Tests\s+\d+ failed)|^\s*Errors\s+(\d+) errors?/gm,
    passes: /^\s*Tests\s+\d+ passed/m,
  },
  { name: "mocha", fails: /^\s*(\d+) failing\b/gm, passes: /^\s*\d+ passing \(/m },
  {
    name: "playwright",
    fails: /^\s+(\d+) failed$(?=[\s\S]*?^\s+\d+ passed \()/gm,
    passes: /^\s+\d+ passed \([\d.]+m?s\)/m,
  },
  { name: "node:test", fails: /^(?:#|ℹ) fail ([1-9]\d*)/gm, passes: /^(?:#|ℹ) fail 0\b/m },
  {
    name: "cargo test",
    fails: /^test result: FAILED\. \d+ passed; (\d+) failed/gm,
    passes: /^test result: ok\. /m,
  },
  { name: "cargo", fails: /^error: could not compile .*?(?:due to (\d+) previous errors?|$)/gm },
  { name: "go test", fails: /^\s*--- FAIL: /gm, passes: /^(?:ok\s+\S+\s|PASS$)/m },
  { name: "go test", fails: /^FAIL\t/gm },
  {
    name: "maven",
    fails:
      /^(?:\[ERROR\] )?Tests run: \d+, Failures: (\d+), Errors: (\d+)(?!.*Time elapsed)|COMPILATION ERROR|BUILD FAILURE/gm,
    passes: /BUILD SUCCESS$/m,
  },
  { name: "gradle", fails: /\d+ tests? completed, (\d+) failed|^BUILD FAILED in/gm, passes: /^BUILD SUCCESSFUL in/m },
  {
    name: "dotnet",
    fails: /Failed!\s+- Failed:\s+(\d+)|^\s+Failed:\s+([1-9]\d*)$|^\s+([1-9]\d*) Error\(s\)|^Build FAILED/gm,
    passes: /Passed!\s+- Failed:\s+0|^Test Run Successful|^Build succeeded/m,
  },
  {
    name: "rspec",
    fails: /\d+ examples?, (?:([1-9]\d*) failures?|0 failures, (\d+) errors? occurred)/g,
    passes: /\d+ examples?, 0 failures/,
  },
  {
    name: "phpunit",
    fails:
      /^Tests: \d+, Assertions: \d+(?:, Errors: (\d+))?(?:, Failures: (\d+))?(?=[.,])(?<=(?:Errors|Failures): \d+)/gm,
    passes: /^OK \(\d+ tests?,/m,
  },
  {
    name: "minitest",
    fails: /\d+ (?:runs|tests), \d+ assertions, (\d+) failures, (\d+) errors/g,
    passes: /\d+ (?:runs|tests), \d+ assertions, 0 failures, 0 errors/,
  },
  { name: "ExUnit", fails: /^\d+ tests?, ([1-9]\d*) failures?/gm, passes: /^\d+ tests?, 0 failures/m },
  {
    name: "XCTest",
    fails: /Executed \d+ tests?, with ([1-9]\d*) failures?/g,
    passes: /Executed \d+ tests?, with 0 failures/,
  },
  { name: "ctest", fails: /% tests passed, ([1-9]\d*) tests? failed/g, passes: /100% tests passed, 0 tests failed/ },
  { name: "deno", fails: /^FAILED \| \d+ passed.*?\| (\d+) failed/gm, passes: /^ok \| \d+ passed/m },
  { name: "bun test", fails: /^\s*([1-9]\d*) fail$/gm, passes: /^\s*0 fail$/m },
  { name: "tsc", fails: /^Found (\d+) errors? in |\berror TS\d{4,5}: /gm },
  { name: "mypy", fails: /^Found (\d+) errors? in \d+ files? \(checked/gm, passes: /^Success: no issues found in/m },
  { name: "pyright", fails: /^([1-9]\d*) errors?, \d+ warnings?/gm, passes: /^0 errors, \d+ warnings?/m },
  { name: "eslint", fails: /✖ \d+ problems? \(([1-9]\d*) errors?/g, passes: /✖ \d+ problems? \(0 errors/ },
  { name: "ruff", fails: /^Found (\d+) errors?\b/gm, passes: /^All checks passed!/m },
  { name: "flake8", fails: /^\S+\.py:\d+:\d+: [A-Z]\d{3,4} /gm },
  { name: "javac", fails: /^\S+\.(?:java|kt|scala):\d+: error: |^(\d+) errors?$/gm },
  {
    name: "compiler",
    fails:
      /^\S+?:\d+(?::\d+)?: (?:fatal )?error: |^(\d+) errors? generated\.|: undefined reference to |^error(?:\[E\d+\])?: |\berror (?:CS|C|LNK)\d{4}: /gm,
  },
  { name: "make", fails: /^(?:g?make|ninja)(?:\[\d+\])?: (?:\*\*\* |build stopped)/gm },
  {
    name: "npm",
    fails: /^(?:npm (?:ERR!|error) code |error Command failed|\s?ERR_PNPM_| ?ELIFECYCLE)/gm,
    passes: /^(?:added|changed|removed|up to date).*? packages?\b.* in \d/m,
  },
  {
    name: "pip",
    fails: /^ERROR: (?:Could not|No matching|Cannot install|Failed)|^error: subprocess-exited-with-error/gm,
    passes: /^(?:Successfully installed|Requirement already satisfied)/m,
  },
  { name: "pylint", fails: /^\S+\.py:\d+:\d+: [EF]\d{4}: /gm, passes: /^Your code has been rated at 10/m },
  { name: "golangci-lint", fails: /^([1-9]\d*) issues:$/gm, passes: /^0 issues\.$/m },
  { name: "mix", fails: /^== Compilation error in file |^\*\* \((?:CompileError|SyntaxError|TokenMissingError)\)/gm },
  {
    name: "build",
    fails: /^.{0,3}Build failed(?: in \d|$)|compiled with ([1-9]\d*) errors?\b/gim,
    passes: /compiled successfully in \d/,
  },
  {
    name: "the tests",
    fails:
      /^\s*([1-9]\d*) (?:unit )?(?:tests?|specs?|scenarios?|suites?) failed\b|\b([1-9]\d*) FAILED\b|\bFailed ([1-9]\d*), Errors|[: ]([1-9]\d*) fails? (?:locally|remotely)|^\s*Failed: ([1-9]\d*)$/gm,
    passes: /^\s*(?:\d+|[Aa]ll) (?:\d+ )?(?:unit )?(?:tests?|specs?|scenarios?|suites?) passed\b/m,
  },
  { name: "Python", fails: /^Traceback \(most recent call last\):/gm },
];

/** One quick look first: most output says none of this. */
const SAYS_SOMETHING = /fail|err(?:or|!|_)|pass|\bok\b|success|✖|traceback|undefined ref|\*\*\*|packages? |rated at/i;

/** Reads a verdict; null where no program that is known speaks. `output`: the ends of a tool's result. */
export function readCheck(output: string): CheckResult | null {
  return SAYS_SOMETHING.test(output) ? findVerdict(plain(output)) : null;
}

function findVerdict(text: string): CheckResult | null {
  let passed: string | null = null;
  for (const { name, fails, passes } of CHECKS) {
    const failing = countFailing(text, fails);
    if (failing > 0) return { name, failing };
    if (passed === null && passes?.test(text) === true) passed = name;
  }
  return passed === null ? null : { name: passed, failing: 0 };
}

function countFailing(text: string, fails: RegExp): number {
  let counted = 0;
  let matches = 0;
  for (const [, ...groups] of text.matchAll(fails)) {
    const counts = groups.filter((group) => group !== undefined);
    if (counts.length === 0) matches += 1;
    for (const count of counts) counted += Number(count);
  }
  return counted > 0 ? counted : matches;
}

/** Output as a terminal shows it: without colours, and with the line breaks that stand escaped in JSON. */
function plain(output: string): string {
  const lines = output.includes("\\n") ? output.replaceAll("\\n", "\n").replaceAll("\\t", "\t") : output;
  const text = lines.includes("[") ? lines.replace(COLOURS, "") : lines;
  return text.replaceAll("\r", "");
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: terminals write it.
const COLOURS = /(?:\u001b|\\u001b|\\x1b|\\033)\[[\d;]*[A-Za-z]/gi;
