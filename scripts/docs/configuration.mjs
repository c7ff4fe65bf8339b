// @ts-check
// Renders docs/reference/configuration.md and .env.example from the table of options.

/** @param {string} _root @param {import("../docs.mjs").Load} load */
export async function render(_root, load) {
  const { configurationPage, environmentExample } = await load("config/reference.ts");
  const { readBuiltin } = await load("catalog/builtin.ts");
  const builtin = readBuiltin();
  return [
    { path: "docs/reference/configuration.md", text: configurationPage(builtin) },
    { path: ".env.example", text: environmentExample(builtin) },
  ];
}
