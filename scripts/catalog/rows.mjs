// @ts-check
// The rows of models.json with prices that feeds agree on, and the text of that file.

import { isDeepStrictEqual } from "node:util";

/** @typedef {import("../../src/catalog/rows.ts").ModelRow} ModelRow */
/** @typedef {import("../../src/catalog/rows.ts").HostRow} HostRow */
/** @typedef {import("../../src/catalog/prices/rows.ts").PriceRow} PriceRow */
/** @typedef {import("../../src/catalog/prices/review.ts").Proposal} Proposal */
/** @typedef {{ model: string, provider: string, reason: string, asOf: string, source: string, price?: PriceRow }} Override */
/** @typedef {Pick<typeof import("../../src/catalog/prices/rows.ts"), "priceFromRow" | "rowFromPrice">} Prices */

/** The override of a host; its price is kept, or is the one written there. */
export function overrideOf(
  /** @type {readonly Override[]} */ overrides,
  /** @type {{ model: string, provider: string }} */ { model, provider },
) {
  return overrides.find((each) => each.model === model && each.provider === provider) ?? null;
}

/**
 * The rows with the prices of these proposals and overrides.
 * @param {readonly ModelRow[]} rows
 * @param {{ proposals: readonly Proposal[], overrides: readonly Override[], asOf: string, sourceOf: (proposal: Proposal) => string, prices: Prices }} terms
 * @returns {readonly ModelRow[]}
 */
export function regenerated(rows, { proposals, overrides, asOf, sourceOf, prices }) {
  /** @template {ModelRow | HostRow} Row @param {Row} row @param {string} model @returns {Row} */
  const priced = (row, model) => {
    const { provider = "", upstream = model } = row;
    const override = overrideOf(overrides, { model, provider });
    if (override?.price !== undefined && !isDeepStrictEqual(override.price, row.price)) {
      return { ...row, price: override.price, priceAsOf: override.asOf, priceSource: override.source };
    }
    const found = proposals.find(
      (each) => each.model === model && each.provider === provider && each.upstream === upstream,
    );
    if (override !== null || found === undefined || row.price === undefined) return row;
    return { ...row, price: priceRow(row.price, found, prices), priceAsOf: asOf, priceSource: sourceOf(found) };
  };
  return rows.map((row) => {
    const own = priced(row, row.id);
    return row.hosts === undefined ? own : { ...own, hosts: row.hosts.map((host) => priced(host, row.id)) };
  });
}

/**
 * The new rates in the old row, where that says the same: factors and later prices stay as people wrote them.
 * @param {PriceRow} row @param {Proposal} proposal @param {Prices} prices @returns {PriceRow}
 */
function priceRow(row, { to }, { priceFromRow, rowFromPrice }) {
  const { factors: _, ...rates } = rowFromPrice(to);
  const kept = { ...rates, ...pick(row, ["factors", "until", "changes"]) };
  const isSame = isDeepStrictEqual(priceFromRow(kept)?.price, to);
  // A list without service tiers says nothing of them, and a factor is one on the new rates as well.
  const isSilent = isDeepStrictEqual(priceFromRow(row)?.price.tiers, to.tiers);
  return isSame || isSilent ? kept : { ...rowFromPrice(to), ...pick(row, ["until", "changes"]) };
}

function pick(/** @type {object} */ from, /** @type {readonly string[]} */ names) {
  return Object.fromEntries(Object.entries(from).filter(([name]) => names.includes(name)));
}

/** The text of models.json: a field per line, and a host per line. */
export function writeRows(/** @type {readonly ModelRow[]} */ rows) {
  return `[\n${rows.map(writeRow).join(",\n")}\n]\n`;
}

function writeRow(/** @type {ModelRow} */ row) {
  const fields = Object.entries(row).map(([name, value]) => {
    const text = name === "hosts" ? `[\n${value.map(hostLine).join(",\n")}\n    ]` : inline(value);
    return `    ${JSON.stringify(name)}: ${text}`;
  });
  return `  {\n${fields.join(",\n")}\n  }`;
}

function hostLine(/** @type {HostRow} */ host) {
  return `      ${inline(host)}`;
}

/** @returns {string} */
function inline(/** @type {unknown} */ value) {
  if (Array.isArray(value)) return `[${value.map(inline).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  return `{${Object.entries(value)
    .map(([name, each]) => `${JSON.stringify(name)}: ${inline(each)}`)
    .join(", ")}}`;
}
