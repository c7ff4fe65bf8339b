// @ts-check
// Renders the tables of docs/operate/limits.md from the overload policy: its values, and its comments as the reasons.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { tableOf } from "../setup/generated.mjs";

const PAGE = "docs/operate/limits.md";
const POLICY = "http/overload/policy.ts";

/** @typedef {number | { normal: number, overloaded: number }} Value */

/** Units by the last word of a name. */
const UNITS = /** @type {const} */ ({
  Ms: (/** @type {number} */ value) => (value >= 1000 ? `${value / 1000} s` : `${value} ms`),
  Seconds: (/** @type {number} */ value) => `${value} s`,
  Bytes: (/** @type {number} */ value) => (value >= 1024 ? `${value / 1024} KB` : `${value} bytes`),
  Ratio: (/** @type {number} */ value) => String(value),
  Requests: (/** @type {number} */ value) => `${value.toLocaleString("en-US")} requests`,
  Ticks: (/** @type {number} */ value) => `${value} ticks`,
  Turn: (/** @type {number} */ value) => `${value} per turn`,
});

/** @param {string} root @param {import("../docs.mjs").Load} load */
export async function render(root, load) {
  /** @type {{ OVERLOAD_POLICY: Record<string, Record<string, Value>> }} */
  const { OVERLOAD_POLICY } = await load(POLICY);
  const reasonOf = readReasons(readFileSync(join(root, "src", POLICY), "utf8"));
  const rows = Object.entries(OVERLOAD_POLICY).flatMap(([group, constants]) =>
    Object.entries(constants).map(([name, value]) => ({
      name: `\`${group}.${name}\``,
      value,
      reason: reasonOf(group, name),
      write: unitOf(name),
    })),
  );
  /** @type {string[][]} */
  const byState = [];
  /** @type {string[][]} */
  const constant = [];
  for (const { name, value, reason, write } of rows) {
    if (typeof value === "number") constant.push([name, write(value), reason]);
    else byState.push([name, write(value.normal), write(value.overloaded), reason]);
  }
  return [
    { path: PAGE, block: "overload states", text: tableOf(["Limit", "Normal", "Overloaded", "Why"], byState) },
    { path: PAGE, block: "overload constants", text: tableOf(["Constant", "Value", "Why"], constant) },
  ];
}

function unitOf(/** @type {string} */ name) {
  const unit = Object.entries(UNITS).find(([suffix]) => name.endsWith(suffix));
  if (unit === undefined) throw new Error(`${POLICY}: '${name}' does not end with its unit`);
  return unit[1];
}

/** The comment above each constant. One without a comment is an error: every constant needs its reason. */
function readReasons(/** @type {string} */ source) {
  /** @type {Map<string, string>} */
  const reasons = new Map();
  let group = "";
  let reason = "";
  for (const line of source.split("\n")) {
    group = /^ {2}(\w+): \{$/.exec(line)?.[1] ?? group;
    const name = /^ {4}(\w+):/.exec(line)?.[1];
    if (name !== undefined) reasons.set(`${group}.${name}`, reason);
    reason = /^ {4}\/\*\* (.*) \*\/$/.exec(line)?.[1] ?? "";
  }
  return (/** @type {string} */ groupName, /** @type {string} */ name) => {
    const found = reasons.get(`${groupName}.${name}`) ?? "";
    if (found === "") throw new Error(`${POLICY}: '${groupName}.${name}' has no comment`);
    return found;
  };
}
