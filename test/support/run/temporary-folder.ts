// One folder for all temporary files of a test run, removed with everything in it when the run ends, however it ends.

import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";

/** Test files run in processes that are started later, so they put their temporary files here. */
export function setup({ tmpDir, vitest }: TestProject): void {
  const folder = mkdtempSync(join(tmpdir(), "switchyard-run-"));
  // PostgreSQL may run as another user.
  chmodSync(folder, 0o755);
  for (const name of ["TMPDIR", "TEMP", "TMP"]) process.env[name] = folder;
  // The runner has chosen folders of its own by now, which it leaves behind when it is interrupted.
  const folders = [folder, tmpDir, ...vitest.projects.map((project) => project.tmpDir)];
  process.once("exit", () => {
    for (const each of folders) rmSync(each, { recursive: true, force: true, maxRetries: 5 });
  });
  // The runner exits on other signals by itself.
  process.once("SIGHUP", () => process.exit(128 + constants.signals.SIGHUP));
}
