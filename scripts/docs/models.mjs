// @ts-check
// Renders the chains and the catalogue of docs/reference/models.md.

import { tableOf } from "../setup/generated.mjs";

const PATH = "docs/reference/models.md";

/** @typedef {import("../../src/catalog/builtin.ts").Builtin} Builtin */

/** @param {string} _root @param {import("../docs.mjs").Load} load */
export async function render(_root, load) {
  const { readBuiltin } = await load("catalog/builtin.ts");
  /** @type {Builtin} */
  const builtin = readBuiltin();
  const { readEntry, writeEntry } = await load("core/requests/effort.ts");
  /** An effort has one name on every page, as `switchyard doctor` prints it. @param {string} entry */
  const shown = (entry) => writeEntry(readEntry(entry, () => false));
  return [
    { path: PATH, block: "chains", text: chainTable(builtin, shown) },
    { path: PATH, block: "aliases", text: aliasTable(builtin) },
    { path: PATH, block: "models", text: modelTable(builtin) },
    { path: PATH, block: "policies", text: policyTable(builtin) },
  ];
}

function chainTable(/** @type {Builtin} */ { tiers }, /** @type {(entry: string) => string} */ shown) {
  const listed = (/** @type {readonly string[]} */ entries) => entries.map((entry) => `\`${shown(entry)}\``).join(", ");
  const rows = Object.entries(tiers.chains).map(([tier, ids]) => {
    const withTools = tiers.chainsWithTools?.[/** @type {keyof typeof tiers.chains} */ (tier)] ?? ids;
    return [tier, listed(ids), listed(withTools)];
  });
  return tableOf(["tier", "first choice first", "with tools"], rows);
}

function aliasTable(/** @type {Builtin} */ { aliases }) {
  const rows = Object.entries(aliases).map(([alias, id]) => [`\`${alias}\``, `\`${id}\``]);
  return tableOf(["alias", "model"], rows);
}

/** One row for each host: first the model's own provider, then the others. */
function modelTable(/** @type {Builtin} */ { models }) {
  const rows = models.flatMap((model) => {
    const { id, hosts = [], context, maxOutput, capabilities } = model;
    const first = model.provider === undefined ? [] : [{ ...model, provider: model.provider }];
    return [...first, ...hosts].map((host, index) => {
      const price = host.price ?? model.price;
      const prices = price === undefined ? ["none", "none"] : pricesOf(price);
      const limits = [thousands(host.context ?? context), thousands(host.maxOutput ?? maxOutput)];
      const can = (host.capabilities ?? capabilities).join(", ");
      return [index === 0 ? `\`${id}\`` : "", host.provider, ...prices, ...limits, can];
    });
  });
  return tableOf(["model", "host", "input", "output", "context", "output limit", "capabilities"], rows);
}

/** Units beside tokens stand in place of the input. */
function pricesOf(
  /** @type {NonNullable<Builtin["models"][number]["price"]>} */ { input, output, characters, minute },
) {
  if (characters !== undefined) return [`$${characters} a million characters`, ""];
  return minute === undefined ? [`$${input}`, `$${output}`] : [`$${minute} a minute`, ""];
}

/** One row for each provider that hosts a model. */
function policyTable(/** @type {Builtin} */ { models, policies }) {
  const hosts = models.flatMap(({ provider = "", hosts: others = [] }) => [
    provider,
    ...others.map((host) => host.provider),
  ]);
  const rows = [...new Set(hosts.filter((id) => id !== ""))].map((id) => {
    const { region = "unknown", dataPolicy = "unknown", asOf = "", source = "" } = policies[id] ?? {};
    return [id, region, dataPolicy, asOf, source];
  });
  return tableOf(["host", "region", "data policy", "read on", "source"], rows);
}

function thousands(/** @type {number} */ count) {
  return count.toLocaleString("en-US");
}
