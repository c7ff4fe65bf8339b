// The `price:` of a model or host in a configuration. Every figure is checked where it is written.

import {
  type CardRow,
  type HoursRow,
  type PeriodRow,
  PRICE_DAYS,
  type PriceRow,
  priceFromRow,
} from "../catalog/prices/rows.ts";
import { PRICE_DECIMALS, priceFromUsd, priceFromUsdPerMillion, SERVICE_TIERS } from "../core/money.ts";
import { type Located, nodeAt } from "./located.ts";
import { listOf, number, oneOf, type Reader, reject, shape, text } from "./readers.ts";
import type { Report } from "./report.ts";

/** Bounds that catch slips of the keyboard, far above real values. */
const PRICE_MAX_USD = 1_000_000;
const TOKENS_MAX = 100_000_000;
const FACTOR_MAX = 1000;
const LEAST_SECONDS_MAX = 3600;

/** A day in a configuration. */
export const day = text({
  test: (value) => /^\d{4}-\d{2}-\d{2}$/.test(value) && !Number.isNaN(Date.parse(`${value}T00:00:00Z`)),
  expected: "a day such as 2026-08-08",
});

const time = text({
  test: (value) => /^(?:[01]\d|2[0-3]):[0-5]\d$|^24:00$/.test(value),
  expected: "a time of the day in UTC, such as 06:00",
});

/** USD per million tokens, exact to a millionth. */
function perMillion(node: Located, report: Report): number | undefined {
  const usd = number({ min: 0, max: PRICE_MAX_USD })(node, report);
  if (usd === undefined) return undefined;
  const isExact = priceFromUsdPerMillion(usd) !== null;
  return isExact ? usd : reject(node, report, `USD per million tokens with ${PRICE_DECIMALS}`);
}

/** USD for each, exact to a billionth. */
function each(node: Located, report: Report): number | undefined {
  const usd = number({ min: 0, max: PRICE_MAX_USD })(node, report);
  if (usd === undefined) return undefined;
  return priceFromUsd(usd) === null ? reject(node, report, "USD with at most nine decimals") : usd;
}

/** One price for all images, or prices by size and quality, which the vendor names. */
function image(node: Located, report: Report): number | Readonly<Record<string, number>> | undefined {
  if (node.kind !== "mapping") return each(node, report);
  const kinds = [...node.entries].map(([kind, entry]) => [kind, each(entry.node, report)] as const);
  return Object.fromEntries(kinds.filter((kind): kind is [string, number] => kind[1] !== undefined));
}

const rates = {
  input: perMillion,
  output: perMillion,
  cacheRead: perMillion,
  cacheWrite: perMillion,
  cacheWriteLong: perMillion,
  reasoning: perMillion,
  audioInput: perMillion,
  imageInput: perMillion,
  videoInput: perMillion,
  audioCacheRead: perMillion,
  imageCacheRead: perMillion,
  audioOutput: perMillion,
  imageOutput: perMillion,
  characters: perMillion,
  minute: each,
  request: each,
  search: each,
  searchedPrompt: each,
  image,
  leastSeconds: number({ min: 0, max: LEAST_SECONDS_MAX, isWhole: true }),
};

const band = shape({ ...rates, above: number({ min: 1, max: TOKENS_MAX, isWhole: true }) }, ["above"]);
const card = { ...rates, bands: listOf(band) as Reader<CardRow["bands"]> };
const factor = number({ min: 0, max: FACTOR_MAX });
const cardShape = shape(card);

const ofTier: Reader<number | CardRow> = (node, report) =>
  node.kind === "mapping" ? cardShape(node, report) : factor(node, report);

const tiered = { ...card, factors: shape(Object.fromEntries(SERVICE_TIERS.map((tier) => [tier, ofTier]))) };

const hours = shape({ ...tiered, from: time, until: time, days: listOf(oneOf(PRICE_DAYS)), factor }, ["from", "until"]);

const period = { ...tiered, hours: listOf(hours) as Reader<readonly HoursRow[]>, from: day, until: day };
const change = shape(period, ["from", "input", "output"]);

const priceShape = shape({ ...period, changes: listOf(change) as Reader<PriceRow["changes"]> }, ["input", "output"]);

/** A price with a broken figure has been reported and counts as none. */
export function price(node: Located, report: Report): PriceRow | undefined {
  const before = report.problems.length;
  const written = priceShape(node, report);
  if (written === undefined || report.problems.length > before) return undefined;
  const row = written as PeriodRow;
  if (priceFromRow(row) !== null) return row;
  const changes = nodeAt(node, "changes") ?? node;
  return reject(
    changes,
    report,
    "changes in the order of their days, hours that end after they begin, and factors that leave each price at most six decimals",
  );
}
