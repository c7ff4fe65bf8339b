// The set-up of a checkout: what counts as stale, what an interruption leaves behind, and two set-ups at once.
// npm and the compiler are stand-ins; the folder is a temporary one.

import { spawn, spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { isBuilt } from "../../../scripts/setup/build.mjs";
import { isInstalled, npmCommand } from "../../../scripts/setup/dependencies.mjs";
import { withLock } from "../../../scripts/setup/lock.mjs";
import { createProgress } from "../../../scripts/setup/progress.mjs";
import { run } from "../../../scripts/setup/run.mjs";
import { isSiteBuilt } from "../../../scripts/setup/site.mjs";
import { checkNode, ensureBuild, ensureDependencies, ensureSite, setUp } from "../../../scripts/setup.mjs";

const WAIT = { timeout: 120_000, interval: 20 };

let root: string;
let ran: string[];
let said: string[];

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "switchyard-setup-"));
  ran = [];
  said = [];
  write("package.json", JSON.stringify({ engines: { node: ">=20.19" }, dependencies: { left: "1.0.0" } }));
  write("package-lock.json", JSON.stringify(lockFile()));
  write("tsconfig.json", "{}");
  write("src/tsconfig.json", "{}");
  write("scripts/setup/bundle.mjs", "");
  write("src/main.ts", "// Main.\n");
  write("src/store/first.sql", "-- First.\n");
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

