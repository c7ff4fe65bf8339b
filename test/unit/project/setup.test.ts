// The set-up of a checkout: what counts as stale, what an interruption leaves behind, and two set-ups at once.
// npm, the compiler and the builders are stand-ins in a temporary folder.

import { spawn, spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { nodeProblem } from "../../../scripts/launch.mjs";
import { isBuilt } from "../../../scripts/setup/build.mjs";
import { isInstalled, npmCommand } from "../../../scripts/setup/install.mjs";
import { withLock } from "../../../scripts/setup/lock.mjs";
import { run } from "../../../scripts/setup/run.mjs";
import { isSiteBuilt } from "../../../scripts/setup/site.mjs";
import { ensureBuild, ensureInstalled, ensureSite } from "../../../scripts/setup.mjs";

const WAIT = { timeout: 120_000, interval: 20 };
const SCRIPTS = join(import.meta.dirname, "../../../scripts");

/** Output of npm is shown to the user, and would be shown among the results of the tests. */
const SILENT = "";

let root: string;

/** A program of the set-up: notes that it ran, fails with the text of a file if there is one, and else does the work. */
const standIn = (name: string, work: string): string => `
  const { appendFileSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } = require("node:fs");
  const args = process.argv.slice(2);
  const outDir = args[args.indexOf("--outDir") + 1];
  appendFileSync(${JSON.stringify(join(root, "ran.log"))}, "${name} " + args.join(" ") + "\\n");
  if (existsSync(${JSON.stringify(join(root, `fails-${name}`))})) {
    process.stdout.write(readFileSync(${JSON.stringify(join(root, `fails-${name}`))}));
    process.exit(2);
  }
  ${work}`;

const TRANSPILES = `mkdirSync(args[0], { recursive: true });
  for (const file of readdirSync("src").filter((one) => one.endsWith(".ts")))
    cpSync("src/" + file, args[0] + "/" + file.replace(/ts$/, "js"));`;
const BUNDLES = `cpSync(args[0] + "/main.js", args[0] + "/program/main.js");`;
const BUILDS_PAGE = `mkdirSync(outDir, { recursive: true }); writeFileSync(outDir + "/index.html", "<!doctype html>".padEnd(15_000));`;
const INSTALLS = `const { packages } = JSON.parse(readFileSync("package-lock.json", "utf8"));
  const fits = ([path, entry]) => path !== "" && (entry.os?.includes(process.platform) ?? true);
  mkdirSync("node_modules", { recursive: true });
  const installed = Object.fromEntries(Object.entries(packages).filter(fits));
  writeFileSync("node_modules/.package-lock.json", JSON.stringify({ packages: installed }));`;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "switchyard-setup-"));
  for (const group of ["", "docs/", "test/"]) write(`${group}package-lock.json`, JSON.stringify(lockFile()));
  write("package.json", "{}");
  write("src/main.ts", "// Main.\n");
  write("src/store/first.sql", "-- First.\n");
  write("docs/index.md", "# Page\n");
  write("scripts/setup/licences.mjs", "");
  for (const [name, work] of Object.entries({
    transpile: TRANSPILES,
    "catalogue-file": "",
    bundle: BUNDLES,
  })) {
    write(
      `scripts/setup/${name}.mjs`,
      `import { createRequire } from "node:module"; createRequire(import.meta.url)("../../${name}.cjs");`,
    );
    write(`${name}.cjs`, standIn(name, work));
  }
  write("node_modules/vite/bin/vite.js", standIn("vite", BUILDS_PAGE));
  write("docs/node_modules/vitepress/bin/vitepress.js", standIn("vitepress", BUILDS_PAGE));
  write("npm/npm-cli.js", standIn("npm", INSTALLS));
  vi.stubEnv("npm_execpath", join(root, "npm/npm-cli.js"));
  vi.spyOn(console, "error").mockReturnValue();
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

