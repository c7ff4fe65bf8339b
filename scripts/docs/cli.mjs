// @ts-check
// Renders docs/reference/cli.md from the help pages of the program.

/** @param {string} _root @param {import("../docs.mjs").Load} load */
export async function render(_root, load) {
  const { commandLinePage } = await load("cli/help/reference.ts");
  return [{ path: "docs/reference/cli.md", text: commandLinePage() }];
}
