// `switchyard models update`: what a price list says of the models of configured providers, and with --apply the prices
// that changed as a new version of the run-time configuration.

import type { Catalog } from "../catalog/catalog.ts";
import { catalogAt } from "../catalog/moment.ts";
import { diffPrices, type PriceChange, type PriceDiff } from "../catalog/prices/diff.ts";
import { command } from "../config/package.ts";
import type { Settings } from "../config/settings.ts";
import type { RateCard } from "../core/price.ts";
import { feedAddresses } from "../gateway/operate/feed-places.ts";
import { fetchPriceList, type SourcedList } from "../providers/sources/price-list.ts";
import { UnreadableSource } from "../providers/sources/source.ts";
import { datedBy, dayOf, type SortedChanges, sortChanges, withPrices } from "../versions/adoption.ts";
import type { Versions } from "../versions/versions.ts";
import { COMMAND_LINE, printJson } from "./command/command.ts";
import { formatTable } from "./command/table.ts";
import type { Terminal } from "./command/terminal.ts";
import * as TEXT from "./command/text.ts";
import { FAILED } from "./command/usage.ts";
import { withVersions } from "./command/versions.ts";

export interface UpdateOptions {
  /** The list to read; null for that of the settings. */
  readonly from: string | null;
  readonly applies: boolean;
  readonly isJson: boolean;
}

export async function updatePrices(options: UpdateOptions, settings: Settings, terminal: Terminal): Promise<number> {
  const list = await listFrom(options.from ?? settings.prices.priceListUrl, terminal);
  if (list === null) return FAILED;
  return withVersions(settings, async (versions, loaded) => {
    const catalog = (): Catalog => catalogAt(loaded(), terminal.now()).catalog;
    const diff = diffPrices(catalog(), list);
    const addresses = feedAddresses(settings.prices);
    const applied = options.applies ? await apply(diff, list, { versions, catalog, terminal, addresses }) : null;
    if (options.isJson) printJson({ ...writeDiff(diff, list), applied }, terminal);
    else print(diff, list, terminal);
    if (applied !== null && !options.isJson) {
      terminal.say(TEXT.pricesApplied(applied.models.length, applied.version, adviceOn(applied)));
    }
    return 0;
  });
}

interface Applied extends Pick<SortedChanges, "locked" | "own"> {
  readonly version: number;
  readonly models: readonly string[];
}

async function apply(
  { changes }: PriceDiff,
  { source }: SourcedList,
  {
    versions,
    catalog,
    terminal,
    addresses,
  }: {
    readonly versions: Versions;
    readonly catalog: () => Catalog;
    readonly terminal: Terminal;
    readonly addresses: readonly string[];
  },
): Promise<Applied> {
  const stamp = { asOf: dayOf(terminal.now()), source };
  const { free, locked, own } = sortChanges(changes, versions.locks, addresses);
  const { models } = catalog();
  const published = await versions.publish({
    author: COMMAND_LINE,
    note: TEXT.pricesOf(source).slice(0, 500),
    isDated: true,
    change: (document) => withPrices(document, models, datedBy(free, stamp)),
  });
  return { version: published.version.number, models: [...new Set(free.map(({ model }) => model))], locked, own };
}

function adviceOn({ locked, own }: Applied): string {
  const inFile = locked.length === 0 ? "" : TEXT.changeInFile(locked.join(", "));
  return own.length === 0 ? inFile : `${inFile}${TEXT.ownPricesStay(own.join(", "))}`;
}

async function listFrom(from: string, terminal: Terminal): Promise<SourcedList | null> {
  try {
    return await fetchPriceList(from, terminal.cwd);
  } catch (error) {
    if (!(error instanceof UnreadableSource)) throw error;
    terminal.say(`${error.message}\n`);
    return null;
  }
}

/** Prices are USD per million tokens. */
function writeDiff({ changes, same, refused, unpriced }: PriceDiff, { source, format }: SourcedList): object {
  return {
    ...{ source, format, same, refused },
    changes: changes.map((change) => ({ ...change, from: usd(change.from), to: usd(change.to) })),
    unpriced: unpriced.map((model) => ({ ...model, price: usd(model.price) })),
  };
}

function usd(price: RateCard | null): object | null {
  if (price === null) return null;
  const { input, output, cacheRead, cacheWrite } = price;
  const perMillion = (micro: number | null): number | null => (micro === null ? null : micro / 1e6);
  return {
    ...{ input: input / 1e6, output: output / 1e6 },
    ...{ cacheRead: perMillion(cacheRead), cacheWrite: perMillion(cacheWrite) },
  };
}

const HEADINGS = ["MODEL", "PROVIDER", "NOW $/M", "OF", "LIST $/M", "CHANGE"];
/** Models without a price that are named. */
const UNPRICED_SHOWN = 10;

function print({ changes, same, refused, unpriced }: PriceDiff, { source }: SourcedList, terminal: Terminal): void {
  if (changes.length > 0) terminal.out(formatTable([HEADINGS, ...changes.map(rowOf)]));
  for (const { model, reason } of refused) terminal.out(TEXT.priceRefused(model, reason));
  terminal.say(
    `\n${changes.length === 1 ? "1 price differs" : `${changes.length} prices differ`} from ${source}, and ${same} are the same.\n`,
  );
  if (unpriced.length === 0) return;
  const names = unpriced.slice(0, UNPRICED_SHOWN).map(({ provider, upstream }) => `${provider} ${upstream}`);
  const rest = unpriced.length > names.length ? TEXT.andMore(unpriced.length - names.length) : "";
  terminal.say(
    `${unpriced.length} models of your providers are not in the catalogue, so they are unpriced and not routable: ${names.join(", ")}${rest}. Adopt one on the Providers page, under models:, or with POST /api/prices/adopt. All of them: ${command("models update --json")}\n`,
  );
}

function rowOf({ model, provider, from, fromAsOf, to, percent }: PriceChange): readonly string[] {
  const shown = (price: RateCard | null): string =>
    price === null ? "none" : [price.input, price.output].map((micro) => micro / 1e6).join("/");
  const changed = percent === null ? "new" : `${percent}%`;
  return [model, provider, shown(from), fromAsOf === "" ? "-" : fromAsOf, shown(to), changed];
}
