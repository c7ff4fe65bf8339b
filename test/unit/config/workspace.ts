// A folder of its own for each load, removed when the test ends.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import { type ConfigInput, load } from "../../../src/config/load.ts";
import type { Problem } from "../../../src/config/report.ts";
import type { Loaded } from "../../../src/config/settings.ts";

/** Without the Anthropic format, whatever the gateway speaks by now. */
export const WITHOUT_ANTHROPIC: ReadonlySet<string> = new Set(["openai", "sandbox"]);

export interface Workspace extends Partial<Omit<ConfigInput, "cwd">> {
  readonly yaml?: string;
  readonly files?: Readonly<Record<string, string>>;
}

export function makeFolder(files: Readonly<Record<string, string>> = {}): string {
  const folder = mkdtempSync(join(tmpdir(), "switchyard-config-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}

export function loadIn(workspace: Workspace): Loaded {
  const { yaml, files = {}, flags = {}, env = {}, ...rest } = workspace;
  const cwd = makeFolder(yaml === undefined ? files : { ...files, "switchyard.yaml": yaml });
  return load({ flags, env, cwd, ...rest });
}

export function goodLoad(workspace: Workspace): Extract<Loaded, { ok: true }> {
  const loaded = loadIn(workspace);
  if (!loaded.ok) expect(loaded.problems).toEqual([]);
  return loaded as Extract<Loaded, { ok: true }>;
}

export function problemsOf(workspace: Workspace): readonly Problem[] {
  const loaded = loadIn(workspace);
  return loaded.ok ? [] : loaded.problems;
}
