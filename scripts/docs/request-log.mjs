// @ts-check
// Renders the fields and the filters of docs/operate/request-log.md from the tables that the gateway reads.

/** @typedef {{ api: string, about: string, values?: readonly string[] }} Field */
/** @typedef {{ name: string, description: string }} Filter */

const PAGE = "docs/operate/request-log.md";

export async function render(
  /** @type {string} */ _root,
  /** @type {(path: string) => Promise<{ FIELDS: readonly Field[], filters: readonly Filter[] }>} */ load,
) {
  const { FIELDS } = await load("core/requests/fields.ts");
  const { filters } = await load("http/api/requests/filter.ts");
  const fields = FIELDS.map(({ api, about, values }) => row(api, about, values));
  const asked = filters.map(({ name, description }) => row(name, description));
  return [
    { path: PAGE, block: "log-fields", text: ["| field | what it is |", "|---|---|", ...fields].join("\n") },
    { path: PAGE, block: "log-filters", text: ["| filter | matches |", "|---|---|", ...asked].join("\n") },
  ];
}

function row(
  /** @type {string} */ name,
  /** @type {string} */ about,
  /** @type {readonly string[] | undefined} */ values = undefined,
) {
  const choices = values === undefined ? "" : ` One of ${values.map((value) => `\`${value}\``).join(", ")}.`;
  return `| \`${name}\` | ${about}${choices} |`;
}
