// @ts-check
// npm run catalog: takes the prices that feeds agree on over into src/catalog/models.json, and prints what changed and
// what waits for a person. Without network: -- --litellm FILE --genai FILE --openrouter FILE, or off for one of them.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { overrideOf, regenerated, writeRows } from "./catalog/rows.mjs";
import { hushJsonImports } from "./launch.mjs";
import { ROOT } from "./setup/files.mjs";
import { ensureBuild, runScript } from "./setup.mjs";

const MODELS = "src/catalog/models.json";
const TIERS = "src/catalog/tiers.json";
const OVERRIDES = "scripts/catalog/overrides.json";
/** The largest change that needs nobody's approval: from half the price to twice the price. */
const MAX_PERCENT = 100;

/** @typedef {import("../src/catalog/prices/review.ts").Proposal} Proposal */
/** @typedef {import("../src/catalog/prices/check.ts").FeedState} FeedState */

/** The built modules of src/ that this needs. */
async function modules() {
  const load = (/** @type {string} */ path) => import(pathToFileURL(join(ROOT, "dist", path)).href);
  const parts = ["builtin", "build", "provider-kinds", "file/diff", "file/file"];
  const prices = ["feeds", "review", "rows"].map((name) => `prices/${name}`);
  const loaded = await Promise.all([
    ...[...parts, ...prices].map((name) => load(`catalog/${name}.js`)),
    load("providers/sources/price-list.js"),
    load("providers/sources/source.js"),
  ]);
  return Object.assign({}, ...loaded);
}

/** The catalogue as if every provider were configured. */
function wholeCatalog(/** @type {any} */ { buildCatalog, providerKind, DEFAULT_TIMEOUTS }, /** @type {any} */ builtin) {
  const providers = builtin.providers.map((/** @type {any} */ { id, kind, baseUrl, dialect }) => ({
    provider: { id, ...providerKind(kind), baseUrl, apiKey: null, headers: {}, timeouts: DEFAULT_TIMEOUTS },
    dialect,
  }));
  const { catalog, problems } = buildCatalog({ builtin, providers, weights: null });
  if (catalog === null) throw new Error(problems.map((/** @type {any} */ { message }) => message).join("; "));
  return catalog;
}

/**
 * Every feed that is not off. One that cannot be read has no rows, and says why.
 * @returns {Promise<FeedState[]>}
 */
async function readFeeds(/** @type {any} */ { FEEDS, fetchFeed, UnreadableSource }, /** @type {any} */ values) {
  const day = new Date().toISOString().slice(0, 10);
  const states = Object.keys(FEEDS).map(async (feed) => {
    const source = values[feed] ?? FEEDS[feed].url;
    const state = {
      feed,
      source,
      readAtMs: 0,
      changedAtMs: 0,
      digest: "",
      problem: null,
      etag: null,
      modified: null,
      vendors: [],
      lost: [],
    };
    if (source === "off") return null;
    try {
      const { list } = await fetchFeed(source, { cwd: process.cwd(), day, known: null });
      return { ...state, readAtMs: Date.now(), rows: list.rows, refused: list.refused };
    } catch (error) {
      if (!(error instanceof UnreadableSource)) throw error;
      return { ...state, problem: /** @type {Error} */ (error).message, rows: [], refused: [] };
    }
  });
  return /** @type {any} */ ((await Promise.all(states)).filter((state) => state !== null));
}

/**
 * The rows with the prices that feeds agree on, what changed, and what waits, as lines to print.
 * @param {any} src modules of src/
 * @param {Readonly<Record<string, string | boolean | undefined>>} values sources of the feeds by name
 */
