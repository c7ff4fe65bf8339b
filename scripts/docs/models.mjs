// @ts-check
// Renders the chains and the catalogue of docs/reference/models.md.

const PATH = "docs/reference/models.md";

/** @typedef {import("../../src/catalog/builtin.ts").Builtin} Builtin */

/** @param {string} _root @param {import("../docs.mjs").Load} load */
export async function render(_root, load) {
  const { readBuiltin } = await load("catalog/builtin.ts");
  /** @type {Builtin} */
  const builtin = readBuiltin();
  return [
    { path: PATH, block: "chains", text: chainTable(builtin) },
    { path: PATH, block: "models", text: modelTable(builtin) },
  ];
}

function chainTable(/** @type {Builtin} */ { tiers }) {
  const rows = Object.entries(tiers.chains).map(
    ([tier, ids]) => `| ${tier} | ${ids.map((id) => `\`${id}\``).join(", ")} |`,
  );
  return ["| tier | models, first choice first |", "|---|---|", ...rows].join("\n");
}

function modelTable(/** @type {Builtin} */ { models }) {
  const rows = models.map(({ id, provider, price, context, maxOutput, capabilities }) => {
    const prices = price === undefined ? ["none", "none"] : [price.input, price.output].map((usd) => `$${usd}`);
    return `| ${[`\`${id}\``, provider, ...prices, thousands(context), thousands(maxOutput), capabilities.join(", ")].join(" | ")} |`;
  });
  return [
    "| model | provider | input | output | context | output limit | capabilities |",
    "|---|---|---|---|---|---|---|",
    ...rows,
  ].join("\n");
}

function thousands(/** @type {number} */ count) {
  return count.toLocaleString("en-US");
}
