// `switchyard models update --from FILE|URL` with a catalogue file: its signature, version and contents are checked, and
// with --apply it is published as a version of the run-time configuration.

import { readBuiltin } from "../../catalog/builtin.ts";
import { type CatalogueDiff, diffCatalogues, diffWords, isEmptyDiff, shownPrice } from "../../catalog/file/diff.ts";
import { compareVersions, versionOf, withFile } from "../../catalog/file/file.ts";
import { packCatalogue } from "../../catalog/file/published.ts";
import { BadCatalogue, readSignedCatalogue, type SignedCatalogue } from "../../catalog/file/read.ts";
import { MAINTAINERS_KEYS } from "../../catalog/file/signature.ts";
import { command } from "../../config/package.ts";
import type { Settings } from "../../config/settings.ts";
import { dayOf } from "../../versions/adoption.ts";
import { catalogueOf, ownPricesOver, withCatalogue } from "../../versions/catalogue.ts";
import type { Versions } from "../../versions/versions.ts";
import { COMMAND_LINE, printJson } from "../command/command.ts";
import { formatTable } from "../command/table.ts";
import type { Terminal } from "../command/terminal.ts";
import * as TEXT from "../command/text.ts";
import { FAILED } from "../command/usage.ts";
import { withVersions } from "../command/versions.ts";

export interface CatalogueUpdate {
  /** Name of the file or address, and its text. */
  readonly from: string;
  readonly text: string;
  readonly applies: boolean;
  readonly allowsOlder: boolean;
  readonly isJson: boolean;
}

export async function updateCatalogue(
  update: CatalogueUpdate,
  settings: Settings,
  terminal: Terminal,
): Promise<number> {
  try {
    const trusted = [...MAINTAINERS_KEYS, ...settings.prices.catalogueKeys];
    const found = readSignedCatalogue(update.text, trusted);
    refuseFuture(found.file.date, terminal);
    return await withVersions(settings, (versions) => compare(update, found, { versions, settings, terminal }));
  } catch (error) {
    if (!(error instanceof BadCatalogue)) throw error;
    terminal.say(TEXT.catalogueRefused(update.from, error.message));
    return FAILED;
  }
}

const DAY_MS = 86_400_000;

/** A day ahead allows for clocks. Later ones would keep every true catalogue out. */
function refuseFuture(date: string, { now }: Terminal): void {
  if (date > dayOf(now() + DAY_MS)) throw new BadCatalogue(TEXT.catalogueOfFuture(date));
}

interface Target {
  readonly versions: Versions;
  readonly settings: Settings;
  readonly terminal: Terminal;
}

async function compare(update: CatalogueUpdate, found: SignedCatalogue, target: Target): Promise<number> {
  const { versions, terminal } = target;
  const { file } = found;
  const current = catalogueOf(versions.newest().document);
  const [own, next] = [versionOf(current.tiers), file.version];
  const diff = diffCatalogues(current, withFile(readBuiltin(), file));
  const isOlder = compareVersions(next, own) < 0;
  if (isOlder && !update.allowsOlder) throw new BadCatalogue(TEXT.catalogueOlder(next, own));
  if (next === own && !isEmptyDiff(diff)) throw new BadCatalogue(TEXT.catalogueOtherContent(next));
  const published = update.applies && next !== own ? await publish(found, own, target) : null;
  const ownPrices = ownPricesOver(versions.newest().document, file);
  const { signedBy } = found;
  if (update.isJson) {
    printJson({ source: update.from, from: own, to: next, signedBy, ...diff, ownPrices, applied: published }, terminal);
    return 0;
  }
  print(diff, terminal);
  terminal.say(TEXT.catalogueCompared(own, next, signedBy));
  if (ownPrices.length > 0) terminal.say(TEXT.catalogueOwnPrices(ownPrices.join(", ")));
  if (published !== null)
    terminal.say(TEXT.catalogueApplied(next, published, command(`versions rollback ${published - 1}`)));
  else if (next !== own) terminal.say(TEXT.catalogueNotApplied);
  return 0;
}

/** The number of the new version of the configuration. */
async function publish({ file, signedBy }: SignedCatalogue, own: string, target: Target): Promise<number> {
  const { versions } = target;
  const newest = [versionOf(readBuiltin().tiers), own, file.version].toSorted(compareVersions).at(-1) ?? own;
  const packed = packCatalogue(file, signedBy, newest);
  const { version } = await versions.publish({
    author: COMMAND_LINE,
    note: TEXT.catalogueNote(file.version, signedBy),
    isDated: true,
    change: (document) => withCatalogue(document, packed, file),
  });
  return version.number;
}

const HEADINGS = ["MODEL", "PROVIDER", "NOW $/M", "FILE $/M", "CHANGE"];

function print(diff: CatalogueDiff, terminal: Terminal): void {
  const rows = diff.prices.map(({ model, provider, from, to, percent }) => [
    model,
    provider,
    from === null ? "none" : shownPrice(from),
    shownPrice(to),
    from === null ? "new" : percent === null ? "-" : `${percent}%`,
  ]);
  if (rows.length > 0) terminal.out(formatTable([HEADINGS, ...rows]));
  const others = diffWords({ ...diff, prices: [] });
  if (others.length > 0) terminal.out(`${others.map(({ words }) => words).join("\n")}\n`);
}
