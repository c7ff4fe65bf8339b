// The parts of a release that need neither a build nor a registry: one version everywhere, checksums that sha256sum takes,
// and a statement that names the files and the commit.

import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { checksumsOf, statementOf } from "../../../scripts/release/artifacts.mjs";
import { versionProblems } from "../../../scripts/release/version.mjs";

const ROOT = join(import.meta.dirname, "../../..");

function folderWith(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), "switchyard-release-test-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(folder, name, ".."), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

test("every file names the version of package.json", () => {
  const { version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { version: string };
  expect(versionProblems(ROOT, version)).toEqual([]);
});

test("a chart that was forgotten is named", () => {
  const folder = folderWith({
    "package-lock.json": '{"version": "1.2.3"}',
    "deploy/helm/switchyard/Chart.yaml": 'version: 1.2.3\nappVersion: "1.2.2"\n',
  });
  expect(versionProblems(folder, "1.2.3")).toEqual(["the chart's appVersion is 1.2.2, and package.json says 1.2.3."]);
});

test("checksums are those of sha256sum, and the statement has the same", () => {
  const folder = folderWith({ "b.tgz": "two", "a.json": "one", "notes.md": "words" });
  const subjects = checksumsOf(folder);
  expect(subjects.map(({ name }) => name)).toEqual(["a.json", "b.tgz"]);
  const [first] = subjects;
  expect(first?.sha256).toBe("7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed");
  const statement = statementOf(ROOT, subjects, {});
  expect(statement.subject).toEqual(subjects.map(({ name, sha256 }) => ({ name, digest: { sha256 } })));
  const [source] = statement.predicate.buildDefinition.resolvedDependencies;
  expect(source?.digest).toEqual({ gitCommit: expect.stringMatching(/^[0-9a-f]{40}$/) });
});

test("in the workflow, the statement names the workflow and its run", () => {
  const env = {
    ...{ GITHUB_SERVER_URL: "https://github.com", GITHUB_REPOSITORY: "a/b" },
    ...{ GITHUB_REF: "refs/tags/v1.2.3", GITHUB_RUN_ID: "7" },
  };
  const { buildDefinition, runDetails } = statementOf(ROOT, [], env).predicate;
  expect(runDetails.builder.id).toBe("https://github.com/a/b/.github/workflows/release.yml");
  expect(runDetails.metadata.invocationId).toBe("https://github.com/a/b/actions/runs/7");
  expect(buildDefinition.resolvedDependencies[0]?.uri).toBe("git+https://github.com/a/b@refs/tags/v1.2.3");
});

test("without --dry-run nothing is made, and the way to a release is said", () => {
  const { status, stderr } = spawnSync(process.execPath, [join(ROOT, "scripts/release.mjs")], { encoding: "utf8" });
  expect(status).toBe(2);
  expect(stderr).toContain("published by its tag");
});