describe("packages", () => {
  test("are installed once, with the development ones, each group in its folder", async () => {
    for (const group of [".", "docs", "test", "."] as const) await ensureInstalled(group, root);
    expect(ran()).toEqual(Array(3).fill(expect.stringContaining("npm ci --include=dev")));
    expect(existsSync(join(root, "test/node_modules/.package-lock.json"))).toBe(true);
  });

  test("are installed again when the lock file names others", async () => {
    await ensureInstalled(".", root);
    write("package-lock.json", JSON.stringify(lockFile({ "node_modules/left": { version: "1.0.1" } })));
    expect(isInstalled(root)).toBe(false);
    await ensureInstalled(".", root);
    expect(ran()).toHaveLength(2);
  });

  test("installed by hand are taken as they are", async () => {
    expect((await run(process.execPath, [join(root, "npm/npm-cli.js")], { cwd: root })).code).toBe(0);
    await ensureInstalled(".", root);
    expect(ran()).toHaveLength(1);
  });

  test.each([
    ["are missing", "node_modules/left"],
    ["were made for another machine", "node_modules/native-here"],
  ])("are not enough where some %s", (_what, path) => {
    const { packages } = lockFile();
    const installed = Object.fromEntries(Object.entries(packages).filter(([name]) => name !== path));
    write("node_modules/.package-lock.json", JSON.stringify({ packages: installed }));
    expect(isInstalled(root)).toBe(false);
  });

  test("of an interrupted install do not count, even over an older complete one", async () => {
    await ensureInstalled(".", root);
    const before = read("package-lock.json");
    write("package-lock.json", JSON.stringify(lockFile({ "node_modules/left": { version: "1.0.1" } })));
    write("fails-npm", SILENT);
    await expect(ensureInstalled(".", root)).rejects.toThrow("exit code 2");
    write("package-lock.json", before);
    expect(isInstalled(root)).toBe(false);
    expect(existsSync(join(root, ".cache/setup.lock"))).toBe(false);
  });

  test("that npm cannot install end with what to do", async () => {
    write("fails-npm", SILENT);
    await expect(ensureInstalled(".", root)).rejects.toThrow(/could not install[\s\S]*npm ping/);
  });
});

describe("the npm used", () => {
  test.each([
    [
      "the one that runs us",
      { npm_execpath: "/opt/npm/bin/npm-cli.js" },
      [process.execPath, "/opt/npm/bin/npm-cli.js"],
    ],
    ["the one on the path, under another package manager", { npm_execpath: "/opt/pnpm/bin/pnpm.cjs" }, ["npm"]],
    ["the one on the path, outside npm", {}, ["npm"]],
  ])("is %s", (_which, env, expected) => {
    const { command, args } = npmCommand(env);
    expect([command, ...args]).toEqual(expected);
  });
});

describe("the build", () => {
  test("is made once, after the packages, with what is not TypeScript beside it", async () => {
    await ensureBuild(root);
    vi.mocked(console.error).mockClear();
    await ensureBuild(root);
    expect(ran().map((line) => line.split(" ")[0])).toEqual(["npm", "transpile", "catalogue-file", "bundle"]);
    expect(readdirSync(join(root, "dist")).sort()).toEqual([".stamp.json", "main.js", "program", "store"]);
    expect(read("dist/store/first.sql")).toBe("-- First.\n");
    expect(console.error).not.toHaveBeenCalled();
  });

  test.each([
    ["changed", () => write("src/main.ts", "// Other.\n")],
    ["added", () => write("src/more.ts", "// More.\n")],
    ["removed", () => rmSync(join(root, "src/store/first.sql"))],
    ["replaced in a script of the build", () => write("scripts/setup/licences.mjs", "// Other.\n")],
  ])("is stale when a file was %s", async (_what, change) => {
    await ensureBuild(root);
    change();
    expect(isBuilt(root)).toBe(false);
  });

  test("is not stale when a file was only touched", async () => {
    await ensureBuild(root);
    utimesSync(join(root, "src/main.ts"), new Date(), new Date(0));
    expect(isBuilt(root)).toBe(true);
  });

  test.each(["transpile", "catalogue-file", "bundle"])(
    "that fails in %s leaves the old one, nothing else, and is tried again",
    async (name) => {
      await ensureBuild(root);
      write("src/main.ts", "// Broken.\n");
      write(`fails-${name}`, "main.ts(1,1): error");
      await expect(ensureBuild(root)).rejects.toThrow("main.ts(1,1): error");
      expect(read("dist/main.js")).toBe("// Main.\n");
      expect(readdirSync(root).filter((one) => one.startsWith(".dist-"))).toEqual([]);
      rmSync(join(root, `fails-${name}`));
      await ensureBuild(root);
      expect(read("dist/main.js")).toBe("// Broken.\n");
    },
  );

  test("drops what a killed build left, and files of a source that is gone", async () => {
    write(".dist-1/main.js", "half");
    write("src/old.ts", "// Old.\n");
    await ensureBuild(root);
    expect(existsSync(join(root, ".dist-1"))).toBe(false);
    rmSync(join(root, "src/old.ts"));
    await ensureBuild(root);
    expect(existsSync(join(root, "dist/old.js"))).toBe(false);
  });

  test("twice at once is made once", async () => {
    await Promise.all([ensureBuild(root), ensureBuild(root)]);
    expect(ran()).toHaveLength(4);
    expect(vi.mocked(console.error).mock.calls.join()).toContain("waiting for another set-up");
  });
});

