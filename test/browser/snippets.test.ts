// The programs that the dashboard offers, run as pasted. In a folder with nothing but the packages they reach the gateway,
// ask for what was set, and satisfy the compiler.

import { execFile, execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hasBrowser, startDashboard } from "./dashboard.ts";

const ROOT = join(import.meta.dirname, "../..");
const runFile = promisify(execFile);
const PROGRAMS = ["curl", "TypeScript", "Anthropic"] as const;
const hasCurl = canRun("curl", ["--version"]);
const python = ["python3", "python"].find((name) => canRun(name, ["--version"]));

describe.skipIf(!hasBrowser)("a program from the dashboard", () => {
  const { gateway, visit } = startDashboard();
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "switchyard-pasted-"));
    symlinkSync(join(ROOT, "test", "node_modules"), join(folder, "node_modules"), "junction");
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  async function run(program: (typeof PROGRAMS)[number], text: string, env: Record<string, string> = {}) {
    const options = { cwd: folder, env: { PATH: process.env.PATH ?? "", ...env }, encoding: "utf8" as const };
    if (program === "curl") return (await runFile("sh", ["-c", text], options)).stdout;
    writeFileSync(join(folder, "pasted.mjs"), text);
    return (await runFile(process.execPath, ["pasted.mjs"], options)).stdout;
  }

  async function newestRequest(): Promise<Record<string, unknown>> {
    const answer = await gateway().api("GET", "/api/requests?limit=1");
    return ((await answer.json()) as { data: Record<string, unknown>[] }).data[0] ?? {};
  }

  /** What was offered, to be compiled with one start of the compiler, whose starting is what takes long. */
  const offered: string[] = [];

  test("made with a new key works as it is", async () => {
    const { page } = await visit("/keys");
    await page.getByRole("button", { name: "Create key" }).click();
    await page.getByRole("dialog").getByLabel("Name").fill("pasted");
    await page.getByRole("dialog").getByRole("button", { name: "Create key" }).click();
    const texts = await textsOf(page, "Example call");
    for (const program of PROGRAMS) {
      if (program === "curl" && !hasCurl) continue;
      expect(await run(program, texts[program] ?? "")).toContain("simulated");
      expect(await newestRequest()).toMatchObject({ status: 200, model: expect.any(String) });
    }
    offered.push(texts.TypeScript ?? "", texts.Anthropic ?? "");
    if (python !== undefined) expect(pythonSays(texts.Python ?? "")).toBe("");
  });

  test("copied from the playground asks for what was set there, with the key of the environment", async () => {
    const { page } = await visit("/playground");
    await page.getByLabel("Prompt", { exact: true }).fill('What\'s the "weather" in $ROME?\n`ls` \\ é');
    await page.getByText("System prompt and conversation").click();
    await page.getByLabel("System prompt").fill("Be brief; don't guess.");
    await page.getByText("Tools", { exact: true }).click();
    await page.getByRole("button", { name: "weather", exact: true }).click();
    await page.getByLabel("Lowest tier").fill("3");
    await page.getByLabel("Output tokens").fill("50");
    await page.getByRole("button", { name: "Copy as…" }).click();
    const texts = await textsOf(page, "This request");
    for (const program of PROGRAMS) {
      if (program === "curl" && !hasCurl) continue;
      await run(program, texts[program] ?? "", { SWITCHYARD_KEY: gateway().key });
      const request = await newestRequest();
      expect(request).toMatchObject({ status: 200, tier: "STANDARD", toolScenario: expect.any(String) });
    }
    offered.push(texts.TypeScript ?? "", texts.Anthropic ?? "");
    if (python !== undefined) expect(pythonSays(texts.Python ?? "")).toBe("");
    await page.getByRole("tab", { name: "CLI" }).waitFor();
  });

  test("satisfies the compiler, which would notice a wrong one", async () => {
    expect(offered).toHaveLength(4);
    const wrong = 'import OpenAI from "openai";\nnew OpenAI({ apiKey: "k" }).chat.completions.create({ model: 1 });';
    const files = [...offered, wrong].map((text, index) => {
      writeFileSync(join(folder, `typed${index}.mts`), text);
      return `typed${index}.mts`;
    });
    const compiler = join(ROOT, "test/node_modules/typescript/bin/tsc");
    const flags = ["--noEmit", "--strict", "--skipLibCheck", "--module", "nodenext", "--target", "es2022"];
    const args = [compiler, "--checkers", "1", ...flags, "--types", "node", ...files];
    const told = await runFile(process.execPath, args, { cwd: folder }).catch(
      (error: { readonly stdout: string }) => error,
    );
    const faulty = told.stdout.match(/^typed\d+\.mts(?=.*error TS)/gm) ?? [];
    expect(new Set(faulty), told.stdout).toEqual(new Set(["typed4.mts"]));
  });
});

/** By tab, from the boxes they are copied from. */
async function textsOf(page: Page, label: string): Promise<Readonly<Record<string, string>>> {
  const texts: Record<string, string> = {};
  for (const tab of ["curl", "Python", "TypeScript", "Anthropic"]) {
    await page.getByRole("dialog").getByRole("tab", { name: tab, exact: true }).click();
    texts[tab] = await page.getByLabel(`${label}: ${tab}`).inputValue();
  }
  return texts;
}

/** Whether it is Python at all; its client is not among the packages. */
function pythonSays(text: string): string {
  const check = "import ast, sys; ast.parse(sys.stdin.read())";
  return execFileSync(python ?? "", ["-c", check], { input: text, encoding: "utf8" });
}

function canRun(program: string, words: readonly string[]): boolean {
  try {
    execFileSync(program, words, { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}
