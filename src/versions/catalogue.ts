// A catalogue file as a change of the run-time configuration, and what it changed, in words.

import { isDeepStrictEqual } from "node:util";
import { readBuiltin } from "../catalog/builtin.ts";
import { diffCatalogues, diffWords } from "../catalog/file/diff.ts";
import type { CatalogueFile } from "../catalog/file/file.ts";
import { versionOf } from "../catalog/file/file.ts";
import { CATALOGUE_SECTION, catalogueInUse, type PublishedCatalogue, publishedIn } from "../catalog/file/published.ts";
import { BadCatalogue } from "../catalog/file/read.ts";
import { hostRows } from "../catalog/rows.ts";
import { isJsonMap, type Json, type JsonMap, type Overlay } from "../core/overlay.ts";
import { isOperatorPrice } from "./adoption.ts";
import { modelsOf } from "./document.ts";

/** The catalogue that a document leads to. Throws BadCatalogue. */
export function catalogueOf(document: Overlay) {
  return catalogueInUse(readBuiltin(), publishedIn(document[CATALOGUE_SECTION]));
}

/**
 * With a catalogue. Models that were changed at run time stay, with the file's prices where theirs are older and come
 * from a list. Prices that an operator wrote stay as they are.
 */
export function withCatalogue(document: Overlay, published: PublishedCatalogue, file: CatalogueFile): Overlay {
  const rows = new Map(file.models.map((row) => [row.id, row]));
  const isOwn = ownSourcesIn(document);
  const repriced = modelsOf(document).map((row) => {
    const listed = rows.get(String(row.id));
    return listed === undefined ? row : withFilePrices(row, { hosts: hostRows(listed), listed, isOwn });
  });
  const kept = repriced.length === 0 ? document : { ...document, models: repriced };
  return { ...kept, [CATALOGUE_SECTION]: { ...published } };
}

type FileRow = CatalogueFile["models"][number];

/** Hosts and prices of a model in the file, and which sources of prices are the operator's. */
interface FilePrices {
  readonly hosts: ReturnType<typeof hostRows>;
  readonly listed: FileRow;
  readonly isOwn: (source: Json) => boolean;
}

/** Tells whether an operator wrote the price of a source. Operators may name one themselves, such as a contract. */
function ownSourcesIn(document: Overlay): (source: Json) => boolean {
  const rows = catalogueOf(document).models.flatMap((row) => [row, ...hostRows(row)]);
  const listed = new Set(rows.map(({ priceSource }) => priceSource));
  return (source) => isOperatorPrice(String(source), []) && !listed.has(String(source));
}

function withFilePrices(row: JsonMap, found: FilePrices): JsonMap {
  const own = repricedHost(row, found);
  if (!Array.isArray(row.hosts)) return own;
  const inner = (row.hosts as readonly Json[]).map((host) =>
    isJsonMap(host) ? repricedHost({ ...host }, found) : host,
  );
  return { ...own, hosts: inner };
}

function repricedHost(row: JsonMap, { hosts, listed, isOwn }: FilePrices): JsonMap {
  const { price, priceAsOf, priceSource, provider, upstream } = row;
  if (price === undefined || priceSource === undefined || isOwn(priceSource)) return row;
  const host = hosts.find(
    (each) => each.provider === provider && (each.upstream ?? listed.id) === (upstream ?? row.id),
  );
  const dated = host?.price === undefined ? listed : host;
  if (host === undefined || dated.price === undefined) return row;
  const { priceAsOf: asOf = "", priceSource: source = "" } = { ...listed, ...dated };
  if (typeof priceAsOf === "string" && priceAsOf > asOf) return row;
  return { ...row, price: JSON.parse(JSON.stringify(dated.price)) as Json, priceAsOf: asOf, priceSource: source };
}

/** Ids of models at a price that an operator wrote, which the file would change. */
export function ownPricesOver(document: Overlay, { models }: CatalogueFile): readonly string[] {
  const ids = new Set(models.map(({ id }) => id));
  const isOwn = ownSourcesIn(document);
  return modelsOf(document).flatMap((row) => {
    const hasOwn = [row, ...(Array.isArray(row.hosts) ? (row.hosts as readonly Json[]) : [])].some(
      (each) => isJsonMap(each) && each.priceSource !== undefined && isOwn(each.priceSource),
    );
    return hasOwn && ids.has(String(row.id)) ? [String(row.id)] : [];
  });
}

interface CatalogueChange {
  readonly path: string;
  readonly words: string;
}

/** The changes from the catalogue of one document to that of another. */
export function catalogueChanges(before: Overlay, after: Overlay): readonly CatalogueChange[] {
  if (isDeepStrictEqual(before[CATALOGUE_SECTION], after[CATALOGUE_SECTION])) return [];
  try {
    const [old, next] = [catalogueOf(before), catalogueOf(after)];
    const words = `catalogue: ${versionOf(old.tiers)} → ${versionOf(next.tiers)}`;
    const lines = diffWords(diffCatalogues(old, next));
    return [
      { path: CATALOGUE_SECTION, words },
      ...lines.map((line) => ({ path: `${CATALOGUE_SECTION}.${line.about}`, words: line.words })),
    ];
  } catch (error) {
    if (!(error instanceof BadCatalogue)) throw error;
    return [{ path: CATALOGUE_SECTION, words: "catalogue: changed" }];
  }
}