export async function compare(src, values) {
  const builtin = src.readBuiltin();
  const feeds = await readFeeds(src, values);
  const check = { atMs: Date.now(), feeds, offered: {}, adopted: {} };
  const { proposals } = src.reviewPrices(wholeCatalog(src, builtin), check, MAX_PERCENT);
  const overrides = JSON.parse(readFileSync(join(ROOT, OVERRIDES), "utf8"));
  const isKept = (/** @type {Proposal} */ proposal) => overrideOf(overrides, proposal) !== null;
  // A row has no place for prices that are only announced: a person writes them.
  const isTaken = (/** @type {Proposal} */ each) =>
    each.standing === "agreed" && each.startsOn === undefined && !isKept(each);
  const agreed = proposals.filter(isTaken);
  const asOf = new Date().toISOString().slice(0, 10);
  const models = regenerated(builtin.models, {
    ...{ proposals: agreed, overrides, asOf, prices: src },
    sourceOf: ({ feeds: by }) => src.feedSource(by),
  });
  const diff = src.diffCatalogues(builtin, { ...builtin, models });
  const waiting = proposals.filter((/** @type {Proposal} */ each) => !agreed.includes(each));
  return {
    models,
    version: { asOf, revision: builtin.tiers.asOf === asOf ? builtin.tiers.revision + 1 : 1 },
    read: feeds.map(({ source, problem, rows }) => problem ?? `${source}: ${rows.length} prices`),
    changes: src.diffWords(diff).map((/** @type {{ words: string }} */ { words }) => words),
    waiting: waiting.map((/** @type {Proposal} */ each) => waitingLine(each, isKept(each), src.rowFromPrice)),
  };
}

/** @param {Proposal} proposal @param {boolean} isKept @param {(price: any) => object} rowFromPrice */
function waitingLine({ model, provider, from, to, feeds, standing, startsOn }, isKept, rowFromPrice) {
  const [ours, theirs] = [flat(from === null ? {} : rowFromPrice(from)), flat(rowFromPrice(to))];
  const names = [...new Set([...ours.keys(), ...theirs.keys()])].filter((name) => ours.get(name) !== theirs.get(name));
  const shown = names
    .slice(0, RATES_SHOWN)
    .map((name) => `${name} ${ours.get(name) ?? "-"} → ${theirs.get(name) ?? "-"}`);
  const rest = names.length > shown.length ? `, and ${names.length - shown.length} more` : "";
  const why = isKept ? "override" : standing;
  const day = startsOn === undefined ? "" : ` from ${startsOn}`;
  return `${model} at ${provider}${day}: ${shown.join(", ")}${rest} (${feeds.join(" and ")}; ${why})`;
}

const RATES_SHOWN = 3;

/** Figures by their paths, such as bands.0.input. @returns {Map<string, unknown>} */
function flat(/** @type {object} */ value, path = "") {
  const entries = Object.entries(value).flatMap(([name, each]) =>
    typeof each === "object" && each !== null ? [...flat(each, `${path}${name}.`)] : [[`${path}${name}`, each]],
  );
  return new Map(/** @type {[string, unknown][]} */ (entries));
}

async function main() {
  const text = { type: /** @type {const} */ ("string") };
  const options = {
    litellm: text,
    genai: text,
    openrouter: text,
    "dry-run": { type: /** @type {const} */ ("boolean") },
  };
  const { values } = parseArgs({ options });
  await ensureBuild();
  hushJsonImports();
  const { models, version, read, changes, waiting } = await compare(await modules(), values);
  for (const line of read) console.log(line);
  for (const line of changes) console.log(`  ${line}`);
  if (waiting.length > 0) console.log(["Wait for a person:", ...waiting].join("\n  "));
  if (changes.length === 0) console.log("No price changed.");
  else if (values["dry-run"] === true) console.log("Nothing was written.");
  else write(models, version);
}

function write(/** @type {any} */ models, /** @type {{ asOf: string, revision: number }} */ { asOf, revision }) {
  const tiers = readFileSync(join(ROOT, TIERS), "utf8")
    .replace(/"asOf": "[^"]*"/, `"asOf": "${asOf}"`)
    .replace(/"revision": \d+/, `"revision": ${revision}`);
  writeFileSync(join(ROOT, MODELS), writeRows(models));
  writeFileSync(join(ROOT, TIERS), tiers);
  console.log(`Wrote version ${asOf}.${revision}. Review it with: git diff ${MODELS}`);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) await runScript(main);
