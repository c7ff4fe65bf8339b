// @ts-check
// Asks the registry whether a package that the gateway is served with has a known hole: a dependency, or one that is joined
// into the program. A registry that cannot say so is no failure: the answer is then that nothing was checked, and why.

import { join } from "node:path";
import { npmCommand } from "./dependencies.mjs";
import { readJson } from "./fingerprint.mjs";

/** @typedef {{ state: "clean" | "skipped" | "found", line: string }} Verdict */

const TIMEOUT_MS = 10_000;
const SERIOUS = ["high", "critical"];

/**
 * Of a checkout that is built.
 * @param {Pick<import("./surroundings.mjs").Surroundings, "root" | "run">} surroundings
 * @returns {Promise<Verdict>}
 */
export async function auditDependencies({ root, run }) {
  const npm = npmCommand();
  const flags = ["--json", "--loglevel=silent", "--fetch-retries=0", `--fetch-timeout=${TIMEOUT_MS}`];
  const { output } = await run(npm.command, [...npm.args, "audit", ...flags], { cwd: root, shell: npm.shell });
  return judgeAudit(output, servedPackages(root));
}

/** @returns {ReadonlySet<string>} */
function servedPackages(/** @type {string} */ root) {
  /** @type {Record<string, { dev?: boolean }>} */
  const locked = readJson(join(root, "package-lock.json")).packages;
  const installed = Object.keys(locked).filter((path) => path !== "" && !locked[path]?.dev);
  const joined = readJson(join(root, "dist/program/packages.json"));
  return new Set([...installed.map((path) => path.split("node_modules/").at(-1) ?? ""), ...Object.keys(joined)]);
}

const MARKS = { clean: "✓", skipped: "–", found: "✗" };

export function auditLine(/** @type {Verdict} */ { state, line }) {
  return `${MARKS[state]} audit: ${state === "skipped" ? "skipped, " : ""}${line}`;
}

/**
 * @param {string} output
 * @param {ReadonlySet<string>} served
 * @returns {Verdict}
 */
export function judgeAudit(output, served) {
  const report = parse(output);
  const vulnerabilities = report?.vulnerabilities;
  if (typeof vulnerabilities !== "object" || vulnerabilities === null) {
    return { state: "skipped", line: `the registry does not say: ${reasonOf(report, output)}` };
  }
  const named = /** @type {{ name: string, severity: string }[]} */ (Object.values(vulnerabilities));
  const entries = named.filter(({ name }) => served.has(name));
  const serious = entries.filter(({ severity }) => SERIOUS.includes(severity));
  const names = serious.map(({ name, severity }) => `${name} (${severity})`).join(", ");
  if (serious.length > 0) return { state: "found", line: `known holes in ${names}; npm audit says more` };
  return { state: "clean", line: `nothing serious known, ${entries.length} lesser` };
}

/** @returns {Record<string, any> | null} */
function parse(/** @type {string} */ output) {
  try {
    return JSON.parse(output.slice(output.indexOf("{"), output.lastIndexOf("}") + 1));
  } catch {
    return null;
  }
}

function reasonOf(/** @type {Record<string, any> | null} */ report, /** @type {string} */ output) {
  const said = report?.statusCode !== undefined ? `status ${report.statusCode}` : String(report?.message ?? output);
  return said.trim().split("\n", 1)[0]?.slice(0, 200) || "no answer";
}
