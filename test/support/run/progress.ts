// What `npm test` shows: one line that moves, the errors of what failed, and at the end the commands that repeat just that.

import type { UserConsoleLog } from "vitest";
import {
  MinimalReporter,
  type TestCase,
  type TestModule,
  type TestRunEndReason,
  type TestSpecification,
  type Vitest,
} from "vitest/node";

type RunErrors = Parameters<MinimalReporter["onTestRunEnd"]>[1];

const LINE_EVERY_MS = 30_000;
/** Files that run longer are named, so that one that hangs is known while it does. */
const LONG_MS = 90_000;
const NAMED_MAX = 40;
const CLEAR_LINE = "\r\x1b[2K";

export class ProgressReporter extends MinimalReporter {
  #startedAtMs = 0;
  #files = 0;
  #done = 0;
  #passed = 0;
  #failed = 0;
  readonly #warnings = new Set<string>();
  readonly #running = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;
  readonly #isMoving = process.stdout.isTTY === true && process.env.TERM !== "dumb" && !process.env.CI;

  override onInit(vitest: Vitest): void {
    super.onInit(vitest);
    this.#startedAtMs = Date.now();
  }

  override onTestRunStart(specifications: readonly TestSpecification[]): void {
    super.onTestRunStart(specifications);
    this.#files = specifications.length;
    this.#timer = setInterval(() => this.#draw(), this.#isMoving ? 1_000 : LINE_EVERY_MS);
    this.#timer.unref();
  }

  override onTestCaseResult(test: TestCase): void {
    if (test.result().state === "failed") this.#clear();
    super.onTestCaseResult(test);
    if (test.result().state === "passed") this.#passed += 1;
    if (test.result().state === "failed") this.#failed += 1;
  }

  /** Tests warn of what they leave out: each reason is shown once. Everything else belongs to a test that fails. */
  override onUserConsoleLog(log: UserConsoleLog, state?: "passed" | "failed" | "skipped" | "pending"): void {
    this.#clear();
    if (log.type === "stdout" || state === "failed") super.onUserConsoleLog(log, state);
    else if (!this.#warnings.has(log.content)) process.stdout.write(`– ${log.content.trimEnd()}\n`);
    this.#warnings.add(log.content);
  }

  onTestModuleStart(module: TestModule): void {
    this.#running.set(this.relative(module.moduleId), Date.now());
  }

  override onTestModuleEnd(module: TestModule): void {
    this.#running.delete(this.relative(module.moduleId));
    this.#clear();
    super.onTestModuleEnd(module);
    this.#done += 1;
    if (this.#isMoving) this.#draw();
  }

  override onTestRunEnd(modules: readonly TestModule[], errors: RunErrors, reason: TestRunEndReason): void {
    clearInterval(this.#timer);
    this.#clear();
    super.onTestRunEnd(modules, errors, reason);
    const failures = modules.flatMap((module) => failuresOf(module, this.relative(module.moduleId)));
    this.log(repeats(failures));
    this.log(closing(modules, failures));
  }

  #draw(): void {
    const { format } = new Intl.NumberFormat("en-US");
    const minutes = ((Date.now() - this.#startedAtMs) / 60_000).toFixed(1);
    const text = `${this.#done} of ${this.#files} files, ${format(this.#passed)} passed, ${this.#failed} failed, ${minutes} min${this.#long()}`;
    process.stdout.write(this.#isMoving ? `${CLEAR_LINE}… ${text}` : `… ${text}\n`);
  }

  #long(): string {
    const long = [...this.#running].filter(([, startedAtMs]) => Date.now() - startedAtMs >= LONG_MS);
    return long.length === 0 ? "" : `, still in ${long.map(([file]) => file).join(", ")}`;
  }

  #clear(): void {
    if (this.#isMoving) process.stdout.write(CLEAR_LINE);
  }
}

interface Failure {
  readonly file: string;
  /** Null where the file itself failed, outside any test. */
  readonly test: string | null;
}

function failuresOf(module: TestModule, file: string): readonly Failure[] {
  const tests = [...module.children.allTests("failed")].map(({ fullName }) => ({ file, test: fullName }));
  return tests.length === 0 && module.state() === "failed" ? [{ file, test: null }] : tests;
}

/** Empty when nothing failed. */
function repeats(failures: readonly Failure[]): string {
  if (failures.length === 0) return "";
  const named = failures.slice(0, NAMED_MAX);
  const lines = named.map(({ file, test }) => {
    const title = test === null ? file : `${file} > ${test}`;
    return `  ${title}\n    npm test -- ${file}${test === null ? "" : ` -t ${quoted(test)}`}`;
  });
  const files = [...new Set(failures.map(({ file }) => file))];
  const more = failures.length > named.length ? [`  and ${failures.length - named.length} more`] : [];
  const all = files.length > 1 ? [`Repeat all files that failed:\n  npm test -- ${files.join(" ")}`] : [];
  return ["Failed, each with the command that repeats it:", ...lines, ...more, ...all, ""].join("\n");
}

/** The pattern that a name is matched with, as one word for a shell. Vitest joins names with one space. */
function quoted(name: string): string {
  const pattern = `^${name.replaceAll(" > ", " ").replace(/[\\^$.*+?()[\]{}|]/g, "\\$&")}$`;
  return `'${pattern.replaceAll("'", "'\\''")}'`;
}

/** Alone on its line, for programs that read the output. A file that failed outside its tests counts as one of them. */
function closing(modules: readonly TestModule[], failures: readonly Failure[]): string {
  const counts = { passed: 0, failed: failures.length, skipped: 0 };
  for (const module of modules)
    for (const test of module.children.allTests()) {
      const { state } = test.result();
      if (state === "passed" || state === "skipped") counts[state] += 1;
    }
  return `Tests: ${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`;
}
