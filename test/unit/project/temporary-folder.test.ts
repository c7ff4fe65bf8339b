// A test run leaves nothing in the folder for temporary files, whether it fails or is interrupted.

import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterAll, expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "../../..");
const SETUP = join(ROOT, "test/support/run/temporary-folder.ts");
// Below the tests, so that the run finds their node_modules; .cache is ignored by git.
mkdirSync(join(ROOT, "test", ".cache"), { recursive: true });
const project = mkdtempSync(join(ROOT, "test", ".cache", "run-"));
afterAll(() => rmSync(project, { recursive: true, force: true }));

writeFileSync(
  join(project, "vitest.config.mjs"),
  `export default { test: { globalSetup: [${JSON.stringify(SETUP)}], include: ["*.test.mjs"], testTimeout: 100_000 } };`,
);
writeFileSync(
  join(project, "leaves.test.mjs"),
  `import { mkdtempSync, writeFileSync } from "node:fs";
  import { tmpdir } from "node:os";
  import { join } from "node:path";
  import { expect, test } from "vitest";
  test("leaves a file", async () => {
    const folder = mkdtempSync(join(tmpdir(), "left-"));
    writeFileSync(join(folder, "file"), "left");
    process.stdout.write("left in " + folder + "\\n");
    if (process.env.FAILS === "yes") expect("left").toBe("removed");
    else await new Promise(() => setTimeout(() => undefined, 90_000));
  });`,
);

test("this run has a folder of its own", () => {
  expect(basename(tmpdir())).toMatch(/^switchyard-run-/);
});

test.concurrent.each(["a failure", "SIGINT", "SIGTERM", "SIGHUP"] as const)("%s leaves nothing", async (ending) => {
  const folder = mkdtempSync(join(tmpdir(), "switchyard-left-"));
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith("VITEST"));
  const env = { ...Object.fromEntries(own), TMPDIR: folder, FAILS: ending === "a failure" ? "yes" : "no" };
  const program = join(ROOT, "test/node_modules/vitest/vitest.mjs");
  const child = spawn(process.execPath, [program, "run", "--root", project], { cwd: project, env });
  let said = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => {
      const isNews = !said.includes("left in");
      said += text;
      if (isNews && said.includes("left in") && ending !== "a failure") child.kill(ending);
    });
  const code = await new Promise((resolve) => child.once("close", resolve));
  expect(said).toContain(`left in ${folder}/switchyard-run-`);
  expect(code).not.toBe(0);
  expect(readdirSync(folder)).toEqual([]);
});
