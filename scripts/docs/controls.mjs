// @ts-check
// Renders the table of docs/reference/request-fields.md from the table of routing controls.

import { tableOf } from "../setup/generated.mjs";

/** @param {string} _root @param {import("../docs.mjs").Load} load */
export async function render(_root, load) {
  const { REQUEST_CONTROLS } = await load("core/requests/controls.ts");
  const { describeValues } = await load("core/requests/control-text.ts");
  /** @type {readonly (import("../../src/core/requests/controls.ts").RequestControl)[]} */
  const controls = REQUEST_CONTROLS;
  const rows = controls.map((control) => {
    const { field, rule, help, default: usual = "none" } = control;
    const inProfile = rule === undefined ? "" : `\`${rule}\``;
    return [`\`${field}\``, describeValues(control.takes), usual, inProfile, help];
  });
  const text = tableOf(["field", "values", "default", "in a profile", "meaning"], rows);
  return [{ path: "docs/reference/request-fields.md", block: "controls", text }];
}