describe("the dashboard", () => {
  const built = () => ran().filter((line) => line.startsWith("vite "));
  beforeEach(() => write("ui/main.tsx", "// Page.\n"));

  test("is built beside the server, compressed, and taken over while nothing of it changes", async () => {
    await ensureBuild(root);
    write("src/main.ts", "// Other.\n");
    await ensureBuild(root);
    expect(built()).toHaveLength(1);
    const files = [".stamp.json", "index.html", "index.html.br", "index.html.gz"];
    expect(readdirSync(join(root, "dist/ui")).sort()).toEqual(files);
    write("ui/main.tsx", "// Other page.\n");
    expect(isBuilt(root)).toBe(false);
    await ensureBuild(root);
    expect(built()).toHaveLength(2);
  });

  test("that cannot be built leaves the old build", async () => {
    await ensureBuild(root);
    write("ui/main.tsx", "// Broken.\n");
    write("fails-vite", "main.tsx: no such thing");
    await expect(ensureBuild(root)).rejects.toThrow("main.tsx: no such thing");
    expect(existsSync(join(root, "dist/ui/index.html"))).toBe(true);
  });
});

describe("the documentation", () => {
  const built = () => ran().filter((line) => line.startsWith("vitepress "));
  beforeEach(() => run(process.execPath, [join(root, "npm/npm-cli.js")], { cwd: join(root, "docs") }));

  test("is built once, compressed, and again when a page changed", async () => {
    await ensureSite(root);
    await ensureSite(root);
    expect(built()).toHaveLength(1);
    expect(readdirSync(join(root, "dist/docs")).sort()).toEqual([".stamp.json", "index.html.gz"]);
    write("docs/index.md", "# Other page\n");
    expect(isSiteBuilt(root)).toBe(false);
    await ensureSite(root);
    expect(built()).toHaveLength(2);
  });

  test("is no part of the build that serving waits for, and outlives it", async () => {
    await ensureBuild(root);
    expect(built()).toEqual([]);
    await ensureSite(root);
    write("src/main.ts", "// Other.\n");
    await ensureBuild(root);
    expect(read("dist/main.js")).toBe("// Other.\n");
    expect(isSiteBuilt(root)).toBe(true);
  });

  test("that cannot be built leaves the old one and says why", async () => {
    await ensureSite(root);
    write("docs/index.md", "[dead](nowhere.md)\n");
    write("fails-vitepress", "1 dead link");
    await expect(ensureSite(root)).rejects.toThrow("1 dead link");
    expect(existsSync(join(root, "dist/docs/index.html.gz"))).toBe(true);
    expect(readdirSync(root).filter((name) => name.startsWith(".dist-"))).toEqual([]);
  });

  // With this checkout's scripts, and a generator that never ends.
  test.each(["SIGTERM", "SIGKILL"] as const)("built in the background ends with the server: %s", async (signal) => {
    cpSync(SCRIPTS, join(root, "scripts"), { recursive: true });
    cpSync(join(SCRIPTS, "../package.json"), join(root, "package.json"));
    const hangs =
      "require('node:fs').writeFileSync('generator.pid', String(process.pid)); setInterval(() => {}, 1000);";
    write("docs/node_modules/vitepress/bin/vitepress.js", hangs);
    const setup = pathToFileURL(join(root, "scripts/setup.mjs")).href;
    const starts = `import(${JSON.stringify(setup)}).then((setup) => setup.buildSiteInBackground()); setInterval(() => {}, 1000);`;
    const server = spawn(process.execPath, ["-e", starts], { cwd: root, stdio: "ignore" });
    await vi.waitFor(() => expect(read("generator.pid")).not.toBe(""), WAIT);
    const generator = Number(read("generator.pid"));
    server.kill(signal);
    await vi.waitFor(() => expect(isRunning(generator)).toBe(false), WAIT);
    await vi.waitFor(() => expect(readdirSync(root).filter((name) => name.startsWith(".dist-docs"))).toEqual([]), WAIT);
  });
});

