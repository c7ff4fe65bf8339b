// The image without an engine: the Dockerfile is read, what its last stage copies is put into a folder with the
// production packages of the lock file, and its command is run there. What the image lacks is missing here too.

import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ensureBuild } from "../../scripts/setup.mjs";
import { copiesOf, environmentOf, execForm, lastOf, parseDockerfile, type Stage } from "../support/dockerfile.ts";

const ROOT = join(import.meta.dirname, "../..");
const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");
const stages = parseDockerfile(read("Dockerfile"));
const last = stages.at(-1) as Stage;
const DRIVER = "node_modules/@photostructure/sqlite";
/** What the image leaves out of the driver; below, its packages are without it, too. */
const UNUSED = "rm -r src && rm -r prebuilds/darwin-* prebuilds/win32-*";
/** The user that serves, unless the build says otherwise. */
const user = lastOf(last, "ARG")?.replace("RUN_AS=", "");

describe("Dockerfile", () => {
  test("has a stage that builds, one for production packages, and one that serves", () => {
    expect(stages.map(({ name }) => name)).toEqual(["build", "dependencies", null]);
    expect(new Set(stages.map(({ base }) => base)).size).toBe(1);
    const runs = stages.map(({ instructions }) =>
      instructions.filter(({ word }) => word === "RUN").map(({ text }) => text),
    );
    expect(runs[0]).toEqual(["npm ci && npm ci --prefix docs", "node scripts/build.mjs"]);
    expect(runs[1]).toEqual([`npm ci --omit=dev && cd ${DRIVER} && ${UNUSED}`]);
  });

  test("runs on a Node that the package allows", () => {
    const major = Number(/^node:(\d+)[.-]/.exec(last.base)?.[1]);
    const wanted = Number(/\d+/.exec(JSON.parse(read("package.json")).engines.node)?.[0]);
    expect(major).toBeGreaterThanOrEqual(wanted);
    expect(major % 2, "a line with long support").toBe(0);
  });

  test("copies what is there and what .dockerignore lets through", () => {
    const allowed = read(".dockerignore")
      .split("\n")
      .filter((line) => line.startsWith("!"))
      .map((line) => line.slice(1));
    const sources = stages
      .flatMap(copiesOf)
      .filter(({ from }) => from === null)
      .flatMap(({ sources: paths }) => paths);
    expect(sources.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
    expect(sources.filter((path) => !allowed.some((one) => path === one || path.startsWith(`${one}/`)))).toEqual([]);
    expect(allowed.filter((one) => !sources.some((path) => path === one || path.startsWith(`${one}/`)))).toEqual([]);
  });

  test("serves as a user that is not root, named by number", () => {
    expect(lastOf(last, "USER")).toMatch(/^\$\{RUN_AS\}$/);
    expect(user).toMatch(/^[1-9]\d*:[1-9]\d*$/);
  });

  test("is told to stop as the gateway expects it, and the gateway is process 1", () => {
    expect(lastOf(last, "STOPSIGNAL")).toBe("SIGTERM");
    expect(execForm(lastOf(last, "ENTRYPOINT") ?? "")[0]).toBe("node");
    expect(execForm(lastOf(last, "CMD") ?? "")).toEqual(["serve"]);
  });

  test("starts Node with the flags of npm start", () => {
    const flags = JSON.parse(read("package.json")).scripts.start.match(/--\S+/g);
    expect(execForm(lastOf(last, "ENTRYPOINT") ?? "").filter((word) => word.startsWith("--"))).toEqual(flags);
  });

  test("keeps its data in a folder that its user may write", () => {
    const { SWITCHYARD_DATA: data } = environmentOf(last);
    expect(lastOf(last, "RUN")).toContain(`mkdir ${data} && chown ${user} ${data} && `);
  });

  test("has the command on the PATH, where hints name it", () => {
    const program = execForm(lastOf(last, "ENTRYPOINT") ?? "").at(-1) ?? "";
    expect(lastOf(last, "RUN")).toMatch(new RegExp(`ln -s ${program} /usr/local/bin/switchyard$`));
    expect(statSync(join(ROOT, program.replace("/app/", ""))).mode & 0o111).toBe(0o111);
    expect(environmentOf(last).IN_CONTAINER).toBe("1");
  });
});

describe("what the image holds", () => {
  const folder = mkdtempSync(join(tmpdir(), "switchyard-image-"));
  const app = join(folder, "app");
  let child: ChildProcess | null = null;
  let said = "";

  beforeAll(async () => {
    await ensureBuild();
    for (const { from, sources, target } of copiesOf(last)) {
      if (from === "dependencies") copyProductionPackages(join(app, target));
      else if (from === "build") cpSync(join(ROOT, "dist"), join(app, target), { recursive: true });
      else for (const source of sources) copyInto(source, target);
    }
  });
  afterAll(() => {
    child?.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  });

  /** As COPY does: a folder's content goes to the target, a file below it when it ends with a slash. */
  function copyInto(source: string, target: string): void {
    const path = target.endsWith("/") ? join(app, target, basename(source)) : join(app, target);
    mkdirSync(dirname(path), { recursive: true });
    cpSync(join(ROOT, source), path, { recursive: true });
  }

  /** What `npm ci --omit=dev` installs. */
  function copyProductionPackages(target: string): void {
    const { packages } = JSON.parse(read("package-lock.json")) as { packages: Record<string, { dev?: boolean }> };
    const paths = Object.keys(packages).filter((path) => path !== "" && packages[path]?.dev !== true);
    // Nested ones come with the package they are in; optional ones of other platforms are not here.
    for (const path of paths.filter((one) => existsSync(join(ROOT, one)) && !one.includes("/node_modules/"))) {
      cpSync(join(ROOT, path), join(target, path.slice("node_modules/".length)), { recursive: true });
    }
    expect(spawnSync("sh", ["-c", UNUSED], { cwd: join(dirname(target), DRIVER) }).status).toBe(0);
  }

  function run(words: readonly string[]): ChildProcess {
    const [, ...args] = [...execForm(lastOf(last, "ENTRYPOINT") ?? ""), ...words];
    const here = args.map((word) => word.replace(/^\/app\//, `${app}/`));
    const local = {
      HOST: "127.0.0.1",
      PORT: "0",
      SWITCHYARD_DATA: join(folder, "data"),
      SWITCHYARD_LAME_DUCK_SECONDS: "0",
    };
    const env = { ...environmentOf(last), ...local };
    return spawn(process.execPath, here, { cwd: folder, env, stdio: ["ignore", "pipe", "pipe"] });
  }

  test("starts, is found well by its own health check, and stops with 0", async () => {
    child = run(execForm(lastOf(last, "CMD") ?? ""));
    const serving = child;
    const url = await new Promise<string>((resolve, reject) => {
      for (const stream of [serving.stdout, serving.stderr]) {
        stream?.on("data", (bytes) => {
          said += String(bytes);
          const found = /Base URL +(\S+)\/v1[\s\S]*Try it/.exec(said)?.[1];
          if (found !== undefined) resolve(found);
        });
      }
      serving.once("exit", (code) => reject(new Error(`ended with ${code}: ${said}`)));
    });
    expect(await (await fetch(`${url}/readyz`)).json()).toMatchObject({ status: "ready" });
    expect((await fetch(`${url}/`)).headers.get("content-type")).toContain("text/html");
    const [, check = ""] = /CMD (\[.*\])$/.exec(lastOf(last, "HEALTHCHECK") ?? "") ?? [];
    const [, ...args] = execForm(check);
    const health = (port: string): number | null =>
      spawnSync(process.execPath, args, { env: { PORT: port }, timeout: 120_000 }).status;
    expect(health(new URL(url).port)).toBe(0);
    expect(health("1")).toBe(1);
    const exited = new Promise((resolve) => serving.once("exit", resolve));
    serving.kill("SIGTERM");
    expect(await exited).toBe(0);
  });

  test("its command line works too", async () => {
    const asked = run(["--version"]);
    let text = "";
    asked.stdout?.on("data", (bytes) => {
      text += String(bytes);
    });
    expect(await new Promise((resolve) => asked.once("exit", resolve))).toBe(0);
    expect(text).toContain(JSON.parse(read("package.json")).version);
  });

  test("has no sources, tests or development packages", () => {
    for (const path of ["src", "test", "ui", "node_modules/vitest", "node_modules/typescript", "node_modules/vite"]) {
      expect(existsSync(join(app, path)), path).toBe(false);
    }
  });
});
