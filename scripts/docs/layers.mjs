// @ts-check
// Renders the import rules in biome.json from the table of layers.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { layerOverrides } from "../layers.mjs";

const PATH = "biome.json";
const LINE_WIDTH = 120;

/** Keeps every override that is not about a folder of src/, and puts the ones of the table after them. */
export function render(/** @type {string} */ root) {
  const config = JSON.parse(readFileSync(join(root, PATH), "utf8"));
  const others = config.overrides.filter((/** @type {{ includes: string[] }} */ { includes }) => !isLayer(includes));
  return [{ path: PATH, text: `${print({ ...config, overrides: [...others, ...layerOverrides()] }, "", 0)}\n` }];
}

function isLayer(/** @type {readonly string[]} */ includes) {
  return includes.every((pattern) => /^src\/[a-z0-9/-]+\/\*\*$/.test(pattern));
}

/**
 * JSON as Biome formats it: objects on lines of their own, lists on one line where they fit.
 * @returns {string}
 */
function print(/** @type {unknown} */ value, /** @type {string} */ indent, /** @type {number} */ keyWidth) {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const inner = `${indent}  `;
  if (Array.isArray(value)) {
    const flat = `[${value.map((item) => JSON.stringify(item)).join(", ")}]`;
    const isPlain = value.every((item) => typeof item !== "object");
    if (value.length === 0 || (isPlain && indent.length + keyWidth + flat.length + 1 <= LINE_WIDTH)) return flat;
    return `[\n${value.map((item) => `${inner}${print(item, inner, 0)}`).join(",\n")}\n${indent}]`;
  }
  const lines = Object.entries(value).map(
    ([key, item]) => `${inner}${JSON.stringify(key)}: ${print(item, inner, JSON.stringify(key).length + 2)}`,
  );
  return `{\n${lines.join(",\n")}\n${indent}}`;
}