describe("the version of Node", () => {
  test.each(["20.19.0", "20.20.2", "22.0.0", "24.1.0"])("%s is accepted", (version) => {
    expect(nodeProblem(version)).toBeNull();
  });

  test.each(["20.18.3", "18.20.0", "8.0.0"])("%s is refused in words", (version) => {
    expect(nodeProblem(version)).toContain(`needs Node 20.19 or newer, and this is Node ${version}`);
  });
});

describe("the lock", () => {
  const file = () => join(root, ".cache/setup.lock");

  test.each([
    [
      "of a process that is gone",
      () => write(".cache/setup.lock", String(spawnSync(process.execPath, ["-e", ""]).pid)),
    ],
    [
      "not touched for long, whatever process has the number now",
      () => {
        write(".cache/setup.lock", String(process.ppid));
        utimesSync(file(), new Date(), new Date(Date.now() - 100_000));
      },
    ],
  ])("%s is taken", async (_which, leave) => {
    leave();
    const work = vi.fn(async () => {});
    await withLock(file(), work);
    expect(work).toHaveBeenCalledOnce();
    expect(existsSync(file())).toBe(false);
  });

  test("that is held is waited for, and its holder keeps it fresh", async () => {
    const order: string[] = [];
    const first = withLock(file(), async () => {
      // Touching makes it young again.
      utimesSync(file(), new Date(), new Date(Date.now() - 10_000));
      await vi.waitFor(() => expect(Date.now() - statMs(file())).toBeLessThan(9_000), WAIT);
      order.push("first");
    });
    const second = withLock(file(), async () => void order.push("second"));
    await Promise.all([first, second]);
    expect(order).toEqual(["first", "second"]);
  });

  test("admits one at a time, however many come", async () => {
    let inside = 0;
    let most = 0;
    const work = async () => {
      most = Math.max(most, ++inside);
      await new Promise(setImmediate);
      inside -= 1;
    };
    await Promise.all(Array.from({ length: 5 }, () => withLock(file(), work)));
    expect(most).toBe(1);
    expect(readdirSync(join(root, ".cache"))).toEqual([]);
  });

  test("is given back when the work fails", async () => {
    const failing = withLock(file(), () => Promise.reject(new Error("no")));
    await expect(failing).rejects.toThrow("no");
    expect(existsSync(file())).toBe(false);
  });
});

describe("running a program", () => {
  test("collects what it says and how it ended", async () => {
    const code = "console.log('out'); console.error('err'); process.exitCode = 3";
    const outcome = await run(process.execPath, ["-e", code], { cwd: root });
    expect(outcome.code).toBe(3);
    expect(outcome.output).toMatch(/out/);
    expect(outcome.output).toMatch(/err/);
  });

  test("that does not exist is a failure, not an exception", async () => {
    const outcome = await run(join(root, "nothing"), [], { cwd: root });
    expect(outcome.code).not.toBe(0);
    expect(outcome.output).toContain("ENOENT");
  });
});

interface LockEntry {
  readonly version?: string;
  readonly [field: string]: unknown;
}

function lockFile(changes: Record<string, LockEntry> = {}): { readonly packages: Record<string, LockEntry> } {
  return {
    packages: {
      "": { dependencies: { left: "1.0.0" } },
      "node_modules/left": { version: "1.0.0" },
      "node_modules/native-here": { version: "1.0.0", optional: true, os: [process.platform], cpu: [process.arch] },
      "node_modules/native-elsewhere": { version: "1.0.0", optional: true, os: ["sunos"] },
      ...changes,
    },
  };
}

/** The programs that ran, each with its arguments. */
function ran(): readonly string[] {
  return existsSync(join(root, "ran.log")) ? read("ran.log").trimEnd().split("\n") : [];
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

function statMs(file: string): number {
  return statSync(file).mtimeMs;
}

function write(path: string, text: string): void {
  const file = join(root, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

function read(path: string): string {
  return readFileSync(join(root, path), "utf8");
}