describe("dependencies", () => {
  test("are installed once, with the development ones, and then left alone", async () => {
    await ensureDependencies({ dev: true }, surroundings());
    await ensureDependencies({ dev: true }, surroundings());
    expect(ran).toEqual([expect.stringContaining("ci --include=dev")]);
  });

  test.each([
    ["package-lock.json", JSON.stringify(lockFile({ "node_modules/left": { version: "1.0.1" } }))],
    ["package.json", JSON.stringify({ dependencies: { left: "1.0.0", right: "2.0.0" } })],
  ])("are installed again when %s changed", async (path, text) => {
    await ensureDependencies({}, surroundings());
    write(path, text);
    expect(isInstalled(root, true)).toBe(false);
    await ensureDependencies({}, surroundings());
    expect(ran).toHaveLength(2);
  });

  test("stay when package.json changed in what is not about them", async () => {
    await ensureDependencies({}, surroundings());
    write("package.json", JSON.stringify({ version: "2.0.0", dependencies: { left: "1.0.0" } }));
    expect(isInstalled(root, true)).toBe(true);
  });

  test("installed by hand are taken as they are", async () => {
    pretendNpm();
    await ensureDependencies({}, surroundings());
    expect(ran).toEqual([]);
  });

  test("without the development ones are enough to serve, and not to build", () => {
    pretendNpm((path) => path !== "node_modules/tool");
    expect(isInstalled(root, false)).toBe(true);
    expect(isInstalled(root, true)).toBe(false);
  });

  test("made for another machine are not enough", () => {
    pretendNpm((path) => path !== "node_modules/native-here");
    expect(isInstalled(root, true)).toBe(false);
  });

  test("of an interrupted install do not count, even over an older complete one", async () => {
    await ensureDependencies({}, surroundings());
    write("package-lock.json", JSON.stringify(lockFile({ "node_modules/left": { version: "1.0.1" } })));
    const interrupted = surroundings({ npm: () => Promise.reject(new Error("killed")) });
    await expect(ensureDependencies({}, interrupted)).rejects.toThrow("killed");
    write("package-lock.json", JSON.stringify(lockFile()));
    expect(isInstalled(root, true)).toBe(false);
    expect(existsSync(join(root, ".cache/setup.lock"))).toBe(false);
  });

  test("that npm cannot install end with npm's words and what to do", async () => {
    const output = "npm error 404 no such thing\nnpm error Clean install a project\nnpm error usage usage\n";
    const failing = surroundings({ npm: async () => ({ code: 1, output }) });
    const failure = ensureDependencies({}, failing);
    await expect(failure).rejects.toThrow(/404 no such thing[\s\S]*npm ping/);
    await expect(failure).rejects.not.toThrow(/usage usage/);
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
  test("is made once, with what is not TypeScript beside it", async () => {
    await ensureBuild(surroundings());
    await ensureBuild(surroundings());
    expect(ran).toEqual([expect.stringContaining("tsc"), expect.stringContaining("bundle")]);
    expect(readdirSync(join(root, "dist")).sort()).toEqual([".stamp.json", "main.js", "program", "store"]);
    expect(read("dist/store/first.sql")).toBe("-- First.\n");
  });

  test.each([
    ["changed", () => write("src/main.ts", "// Other.\n")],
    ["added", () => write("src/more.ts", "// More.\n")],
    ["removed", () => rmSync(join(root, "src/store/first.sql"))],
    ["replaced in the compiler's settings", () => write("tsconfig.json", "{ }")],
  ])("is stale when a file was %s", async (_what, change) => {
    await ensureBuild(surroundings());
    change();
    expect(isBuilt(root)).toBe(false);
  });

  test("is not stale when a file was only touched", async () => {
    await ensureBuild(surroundings());
    utimesSync(join(root, "src/main.ts"), new Date(), new Date(0));
    const before = read("dist/.stamp.json");
    expect(isBuilt(root)).toBe(true);
    expect(read("dist/.stamp.json")).not.toBe(before);
  });

  test.each(["tsc", "bundle"])(
    "that fails in %s leaves the old one, nothing else, and is tried again",
    async (name) => {
      await ensureBuild(surroundings());
      write("src/main.ts", "// Broken.\n");
      const failing = surroundings({ [name]: async () => ({ code: 2, output: "main.ts(1,1): error" }) });
      await expect(ensureBuild(failing)).rejects.toThrow("main.ts(1,1): error");
      expect(read("dist/main.js")).toBe("// Main.\n");
      expect(readdirSync(root).filter((name) => name.startsWith(".dist-"))).toEqual([]);
      await ensureBuild(surroundings());
      expect(read("dist/main.js")).toBe("// Broken.\n");
    },
  );

  test("drops what a killed build left", async () => {
    write(".dist-1/main.js", "half");
    await ensureBuild(surroundings());
    expect(existsSync(join(root, ".dist-1"))).toBe(false);
  });

  test("has no file of a source that is gone", async () => {
    write("src/old.ts", "// Old.\n");
    await ensureBuild(surroundings());
    rmSync(join(root, "src/old.ts"));
    await ensureBuild(surroundings());
    expect(existsSync(join(root, "dist/old.js"))).toBe(false);
  });
});

describe("the dashboard", () => {
  const built = () => ran.filter((command) => command.includes("vite"));
  beforeEach(() => write("ui/main.tsx", "// Page.\n"));

  test("is built beside the server, compressed, and taken over while nothing of it changes", async () => {
    await ensureBuild(surroundings());
    write("src/main.ts", "// Other.\n");
    await ensureBuild(surroundings());
    expect(built()).toHaveLength(1);
    expect(readdirSync(join(root, "dist/ui")).sort()).toEqual([
      ...[".stamp.json", "index.html", "index.html.br", "index.html.gz"],
    ]);
  });

  test("is stale when one of its files changed", async () => {
    await ensureBuild(surroundings());
    write("ui/main.tsx", "// Other page.\n");
    expect(isBuilt(root)).toBe(false);
    await ensureBuild(surroundings());
    expect(built()).toHaveLength(2);
  });

  test("that cannot be built leaves the old build", async () => {
    await ensureBuild(surroundings());
    write("ui/main.tsx", "// Broken.\n");
    const failing = surroundings({ vite: async () => ({ code: 1, output: "main.tsx: no such thing" }) });
    await expect(ensureBuild(failing)).rejects.toThrow("main.tsx: no such thing");
    expect(existsSync(join(root, "dist/ui/index.html"))).toBe(true);
  });
});

describe("the documentation", () => {
  const built = () => ran.filter((command) => command.includes("vitepress"));
  beforeEach(() => write("docs/index.md", "# Page\n"));

  test("is built once, compressed, and again when a page changed", async () => {
    await ensureSite(surroundings());
    await ensureSite(surroundings());
    expect(built()).toHaveLength(1);
    expect(readdirSync(join(root, "dist/docs")).sort()).toEqual([".stamp.json", "index.html", "index.html.gz"]);
    write("docs/index.md", "# Other page\n");
    expect(isSiteBuilt(root)).toBe(false);
    await ensureSite(surroundings());
    expect(built()).toHaveLength(2);
  });

  test("is no part of the build that serving waits for, and outlives it", async () => {
    await setUp({}, surroundings());
    expect(built()).toEqual([]);
    await ensureSite(surroundings());
    write("src/main.ts", "// Other.\n");
    await setUp({}, surroundings());
    expect(read("dist/main.js")).toBe("// Other.\n");
    expect(isSiteBuilt(root)).toBe(true);
  });

  test("that cannot be built leaves the old one and says why", async () => {
    await ensureSite(surroundings());
    write("docs/index.md", "[dead](nowhere.md)\n");
    const failing = surroundings({ vite: async () => ({ code: 1, output: "1 dead link" }) });
    await expect(ensureSite(failing)).rejects.toThrow("1 dead link");
    expect(existsSync(join(root, "dist/docs/index.html"))).toBe(true);
    expect(readdirSync(root).filter((name) => name.startsWith(".dist-"))).toEqual([]);
  });

  // With this checkout's scripts, and a generator that never ends.
  test.each(["SIGTERM", "SIGKILL"] as const)("built in the background ends with the server: %s", async (signal) => {
    pretendNpm();
    cpSync(join(import.meta.dirname, "../../../scripts"), join(root, "scripts"), { recursive: true });
    const hangs =
      "require('node:fs').writeFileSync('generator.pid', String(process.pid)); setInterval(() => {}, 1000);";
    write("node_modules/vitepress/bin/vitepress.js", hangs);
    const site = pathToFileURL(join(root, "scripts/setup/site.mjs")).href;
    const starts = `import(${JSON.stringify(site)}).then((site) => site.buildSiteInBackground(process.cwd())); setInterval(() => {}, 1000);`;
    const server = spawn(process.execPath, ["-e", starts], { cwd: root, stdio: "ignore" });
    await vi.waitFor(() => expect(read("generator.pid")).not.toBe(""), WAIT);
    const generator = Number(read("generator.pid"));
    server.kill(signal);
    await vi.waitFor(() => expect(isRunning(generator)).toBe(false), WAIT);
    await vi.waitFor(() => expect(readdirSync(root).filter((name) => name.startsWith(".dist-docs"))).toEqual([]), WAIT);
  });

  test("is nothing to build where there are no pages, as in a package", async () => {
    rmSync(join(root, "docs"), { recursive: true });
    await ensureSite(surroundings());
    expect(ran).toEqual([]);
  });
});

describe("the whole set-up", () => {
  test("installs, builds, and has nothing to do or say the second time", async () => {
    await setUp({}, surroundings());
    expect(ran).toHaveLength(3);
    said = [];
    await setUp({ dev: true }, surroundings());
    expect(ran).toHaveLength(3);
    expect(said).toEqual([]);
  });

  test("twice at once does the work once", async () => {
    await Promise.all([setUp({}, surroundings()), setUp({ dev: true }, surroundings())]);
    expect(ran).toHaveLength(3);
    expect(said.join("")).toContain(`waiting for the set-up already running (process ${process.pid})`);
  });

  test("does nothing in a package that comes without sources", async () => {
    rmSync(join(root, "src"), { recursive: true });
    await setUp({}, surroundings());
    expect(ran).toEqual([]);
  });

  test.each(["20.19.0", "20.20.2", "22.0.0", "24.1.0"])("accepts Node %s", (version) => {
    expect(() => checkNode(">=20.19", version)).not.toThrow();
  });

  test.each(["20.18.3", "18.20.0", "8.0.0"])("refuses Node %s in words", (version) => {
    expect(() => checkNode(">=20.19", version)).toThrow(`needs Node 20.19 or newer, and this is Node ${version}`);
  });
});

describe("the lock", () => {
  const lock = () => ({
    file: join(root, ".cache/setup.lock"),
    onWait: (pid: number) => void said.push(`wait ${pid}`),
  });

  test("left by a process that is gone is taken", async () => {
    const { pid } = spawnSync(process.execPath, ["-e", ""]);
    write(".cache/setup.lock", `${pid} token`);
    expect(await withLock(lock(), async () => "done")).toBe("done");
    expect(said).toEqual([]);
  });

  test("left by an earlier process with our number is taken", async () => {
    write(".cache/setup.lock", `${process.pid} token`);
    expect(await withLock(lock(), async () => "done")).toBe("done");
  });

  test("not touched for long is taken, whatever process has the number now", async () => {
    write(".cache/setup.lock", `${process.ppid} token`);
    utimesSync(lock().file, new Date(), new Date(Date.now() - 60_000));
    expect(await withLock(lock(), async () => "done")).toBe("done");
  });

  test("of a running process is waited for", async () => {
    const other = spawn(process.execPath, ["-e", "process.stdin.resume()"], { stdio: ["pipe", "ignore", "ignore"] });
    write(".cache/setup.lock", `${other.pid} token`);
    const order: string[] = [];
    const onWait = (pid: number) => {
      order.push(`wait ${pid}`);
      other.stdin.end();
    };
    other.on("exit", () => order.push("other ended"));
    await withLock({ file: lock().file, onWait }, async () => order.push("work"));
    expect(order).toEqual([`wait ${other.pid}`, "other ended", "work"]);
  });

  test("admits one at a time, however many come", async () => {
    let inside = 0;
    let most = 0;
    const work = async () => {
      most = Math.max(most, ++inside);
      await new Promise(setImmediate);
      inside -= 1;
    };
    await Promise.all(Array.from({ length: 5 }, () => withLock(lock(), work)));
    expect(most).toBe(1);
    expect(readdirSync(join(root, ".cache"))).toEqual([]);
  });

  test("is given back when the work fails", async () => {
    const failing = withLock(lock(), () => Promise.reject(new Error("no")));
    await expect(failing).rejects.toThrow("no");
    expect(existsSync(lock().file)).toBe(false);
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
    expect(outcome).toMatchObject({ code: 127, output: expect.stringContaining("ENOENT") });
  });
});

interface Programs {
  readonly npm?: typeof npm;
  readonly tsc?: typeof tsc;
  readonly vite?: typeof vite;
  readonly bundle?: typeof tsc;
}

function surroundings(programs: Programs = {}) {
  return {
    root,
    progress: createProgress({ write: (text: string) => said.push(text) }),
    run: (_command: string, args: readonly string[]) => {
      ran.push(args.join(" "));
      if (args.includes("build")) return (programs.vite ?? vite)(args);
      if (args[0]?.endsWith("bundle.mjs")) return (programs.bundle ?? bundle)(args);
      return args.includes("ci") ? (programs.npm ?? npm)() : (programs.tsc ?? tsc)(args);
    },
  };
}

async function npm() {
  await new Promise(setImmediate);
  pretendNpm();
  return { code: 0, output: "" };
}

/** Leaves what npm leaves: a folder for each package that fits this machine, and its own record of them. */
function pretendNpm(wanted: (path: string) => boolean = () => true): void {
  const lock = JSON.parse(read("package-lock.json"));
  const installed = Object.entries<LockEntry>(lock.packages).filter(
    ([path, entry]) => path !== "" && wanted(path) && (entry.os?.includes(process.platform) ?? true),
  );
  for (const [path] of installed) mkdirSync(join(root, path), { recursive: true });
  write("node_modules/.package-lock.json", JSON.stringify({ packages: Object.fromEntries(installed) }));
}

/** "Bundles" by copying. */
async function bundle([, folder = ""]: readonly string[]) {
  cpSync(join(folder, "main.js"), join(folder, "program", "main.js"));
  return { code: 0, output: "" };
}

/** "Compiles" by copying. */
async function tsc(args: readonly string[]) {
  await new Promise(setImmediate);
  const outDir = args[args.indexOf("--outDir") + 1]!;
  mkdirSync(outDir, { recursive: true });
  for (const name of readdirSync(join(root, "src")).filter((file) => file.endsWith(".ts")))
    writeFileSync(join(outDir, name.replace(/\.ts$/, ".js")), read(`src/${name}`));
  return { code: 0, output: "" };
}

async function vite(args: readonly string[]) {
  await new Promise(setImmediate);
  const outDir = args[args.indexOf("--outDir") + 1]!;
  mkdirSync(outDir, { recursive: true });
  writeFileSync(join(outDir, "index.html"), "<!doctype html>");
  return { code: 0, output: "" };
}

interface LockEntry {
  readonly version?: string;
  readonly os?: readonly string[];
  readonly [field: string]: unknown;
}

function lockFile(changes: Record<string, LockEntry> = {}) {
  return {
    packages: {
      "": { dependencies: { left: "1.0.0" } },
      "node_modules/left": { version: "1.0.0" },
      "node_modules/tool": { version: "3.0.0", dev: true },
      "node_modules/native-here": { version: "1.0.0", optional: true, os: [process.platform], cpu: [process.arch] },
      "node_modules/native-elsewhere": { version: "1.0.0", optional: true, os: ["sunos"] },
      ...changes,
    },
  };
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

function write(path: string, text: string): void {
  const file = join(root, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

function read(path: string): string {
  return readFileSync(join(root, path), "utf8");
}
