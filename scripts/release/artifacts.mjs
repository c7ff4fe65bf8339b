// @ts-check
// Checksums of a release's files, and the statement of their origin: in-toto with SLSA's provenance.

import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** @typedef {{ name: string, sha256: string }} Subject */

const OWN = ["SHA256SUMS", "provenance.intoto.json", "notes.md"];

/** @returns {readonly Subject[]} */
export function checksumsOf(/** @type {string} */ folder) {
  const names = readdirSync(folder, { withFileTypes: true }).filter(
    (entry) => entry.isFile() && !OWN.includes(entry.name),
  );
  return names
    .map(({ name }) => ({ name, sha256: sha256Of(join(folder, name)) }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

function sha256Of(/** @type {string} */ path) {
  return createHash("sha256").update(readFileSync(path)).digest("hex");
}

/** The workflow's own names are variables of GitHub's runners. */
export function statementOf(
  /** @type {string} */ root,
  /** @type {readonly Subject[]} */ subjects,
  /** @type {NodeJS.ProcessEnv} */ env,
) {
  const commit = git(root, ["rev-parse", "HEAD"]);
  const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: repository, GITHUB_RUN_ID: runId } = env;
  const isForge = server !== undefined && repository !== undefined;
  const source = isForge ? `git+${server}/${repository}@${env.GITHUB_REF ?? ""}` : "git+file:this checkout";
  return {
    _type: "https://in-toto.io/Statement/v1",
    subject: subjects.map(({ name, sha256 }) => ({ name, digest: { sha256 } })),
    predicateType: "https://slsa.dev/provenance/v1",
    predicate: {
      buildDefinition: {
        buildType: isForge ? "https://actions.github.io/buildtypes/workflow/v1" : "npm run release -- --dry-run",
        externalParameters: { ref: env.GITHUB_REF ?? git(root, ["rev-parse", "--abbrev-ref", "HEAD"]) },
        resolvedDependencies: [
          { uri: source, digest: { gitCommit: commit } },
          { uri: "package-lock.json", digest: { sha256: sha256Of(join(root, "package-lock.json")) } },
          { uri: "docs/package-lock.json", digest: { sha256: sha256Of(join(root, "docs/package-lock.json")) } },
        ],
      },
      runDetails: {
        builder: { id: isForge ? `${server}/${repository}/.github/workflows/release.yml` : "local" },
        metadata: { invocationId: runId === undefined ? "local" : `${server}/${repository}/actions/runs/${runId}` },
      },
    },
  };
}

function git(/** @type {string} */ root, /** @type {readonly string[]} */ args) {
  const { status, stdout } = spawnSync("git", [...args], { cwd: root, encoding: "utf8" });
  return status === 0 ? stdout.trim() : "unknown";
}
