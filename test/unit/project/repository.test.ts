// What must hold of the repository as a whole: its lock file, its links, its words, its CI command and its layering rules.

import { spawnSync } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { HTTP_ROOMS, LAYER_FOLDERS } from "../../../scripts/layers.mjs";
import { parseDockerfile } from "../../support/dockerfile.ts";

const ROOT = join(import.meta.dirname, "../../..");
const FILES = repositoryFiles();

describe.each(["", "docs/", "test/"])("%spackage-lock.json", (group) => {
  const packages: Record<string, LockEntry> = JSON.parse(read(`${group}package-lock.json`)).packages;

  test("holds no download addresses, so that any registry serves it", () => {
    expect(Object.keys(packages).filter((path) => packages[path]?.resolved !== undefined)).toEqual([]);
    expect(read(`${group}package-lock.json`)).not.toMatch(/https?:\/\/[^"]*\.tgz/);
  });

  test("names the optional packages of every platform, without which npm ci refuses it", () => {
    const missing = Object.entries(packages).flatMap(([path, entry]) =>
      Object.keys(entry.optionalDependencies ?? {}).filter(
        (name) =>
          packages[`node_modules/${name}`] === undefined && packages[`${path}/node_modules/${name}`] === undefined,
      ),
    );
    expect(missing).toEqual([]);
  });

  test("agrees with package.json", () => {
    const { version, dependencies, devDependencies } = JSON.parse(read(`${group}package.json`));
    expect(packages[""]).toEqual(expect.objectContaining({ devDependencies }));
    expect([packages[""]?.version, packages[""]?.dependencies]).toEqual([version, dependencies]);
  });

  test("is written and installed under the same settings", () => {
    expect(read(`${group}.npmrc`)).toBe(read(".npmrc"));
  });
});

describe("files", () => {
  // Pieces that only make sense on the machine they were written on.
  const MACHINE_PATH = /(?:^|[\s"'`(=])(?:\/(?:home|root|Users|work)\/[\w.-]+|[A-Z]:\\Users\\)/m;
  const REGISTRY_ADDRESS = /https?:\/\/[\w.-]*(?:registry|artifactory|verdaccio|npmmirror)[\w.-]*/i;

  test("are found", () => {
    expect(FILES).toContain("package.json");
    expect(FILES.length).toBeGreaterThan(50);
  });

  test.each([
    ["a path of one machine", MACHINE_PATH],
    ["the address of a registry", REGISTRY_ADDRESS],
  ])("mention nowhere %s", (_what, pattern) => {
    expect(FILES.filter((path) => pattern.test(read(path)))).toEqual([]);
  });

  test("the patterns do find what they look for", () => {
    expect(["", "home", "me", "x"].join("/")).toMatch(MACHINE_PATH);
    expect(`https:/${"/registry.example.org"}`).toMatch(REGISTRY_ADDRESS);
    expect("https://example.org/home/me").not.toMatch(MACHINE_PATH);
  });
});

describe("pages", () => {
  const pages = FILES.filter((path) => path.endsWith(".md"));

  test.each(pages)("the relative links of %s lead somewhere", (page) => {
    const broken = relativeLinks(read(page)).filter((link) => !existsSync(join(ROOT, dirname(page), link)));
    expect(broken).toEqual([]);
  });

  test.each(pages)("the files that %s names exist", (page) => {
    const named = [...read(page).matchAll(/`((?:bench|deploy|docs|eval|scripts|src|test|ui)\/[\w./-]+\.\w+)`/g)];
    expect(named.map(([, path]) => path ?? "").filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });

  test("every picture is linked, and npm run screenshots takes exactly these", () => {
    const linked = pages.flatMap((page) =>
      relativeLinks(read(page)).map((link) => join(dirname(page), link).replaceAll("\\", "/")),
    );
    const pictures = FILES.filter((path) => path.startsWith("docs/images/"));
    expect(pictures.filter((path) => !linked.includes(path))).toEqual([]);
    const taken = [...read("test/screenshots/main.mjs").matchAll(/\{ name: "([\w-]+)"/g)].map(([, name]) => name);
    expect(taken.map((name) => `docs/images/${name}.png`).sort()).toEqual([...pictures].sort());
  });

  test("the changelog has a place for what is not released yet", () => {
    expect(read("CHANGELOG.md")).toMatch(/^## \[Unreleased\]$/m);
  });
});

describe(".ci/run", () => {
  const [, , , command, ...more] = read(".ci/run").trimEnd().split("\n");

  test("can be executed", () => {
    expect(statSync(join(ROOT, ".ci/run")).mode & 0o111).toBe(0o111);
  });

  test("runs the README's test command, which is a script of the package", () => {
    expect([command, ...more]).toEqual(["npm test"]);
    expect(codeBlocks(read("README.md")).join("\n")).toMatch(new RegExp(`^(?:\\$ )?${command}(?:\\s+#.*)?$`, "m"));
    expect(JSON.parse(read("package.json")).scripts.test).toBeDefined();
  });

  test("is what the workflow of the forge runs too, from the oldest Node that is supported", () => {
    const { jobs } = parse(read(".github/workflows/ci.yml"));
    expect(jobs.test.steps.flatMap((step: { run?: string }) => step.run ?? [])).toEqual([command]);
    const oldest = JSON.parse(read("package.json")).engines.node.replace(">=", "");
    const image = /^ARG NODE=node:(\d+)\./m.exec(read("Dockerfile"))?.[1];
    expect(jobs.test.strategy.matrix.node).toEqual([oldest, "22", image]);
  });
});

describe("what a release is built with", () => {
  test.each(readdirSync(join(ROOT, ".github/workflows")))("the actions of %s are pinned by hash", (name) => {
    const used = [...read(`.github/workflows/${name}`).matchAll(/uses: (.*)/g)].map(([, action]) => action);
    expect(used.length).toBeGreaterThan(3);
    expect(used.filter((action) => !/^[\w./-]+@[0-9a-f]{40} # v[\d.]+$/.test(action as string))).toEqual([]);
  });

  test("so are the stages of the image that come from elsewhere", () => {
    const stages = parseDockerfile(read("Dockerfile"));
    const names = stages.map(({ name }) => name);
    const bases = stages.map(({ base }) => base).filter((base) => !names.includes(base));
    expect(bases.length).toBeGreaterThan(0);
    expect(bases.filter((base) => !/^node:\d+\.\d+\.\d+-[\w-]+@sha256:[0-9a-f]{64}$/.test(base))).toEqual([]);
  });

  test("and both are kept current", () => {
    const { updates } = parse(read(".github/dependabot.yml")) as { updates: { "package-ecosystem": string }[] };
    expect(updates.map((each) => each["package-ecosystem"])).toEqual(["github-actions", "docker"]);
  });
});

describe("the release workflow", () => {
  const { jobs } = parse(read(".github/workflows/release.yml"));
  const jobsWith = (pattern: RegExp) =>
    Object.values<{ steps: { run?: string }[] }>(jobs)
      .map(({ steps }) => steps.flatMap(({ run }) => run ?? []))
      .filter((runs) => runs.some((run) => pattern.test(run)));

  test("builds before it packs or publishes, which npm does not do by itself here", () => {
    const packing = jobsWith(/^npm (pack|publish)/);
    expect(packing).toHaveLength(2);
    for (const runs of packing) {
      expect(runs.indexOf("npm run build")).toBeGreaterThanOrEqual(0);
      expect(runs.indexOf("npm run build")).toBeLessThan(runs.findIndex((run) => /^npm (pack|publish)/.test(run)));
    }
  });
});

describe("the layering rules of biome.json", () => {
  const REFUSED = [
    ["src/core/a.ts", "../catalog/catalog.ts"],
    ["src/core/b.ts", "node:fs"],
    ["src/catalog/a.ts", "../config/settings.ts"],
    ["src/config/a.ts", "../routing/decide.ts"],
    ["src/routing/a.ts", "../formats/format.ts"],
    ["src/routing/b.ts", "node:crypto"],
    ["src/formats/a.ts", "../providers/registry.ts"],
    ["src/formats/b.ts", "undici"],
    ["src/accounts/a.ts", "../store/keys.ts"],
    ["src/billing/a.ts", "../accounts/keys.ts"],
    ["src/alerting/a.ts", "../store/db.ts"],
    ["src/providers/a.ts", "../telemetry/log.ts"],
    ["src/store/a.ts", "../billing/ledger.ts"],
    ["src/store/deep/a.ts", "../../billing/ledger.ts"],
    ["src/telemetry/a.ts", "../providers/health.ts"],
    ["src/versions/a.ts", "../store/db.ts"],
    ["src/workers/a.ts", "../telemetry/log.ts"],
    ["src/gateway/a.ts", "../http/server.ts"],
    ["src/http/v1/a.ts", "../../cli/serve.ts"],
    ["src/http/a.ts", "../app/app.ts"],
    ["src/http/exchange/a.ts", "../../app/app.ts"],
    ["src/http/exchange/b.ts", "../overload/policy.ts"],
    ["src/http/exchange/c.ts", "../context.ts"],
    ["src/http/openapi/a.ts", "../exchange/body.ts"],
    ["src/http/overload/a.ts", "../context.ts"],
    ["src/http/sockets/a.ts", "../v1/record.ts"],
    ["src/http/v1/b.ts", "../api/route.ts"],
    ["src/http/realtime-sessions/a.ts", "../api/route.ts"],
    ["src/http/v1/responses/a.ts", "../../api/route.ts"],
    ["src/http/api/a.ts", "../pages/docs.ts"],
    ["src/http/pages/a.ts", "../server.ts"],
    ["src/app/a.ts", "../cli/serve.ts"],
    ["src/app/b.ts", "../demo/fill.ts"],
    ["src/demo/a.ts", "../cli/demo.ts"],
    ["src/demo/b.ts", "../http/server.ts"],
    ["src/cli/a.ts", "../main.ts"],
  ] as const;
  const ALLOWED = [
    ["src/catalog/ok.ts", "../core/tiers.ts"],
    ["src/routing/ok.ts", "../catalog/catalog.ts"],
    ["src/accounts/ok.ts", "../config/settings.ts"],
    ["src/store/ok.ts", "node:fs"],
    ["src/gateway/ok.ts", "../providers/registry.ts"],
    ["src/http/ok.ts", "../gateway/complete.ts"],
    ["src/http/overload/ok.ts", "../exchange/body.ts"],
    ["src/http/v1/ok.ts", "../context.ts"],
    ["src/http/api/ok.ts", "../v1/record.ts"],
    ["src/http/pages/ok.ts", "../api/routes.ts"],
    ["src/cli/ok.ts", "../app/app.ts"],
  ] as const;
  const folder = mkdtempSync(join(tmpdir(), "switchyard-layers-"));
  let refused: ReadonlySet<string>;

  beforeAll(() => {
    for (const name of ["biome.json", ".gitignore"]) copyFileSync(join(ROOT, name), join(folder, name));
    for (const [path, target] of [...REFUSED, ...ALLOWED]) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), `import { thing } from "${target}";\n\nexport const value = thing;\n`);
    }
    refused = filesWithRestrictedImports(folder);
  });

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test.each(REFUSED)("%s may not import %s", (path) => {
    expect(refused).toContain(path);
  });

  test.each(ALLOWED)("%s may import %s", (path) => {
    expect(refused).not.toContain(path);
  });

  test("every folder of src/ has a row in scripts/layers.mjs and a case here", () => {
    const folders = readdirSync(join(ROOT, "src"), { withFileTypes: true }).filter((entry) => entry.isDirectory());
    const names = folders.map((entry) => entry.name).sort();
    expect(LAYER_FOLDERS.map((row) => row.folder).sort()).toEqual(names);
    const covered = new Set([...REFUSED, ...ALLOWED].map(([path]) => path.split("/")[1]));
    expect(names.filter((name) => !covered.has(name))).toEqual([]);
  });

  test("every folder of src/http/ has a row in scripts/layers.mjs and a refused import here", () => {
    const folders = readdirSync(join(ROOT, "src/http"), { withFileTypes: true }).filter((entry) => entry.isDirectory());
    const names = folders.map((entry) => entry.name).sort();
    expect(Object.keys(HTTP_ROOMS).sort()).toEqual(names);
    const covered = new Set(REFUSED.map(([path]) => path.split("/")[2]));
    expect(names.filter((name) => !covered.has(name))).toEqual([]);
  });
});

interface LockEntry {
  readonly version?: string;
  readonly dependencies?: Record<string, string>;
  readonly resolved?: string;
  readonly optionalDependencies?: Record<string, string>;
}

function read(path: string): string {
  return readFileSync(join(ROOT, path), "utf8");
}

/** What git tracks; without git or before the first commit, what stands in the folder. */
function repositoryFiles(): readonly string[] {
  const { stdout } = spawnSync("git", ["ls-files", "-z"], { cwd: ROOT, encoding: "utf8" });
  const tracked = (stdout ?? "").split("\0").filter((path) => path !== "" && existsSync(join(ROOT, path)));
  return tracked.length > 0 ? tracked : filesBelow("");
}

function filesBelow(folder: string): string[] {
  const ignored = /^(?:node_modules|dist|\.dist-.*|data|coverage|\.git|\.cache|\.env|switchyard\.yaml|.*\.log)$/;
  return readdirSync(join(ROOT, folder), { withFileTypes: true })
    .filter((entry) => !ignored.test(entry.name))
    .flatMap((entry) => {
      const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
      return entry.isDirectory() ? filesBelow(path) : [path];
    });
}

function relativeLinks(markdown: string): readonly string[] {
  const text = markdown.replace(/^```.*?^```$/gms, "");
  const targets = [...text.matchAll(/\]\(([^)\s]+)(?:\s+"[^"]*")?\)/g), ...text.matchAll(/^\[[^\]]+\]:\s*(\S+)/gm)];
  // A picture with a variant for dark pages is written as HTML.
  targets.push(...text.matchAll(/\b(?:src|srcset)="([^"]+)"/g));
  return targets.map((match) => match[1]!.split("#")[0]!).filter((link) => link !== "" && !/^[a-z]+:/i.test(link));
}

function codeBlocks(markdown: string): readonly string[] {
  return [...markdown.matchAll(/^```\w*\n(.*?)^```$/gms)].map((match) => match[1]!);
}

function filesWithRestrictedImports(folder: string): ReadonlySet<string> {
  const biome = join(ROOT, "test/node_modules/@biomejs/biome/bin/biome");
  const args = [biome, "lint", "--only=style/noRestrictedImports", "--max-diagnostics=none", "--reporter=github", "."];
  const { stdout } = spawnSync(process.execPath, args, { cwd: folder, encoding: "utf8" });
  const files = [...stdout.matchAll(/noRestrictedImports,file=([^,]+)/g)].map((match) => match[1]!);
  return new Set(files.map((file) => file.slice(file.indexOf("src/"))));
}
