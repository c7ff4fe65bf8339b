// The npm package as a user gets it: packed from this checkout, installed into an empty folder, run by its command and by
// npx. Needs a registry or npm's cache for its dependencies; without both it says so.

import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "../..");
const MB = 1024 * 1024;
const PLAIN_START = /ENOTCACHED|ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|network/;
const run = promisify(execFile);

interface Packed {
  readonly filename: string;
  readonly size: number;
  readonly files: readonly { readonly path: string }[];
}

let folder = "";
let packed: Packed;
/** Why it could not be installed; null when it was. */
let missing: string | null = null;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "switchyard-package-"));
  // As a release does: .npmrc keeps npm from building when it packs.
  await npm(["run", "build"], ROOT);
  const { stdout } = await npm(["pack", "--json", "--pack-destination", folder], ROOT);
  [packed] = JSON.parse(stdout.slice(stdout.indexOf("[\n"))) as [Packed];
  mkdirSync(join(folder, "user"));
  writeFileSync(join(folder, "user/package.json"), "{}");
  try {
    await npm(["install", "--prefer-offline", "--no-audit", "--no-fund", join(folder, packed.filename)], userFolder());
  } catch (error) {
    missing = String(error);
    if (!PLAIN_START.test(missing)) throw error;
    console.log("– package: not installed, because neither a registry nor npm's cache has its dependencies");
  }
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const userFolder = (): string => join(folder, "user");
const npm = (args: readonly string[], cwd: string) =>
  run("npm", [...args, "--loglevel=error"], { cwd, env: plainEnv(), maxBuffer: 16 * MB });

/** Without what `npm test` tells its children about this checkout. */
function plainEnv(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(npm_|INIT_CWD|NODE_ENV)/.test(name)));
}

test("holds the program, the dashboard and the documentation, and nothing else", () => {
  const paths = packed.files.map(({ path }) => path);
  for (const path of [
    "bin/switchyard.mjs",
    "dist/program/main.js",
    "dist/ui/index.html",
    "dist/catalogue.json",
    "dist/catalogue.schema.json",
    "dist/docs/404.html",
    "dist/docs/swagger-ui-bundle.js.LICENSE.txt",
    "LICENSE",
  ]) {
    expect(paths).toContain(path);
  }
  const allowed = /^(bin|dist)\/|^(scripts\/launch\.mjs|package\.json|README\.md|LICENSE)$/;
  expect(paths.filter((path) => !allowed.test(path) || /\.(ts|tsx|map)$|\.stamp\.json$/.test(path))).toEqual([]);
  expect(packed.size).toBeLessThan(8 * MB);
});

test.each([
  ["program", ["fastify", "undici", "pino", "yaml"]],
  ["ui", ["preact"]],
  ["docs", ["vitepress", "@vue/runtime-core", "@vueuse/core", "minisearch", "swagger-ui-dist"]],
])("holds the licences of what is joined into dist/%s", (part, packages) => {
  const path = `dist/${part}/LICENSES.txt`;
  expect(packed.files.map((file) => file.path)).toContain(path);
  const licences = readFileSync(join(ROOT, path), "utf8").split(`\n${"-".repeat(80)}\n\n`);
  for (const name of packages) {
    const licence = licences.find((text) => text.startsWith(`${name} `));
    expect(licence, name).toMatch(/ \((MIT|ISC|Apache-2\.0)\)\n[\s\S]*(Permission|TERMS AND CONDITIONS)/);
  }
});

test("names every package that is joined or installed in its bill of materials", () => {
  expect(packed.files.map(({ path }) => path)).toContain("dist/sbom.cdx.json");
  const read = (path: string) => JSON.parse(readFileSync(join(ROOT, path), "utf8"));
  const bom = read("dist/sbom.cdx.json");
  const named = new Set<string>(bom.components.map(({ purl }: { purl: string }) => decodeURIComponent(purl)));
  const joined = ["program", "ui", "docs"].flatMap((part) => Object.entries(read(`dist/${part}/packages.json`)));
  expect(joined.length).toBeGreaterThan(60);
  const dependencies = Object.entries(read("package.json").dependencies);
  for (const [name, version] of [...joined, ...dependencies]) expect(named).toContain(`pkg:npm/${name}@${version}`);
  expect([...named].filter((purl) => /npm\/(vitest|typescript|rolldown)@/.test(purl))).toEqual([]);
  expect(bom).toMatchObject({ bomFormat: "CycloneDX", metadata: { component: { name: "switchyard-gateway" } } });
  for (const { hashes, licenses } of bom.components) {
    expect(hashes).toEqual([{ alg: "SHA-512", content: expect.stringMatching(/^[0-9a-f]{128}$/) }]);
    expect(licenses).toEqual([{ expression: expect.any(String) }]);
  }
});

test("installs into less than 50 MB", ({ skip }) => {
  skip(missing !== null, "not installed");
  const modules = join(userFolder(), "node_modules");
  const files = readdirSync(modules, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  // What the disk gives it, as du counts.
  const blocks = files.reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).blocks, 0);
  expect((blocks * 512) / MB).toBeLessThan(50);
});

test("serves from an empty folder, with the dashboard and an answer", async ({ skip }) => {
  skip(missing !== null, "not installed");
  const server = spawn(join(userFolder(), "node_modules/.bin/switchyard"), [], {
    cwd: userFolder(),
    env: { ...plainEnv(), PORT: "0", LOG_LEVEL: "error" },
  });
  try {
    const said = await untilSaid(server, /Base URL[\s\S]*Try it/);
    const [, url, key] = /Base URL +(\S+)\/v1[\s\S]*API key +(sk-service-\S+)/.exec(said) ?? [];
    expect(await (await fetch(`${url}/`)).text()).toContain("<html");
    const answer = await fetch(`${url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "auto", messages: [{ role: "user", content: "Hello" }] }),
    });
    expect(answer.status).toBe(200);
  } finally {
    server.kill("SIGTERM");
    await once(server, "exit");
  }
});

test("is run by npx under the name of the package", async ({ skip }) => {
  skip(missing !== null, "not installed");
  const { version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { version: string };
  const { stdout } = await run("npx", ["--no-install", "switchyard-gateway", "--version"], {
    cwd: userFolder(),
    env: plainEnv(),
  });
  expect(stdout).toContain(version);
});

async function untilSaid(child: ChildProcess, wanted: RegExp): Promise<string> {
  let said = "";
  return new Promise((resolve, reject) => {
    const read = (text: Buffer): void => {
      said += text.toString("utf8");
      if (wanted.test(said)) resolve(said);
    };
    child.stdout?.on("data", read);
    child.stderr?.on("data", read);
    child.once("exit", (code) => reject(new Error(`ended with ${code}: ${said}`)));
  });
}
