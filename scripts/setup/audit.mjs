// @ts-check
// Asks the registry for known holes in all packages. A serious one in what a release is made of is a failure; one in a tool
// is not. Where the registry cannot say, the verdict is that nothing was checked, and why.

import { join } from "node:path";
import { servedPackages } from "./bom.mjs";
import { npmCommand } from "./install.mjs";
import { run } from "./run.mjs";

/** @typedef {{ state: "clean" | "skipped" | "found", line: string }} Verdict */

const TIMEOUT_MS = 10_000;
const SERIOUS = ["high", "critical"];
const MARKS = { clean: "✓", skipped: "–", found: "✗" };

/** Asks for each group of packages of a checkout that is built. */
export async function auditPackages(/** @type {string} */ root, runNpm = run) {
  const npm = npmCommand();
  const flags = ["--json", "--loglevel=silent", "--fetch-retries=0", `--fetch-timeout=${TIMEOUT_MS}`];
  const ask = (/** @type {string} */ group) =>
    runNpm(npm.command, [...npm.args, "audit", ...flags], { cwd: join(root, group), shell: npm.shell });
  const answers = await Promise.all([".", "docs", "test"].map(ask));
  return judgeAudit(
    answers.map(({ output }) => output),
    new Set(servedPackages(root).map(({ name }) => name)),
  );
}

export function auditLine(/** @type {Verdict} */ { state, line }) {
  return `${MARKS[state]} audit: ${state === "skipped" ? "skipped, " : ""}${line}`;
}

/**
 * @param {readonly string[]} outputs
 * @param {ReadonlySet<string>} served
 * @returns {Verdict}
 */
export function judgeAudit(outputs, served) {
  const reports = outputs.map(parse);
  const silent = reports.findIndex((report) => typeof report?.vulnerabilities !== "object");
  if (silent >= 0) {
    return { state: "skipped", line: `the registry does not say: ${reasonOf(reports[silent], outputs[silent] ?? "")}` };
  }
  /** @type {{ name: string, severity: string }[]} */
  const entries = reports.flatMap((report) => Object.values(report.vulnerabilities));
  const serious = entries.filter(({ name, severity }) => served.has(name) && SERIOUS.includes(severity));
  const names = [...new Set(serious.map(({ name, severity }) => `${name} (${severity})`))].join(", ");
  if (serious.length > 0) return { state: "found", line: `known holes in ${names}; npm audit says more` };
  return { state: "clean", line: `nothing serious known, ${entries.length} lesser or in tools` };
}

/** @returns {any} */
function parse(/** @type {string} */ output) {
  try {
    return JSON.parse(output.slice(output.indexOf("{"), output.lastIndexOf("}") + 1));
  } catch {
    return null;
  }
}

function reasonOf(/** @type {any} */ report, /** @type {string} */ output) {
  const said = report?.statusCode !== undefined ? `status ${report.statusCode}` : String(report?.message ?? output);
  return said.trim().split("\n", 1)[0]?.slice(0, 200) || "no answer";
}
