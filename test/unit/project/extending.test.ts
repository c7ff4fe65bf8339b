// The recipes of docs/contribute/extending.md are followed here: every file they list exists, and on a copy of the source each
// change has the effect that the recipe promises. One copy takes all changes, and is compiled once.

import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { copyAssets } from "../../../scripts/setup/build.mjs";
import { makeCatalog, makeModel, makeQuestion } from "../../support/catalog.ts";
import { startGateway } from "../../support/gateway/gateway.ts";
import { recordTerminal } from "../../support/gateway/terminal.ts";
import { startFakeProvider } from "../../support/providers/fake-provider.ts";
import { makeRecord } from "../../support/stores/records.ts";

const ROOT = join(import.meta.dirname, "../../..");
const page = readFileSync(join(ROOT, "docs/contribute/extending.md"), "utf8");
const recipes = page.split(/^## /m).slice(1);
/** Below the repository, so that the copy finds its packages; .cache is ignored by git. */
const CACHE = join(ROOT, ".cache");
mkdirSync(CACHE, { recursive: true });
const copy = mkdtempSync(join(CACHE, "extending-"));
/** Vitest loads packages as they are, and would translate other files one by one. */
const compiled = join(copy, "node_modules/compiled");

afterAll(() => rmSync(copy, { recursive: true, force: true }));

test.each(recipes.map((recipe) => [recipe.split("\n")[0], recipe]))(
  "%s: every file it lists exists",
  (_name, recipe) => {
    const files = [...(recipe ?? "").matchAll(/`((?:src|ui|test|scripts)\/[^`<]+\.\w+)`/g)].map(
      ([, path]) => path ?? "",
    );
    expect(files.length).toBeGreaterThan(0);
    expect(files.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  },
);

test("there are eight recipes", () => {
  expect(recipes.map((recipe) => recipe.split("\n")[0])).toEqual([
    "Add a provider",
    "Add a wire format",
    "Add a routing signal",
    "Add a request control",
    "Add a dashboard page",
    "Add a config option",
    "Add a field to the request log",
    "Add a CLI command",
  ]);
});

test("a provider in the YAML of the recipe serves", async () => {
  const provider = await startFakeProvider();
  const yaml = /```yaml\n(.*?)```/s.exec(page)?.[1]?.replace("http://127.0.0.1:8000/v1", `${provider.url}/v1`);
  const gateway = await startGateway({ yaml: yaml ?? "", env: { LAB_API_KEY: "lab-key" } });
  try {
    const messages = [{ role: "user", content: "What is the capital of France?" }];
    const body = { model: "lab-small", service_profile: "direct", messages };
    expect((await gateway.post("/v1/chat/completions", body)).status).toBe(200);
    expect(provider.requests.map(({ body: sent }) => sent.model)).toEqual(["qwen3-8b"]);
  } finally {
    await gateway.stop();
    await provider.close();
  }
});

describe("on a copy of the source", () => {
  beforeAll(() => {
    for (const path of ["src", "ui/tsconfig.json", "ui/pages/other-pages.ts", "package.json", "tsconfig.json"])
      cpSync(join(ROOT, path), join(copy, path), { recursive: true });
    for (const follow of [addCue, addPages, addOption, addField, addCommand, addControl]) follow();
    mkdirSync(compiled, { recursive: true });
    writeFileSync(join(compiled, "package.json"), '{ "type": "module" }');
    const transpiler = join(ROOT, "scripts/setup/transpile.mjs");
    const { status, stderr } = spawnSync(process.execPath, [transpiler, compiled, "src"], {
      cwd: copy,
      encoding: "utf8",
    });
    expect(status, stderr).toBe(0);
    copyAssets(copy, compiled);
  });

  test("a cue is counted, and the network keeps its size", async () => {
    const { readPrompt } = await fromCopy("routing/classifier/signals.ts");
    expect(readPrompt("hoist the spinnaker").signals.cues.sailing).toBeGreaterThan(0);
    const { LAYOUT_FINGERPRINT } = await fromCopy("routing/classifier/layout.ts");
    const { LAYOUT_FINGERPRINT: before } = await import("../../../src/routing/classifier/layout.ts");
    expect(LAYOUT_FINGERPRINT).toBe(before);
  });

  test("a dashboard page is known to the server, and the compiler asks for its component", async () => {
    const { DASHBOARD_PAGES } = await fromCopy("http/pages/dashboard-pages.ts");
    expect(DASHBOARD_PAGES.map(({ path }: { path: string }) => path)).toContain("/hello");
    const said = runCompiler("--noEmit", "--checkers", "1", "-p", join(copy, "ui/tsconfig.json"));
    // One page has its component and the other has none: compiling once shows both.
    expect(said.match(/error TS.*/g)).toEqual([expect.stringContaining("'forgotten' is missing")]);
  });

  test("a config option is parsed, reaches the settings and is documented", async () => {
    const { load } = await fromCopy("config/load.ts");
    const loaded = load({ flags: {}, env: { SWITCHYARD_HELLO_MAX: "8" }, cwd: copy });
    expect(loaded.settings.limits.helloMax).toBe(8);
    const { configurationPage, environmentExample } = await fromCopy("config/reference.ts");
    const { readBuiltin } = await fromCopy("catalog/builtin.ts");
    expect(configurationPage(readBuiltin())).toContain("`limits.helloMax`");
    expect(environmentExample(readBuiltin())).toContain("#SWITCHYARD_HELLO_MAX=7");
  });

  test("a field of the log is stored, read, filtered, exported and documented", async () => {
    const { openDb } = await fromCopy("store/db.ts");
    const { createRecordStore } = await fromCopy("store/requests/write.ts");
    const { createRequestLog } = await fromCopy("store/requests/requests.ts");
    const { CSV_HEADER, writeSummary } = await fromCopy("http/api/requests/line.ts");
    const db = await openDb("sqlite::memory:");
    await db.migrate();
    const store = createRecordStore(db);
    const batch = store.newBatch();
    batch.add([store.flatten(makeRecord())]);
    await store.write(batch);
    const list = (hello: string) =>
      createRequestLog(db).list({ accountId: "default", hello }, { limit: 5, after: null });
    const names = { key: () => null, profile: () => null };
    expect(writeSummary((await list("beta"))[0], names).hello).toBe("beta");
    expect(await list("alpha")).toEqual([]);
    await db.close();
    expect(CSV_HEADER.trim().split(",").at(-1)).toBe("hello");
    const { render } = await import("../../../scripts/docs/request-log.mjs");
    const blocks = await render(copy, fromCopy);
    for (const { text } of blocks) expect(text).toContain("| `hello` | A field for a test.");
  });

  test("a CLI command runs, has help and is documented", async () => {
    const { COMMANDS } = await fromCopy("main.ts");
    const terminal = recordTerminal();
    expect(await (await COMMANDS.hello())({ command: "hello", words: [], flags: {} }, terminal)).toBe(0);
    expect(terminal.takeOut()).toBe("hello\n");
    const { commandLinePage } = await fromCopy("cli/help/reference.ts");
    expect(commandLinePage()).toContain("## `switchyard hello`");
  });

  test("a request control is read, checked, documented, a flag, a rule of profiles, and obeyed", async () => {
    const { readControls } = await fromCopy("formats/service/controls.ts");
    expect(readControls({ service_short_names: 7 })).toMatchObject({ shortNames: 7 });
    expect(readControls({ service_short_names: 7 }).unknown).toBeUndefined();
    expect(() => readControls({ service_short_names: 10 })).toThrow("from 1 to 9");
    const { ChatRequestSchema } = await fromCopy("http/v1/request-schemas.ts");
    expect(JSON.stringify(ChatRequestSchema.properties.service_short_names)).toContain("Short names only.");
    const { RulesSchema } = await fromCopy("http/api/profiles.ts");
    expect(RulesSchema.properties.shortNames).toBeDefined();
    const { commandLinePage } = await fromCopy("cli/help/reference.ts");
    expect(commandLinePage().match(/`(· )?--short-names NUMBER`/g)).toHaveLength(2);
    const { decide } = await fromCopy("routing/decide.ts");
    const models = ["mini", "enormous"].map((id) => makeModel({ id }));
    const chains = { NANO: models, SIMPLE: models, LIGHT: models, STANDARD: models, COMPLEX: models };
    const question = makeQuestion();
    const asked = { ...question, controls: { ...question.controls, shortNames: 5 } };
    expect(decide(asked, makeCatalog({ chains })).candidates).toEqual([
      { model: "mini", removedBecause: null },
      { model: "enormous", removedBecause: "long name" },
    ]);
  });
});

function addCue(): void {
  edit("src/routing/classifier/lexicon.ts", '  "own",\n] as const', '  "own",\n  "sailing",\n] as const');
  edit("src/routing/classifier/lexicon.ts", "  greeting: [", '  sailing: ["spinnaker|genoa"],\n  greeting: [');
  edit("src/routing/classifier/features.ts", '"own"];', '"own", "sailing"];');
}

/** Of the pages that exist, stand-ins are enough: the type check of the whole dashboard reads the real ones. */
function addPages(): void {
  const rows = ["hello", "forgotten"].map(
    (name) => `  { name: "${name}", path: "/${name}", title: "${name}", key: "h", group: "", icon: "M2 2h9" },`,
  );
  edit("src/http/pages/dashboard-pages.ts", "] as const", `${rows.join("\n")}\n] as const`);
  edit("ui/pages/other-pages.ts", "\n\ntype ", '\nimport { Hello } from "./hello/index.tsx";\n\ntype ');
  edit("ui/pages/other-pages.ts", "  settings: Settings", "  hello: Hello,\n  settings: Settings");
  const pages = readFileSync(join(copy, "ui/pages/other-pages.ts"), "utf8");
  for (const [, name, path = ""] of pages.matchAll(/^import \{ (\w+) \} from "\.\/(.*)";$/gm))
    write(`ui/pages/${path}`, `// A page for a test.\n\nexport function ${name}() {\n  return null;\n}\n`);
}

function addOption(): void {
  const row = `  helloMax: option<number>({ path: "limits.helloMax", env: "SWITCHYARD_HELLO_MAX", default: 7, read: count, help: "How many greetings." }),`;
  edit("src/config/options/limits.ts", "export const LIMIT_OPTIONS = {", `export const LIMIT_OPTIONS = {\n${row}`);
}

function addField(): void {
  const end = "\n} as const satisfies Readonly<Record<string, LogField>>;";
  edit("src/core/requests/fields.ts", end, HELLO_FIELD + end);
  write("src/store/migrations/9999_hello.log.sql", HELLO_MIGRATION);
}

function addCommand(): void {
  write("src/cli/hello.ts", HELLO_COMMAND);
  edit("src/main.ts", "  keys: async", '  hello: async () => (await import("./cli/hello.ts")).hello,\n  keys: async');
  edit("src/cli/help/pages.ts", "  serve: {\n", `  hello: ${HELLO_PAGE},\n  serve: {\n`);
}

function addControl(): void {
  edit("src/core/requests/controls.ts", "  hostOrder: {\n", `  shortNames: ${SHORT_NAMES},\n  hostOrder: {\n`);
  const filter = `  const most = controls.shortNames ?? constraints.shortNames ?? 99;
  filters.push({ name: "short", reason: () => "long name", passes: ({ id }) => id.length <= most });
  return filters;`;
  edit("src/routing/chain.ts", "  return filters;", filter);
}

const HELLO_FIELD = `
  hello: {
    kind: "optionalText",
    of: ({ cost }) => cost?.baselineModel ?? null,
    filter: "logged",
    title: "Hello",
    about: "A field for a test.",
  },`;
const HELLO_MIGRATION = "ALTER TABLE requests ADD COLUMN hello TEXT NOT NULL DEFAULT '';\n";

const SHORT_NAMES = `{
    field: "service_short_names",
    rule: "shortNames",
    flag: "short-names",
    takes: number({ min: 1, max: 9, isWhole: true }),
    label: "Characters of a name",
    help: "Short names only.",
  }`;

const HELLO_COMMAND = `// A command for a test.

import type { Arguments } from "./command/arguments.ts";
import { type Terminal, thisTerminal } from "./command/terminal.ts";

export async function hello(_args: Arguments, terminal: Terminal = thisTerminal()): Promise<number> {
  terminal.out("hello\\n");
  return 0;
}
`;

const HELLO_PAGE = `{ summary: "Say hello", about: "says hello.", examples: ["switchyard hello"], tables: [] }`;

/** Replaces one piece of a file of the copy, which must be there exactly once. */
function edit(path: string, piece: string, replacement: string): void {
  const text = readFileSync(join(copy, path), "utf8");
  expect(text.split(piece), `${path} has "${piece}" once`).toHaveLength(2);
  writeFileSync(
    join(copy, path),
    text.replace(piece, () => replacement),
  );
}

function write(path: string, text: string): void {
  mkdirSync(dirname(join(copy, path)), { recursive: true });
  writeFileSync(join(copy, path), text);
}

/** Returns the errors it prints; empty when there are none. */
function runCompiler(...args: readonly string[]): string {
  const compiler = join(ROOT, "test/node_modules/typescript/bin/tsc");
  return spawnSync(process.execPath, [compiler, ...args], { cwd: ROOT, encoding: "utf8" }).stdout;
}

function fromCopy(path: string) {
  return import(pathToFileURL(join(compiled, path.replace(/\.ts$/, ".js"))).href);
}
