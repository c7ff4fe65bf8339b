// @ts-check
// Renders the table of event kinds in docs/operate/events.md from src/core/alerts/kinds.ts.

import { tableOf } from "../setup/generated.mjs";

/** @param {string} _root @param {import("../docs.mjs").Load} load */
export async function render(_root, load) {
  /** @type {typeof import("../../src/core/alerts/kinds.ts")} */
  const { ALERT_KINDS } = await load("core/alerts/kinds.ts");
  const rows = Object.entries(ALERT_KINDS).map(([kind, { severity, scope, when, sentence }]) => {
    const fields = [...sentence.matchAll(/\{(\w+)\}/g)].map(([, field]) => `\`${field}\``).join(", ");
    return [`\`${kind}\``, severity, scope, when, fields];
  });
  const head = ["kind", "severity", "about", "when", "data"];
  return [{ path: "docs/operate/events.md", block: "alert-kinds", text: tableOf(head, rows) }];
}
