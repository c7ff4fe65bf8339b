// @ts-check
// Renders the fields and the filters of docs/operate/request-log.md from the tables that the gateway reads.

import { tableOf } from "../setup/generated.mjs";

/** @typedef {{ api: string, about: string, values?: readonly string[] }} Field */

const PAGE = "docs/operate/request-log.md";

/** @param {string} _root @param {import("../docs.mjs").Load} load */
export async function render(_root, load) {
  const { FIELDS } = await load("core/requests/fields.ts");
  const { filters } = await load("http/api/requests/filter.ts");
  const fields = FIELDS.map((/** @type {Field} */ { api, about, values }) => {
    const choices = values === undefined ? "" : ` One of ${values.map((value) => `\`${value}\``).join(", ")}.`;
    return [`\`${api}\``, `${about}${choices}`];
  });
  const asked = filters.map((/** @type {{ name: string, description: string }} */ { name, description }) => [
    `\`${name}\``,
    description,
  ]);
  return [
    { path: PAGE, block: "log-fields", text: tableOf(["field", "what it is"], fields) },
    { path: PAGE, block: "log-filters", text: tableOf(["filter", "matches"], asked) },
  ];
}
