// `switchyard models list | check | update | export | sign`: the catalogue as a server would have it now, whether providers
// offer each model under its name and at its price, what a price list or a catalogue file says, and files of our own.

import { type Catalog, chainPlaces, isUsable } from "../catalog/catalog.ts";
import { catalogAt } from "../catalog/moment.ts";
import { isSameModel } from "../catalog/prices/diff.ts";
import { ageInDays, type Check, PRICES_OLD_DAYS } from "../config/doctor.ts";
import { command } from "../config/package.ts";
import type { Settings } from "../config/settings.ts";
import type { HostedModel, Model } from "../core/model.ts";
import { TIERS, type Tier } from "../core/tiers.ts";
import type { ListedModel, ListedPrice } from "../formats/listing.ts";
import { writeModel } from "../formats/service/model-list.ts";
import type { Listing } from "../gateway/operate/list-models.ts";
import { fetchCatalogueText } from "../providers/sources/catalogue.ts";
import { UnreadableSource } from "../providers/sources/source.ts";
import { exportCatalogue, signCatalogue } from "./catalogue/files.ts";
import { updateCatalogue } from "./catalogue/update.ts";
import type { Arguments } from "./command/arguments.ts";
import { type Parsed, parseSubcommand, printJson, runCommand } from "./command/command.ts";
import { isOn, parseWord, splitFlags, textOf } from "./command/flags.ts";
import { countStates, formatCheck, hasColour, symbolOf } from "./command/symbols.ts";
import { formatTable } from "./command/table.ts";
import { type Terminal, thisTerminal } from "./command/terminal.ts";
import * as TEXT from "./command/text.ts";
import { FAILED, UsageError } from "./command/usage.ts";
import { listingCheck, listProviders } from "./doctor/providers.ts";
import type { UpdateOptions } from "./update-prices.ts";

interface ModelOptions extends UpdateOptions {
  readonly kind: "list" | "check" | "update" | "export" | "sign";
  /** The file to sign. */
  readonly path: string;
  /** The private key to sign with. */
  readonly keyFrom: string;
  /** Takes a catalogue that is older than the one in use. */
  readonly allowsOlder: boolean;
  /** Lists the chain of this tier only. */
  readonly tier: Tier | null;
  readonly isColoured: boolean;
}

/** Lists the catalogue, or compares it with the providers. */
export function models(args: Arguments, terminal: Terminal = thisTerminal()): Promise<number> {
  return runCommand({
    ...{ name: "models", terminal, isEffective: true, parse: () => parseModels(args, terminal) },
    run: async (options, settings) => RUN[options.kind](options, settings, terminal),
  });
}

const RUN: Readonly<
  Record<ModelOptions["kind"], (options: ModelOptions, settings: Settings, terminal: Terminal) => Promise<number>>
> = {
  list: async (options, settings, terminal) => list(options, settings, terminal),
  check,
  update,
  export: async (_, settings, terminal) => exportCatalogue(settings, terminal),
  sign: async (options, _, terminal) => signCatalogue(options, terminal),
};

const OWN_FLAGS: Readonly<Record<ModelOptions["kind"], readonly string[]>> = {
  list: ["tier"],
  check: [],
  update: ["from", "apply", "allow-older"],
  export: [],
  sign: ["key-from"],
};

function parseModels({ words, flags }: Arguments, terminal: Terminal): Parsed<ModelOptions> {
  const [kind, path = ""] = parseSubcommand(words, "models", { list: 0, check: 0, update: 0, export: 0, sign: 1 });
  const { own, config } = splitFlags(flags, [...OWN_FLAGS[kind], "json", "no-color"]);
  const tier = textOf(own, "tier");
  const update = { from: textOf(own, "from"), applies: isOn(own, "apply"), allowsOlder: isOn(own, "allow-older") };
  const keyFrom = textOf(own, "key-from") ?? "";
  if (kind === "sign" && (path === "" || keyFrom === "")) throw new UsageError(TEXT.signNeeds);
  const output = { isJson: isOn(own, "json"), isColoured: hasColour(own, terminal), ...update };
  return {
    options: { kind, path, keyFrom, ...output, tier: tier === null ? null : parseWord(tier, TIERS, "tier") },
    config,
  };
}

/** A catalogue file, or else a price list. */
async function update(options: ModelOptions, settings: Settings, terminal: Terminal): Promise<number> {
  const { from } = options;
  try {
    const text = from === null ? null : await fetchCatalogueText(from, terminal.cwd);
    if (from !== null && text !== null) return await updateCatalogue({ ...options, from, text }, settings, terminal);
  } catch (error) {
    if (!(error instanceof UnreadableSource)) throw error;
    terminal.say(`${error.message}\n`);
    return FAILED;
  }
  if (options.allowsOlder) throw new UsageError(TEXT.olderOfCatalogue);
  return (await import("./update-prices.ts")).updatePrices(options, settings, terminal);
}

/** Nobody is called: the list comes from the configuration. */
function list({ tier, isJson }: ModelOptions, settings: Settings, terminal: Terminal): number {
  const { catalog } = catalogAt(settings.catalog, terminal.now());
  const shown = tier === null ? [...catalog.models.values()] : catalog.chains[tier];
  if (isJson) {
    const data = shown.map((model) => ({
      ...writeModel(model, catalog),
      ...{ provider: model.provider, tier: model.tier },
      chains: chainPlaces(catalog, model),
      chainsWithTools: chainPlaces(catalog, model, true),
    }));
    printJson({ data }, terminal);
  } else {
    const usable = shown.filter((model) => isUsable(catalog, model)).length;
    const order = tier === null ? "" : TEXT.inChain(tier);
    terminal.out(formatTable([HEADINGS, ...shown.map(rowOf)]));
    terminal.say(TEXT.modelsCounted(shown.length, order, usable, command("models check")));
  }
  return 0;
}

const HEADINGS = ["ID", "PROVIDER", "TIER", "IN $/M", "OUT $/M", "CONTEXT", "BFCL", "CAN"];

function rowOf(model: Model): readonly string[] {
  const { id, provider, tier, price, context, scores, capabilities, endpoint } = model;
  const perMillion = (micro: number | undefined): string => (micro === undefined ? "-" : String(micro / 1e6));
  return [
    id,
    provider,
    endpoint === null ? tier : "-",
    perMillion(price?.input),
    perMillion(price?.output),
    String(context),
    String(scores?.overall ?? "-"),
    endpoint ?? [...capabilities].join(" "),
  ];
}

/** Asks every configured provider for its list of models. Nothing is charged and nothing is changed. */
async function check(options: ModelOptions, settings: Settings, terminal: Terminal): Promise<number> {
  const { catalog } = catalogAt(settings.catalog, terminal.now());
  const listings = await listProviders(catalog);
  const findings = compareModels(catalog, listings, terminal.now());
  const checks = listings.map((listing) => listingCheck(listing, terminal.now()));
  const isOk = countStates([...checks, ...findings]).failed === 0;
  if (options.isJson) {
    const known = new Set([...catalog.models.values()].flatMap(({ hosts }) => hosts.map(({ upstream }) => upstream)));
    const providers = listings.map((listing, index) => ({ ...checks[index], ...writeListing(listing, known) }));
    printJson({ ok: isOk, providers, models: findings.map(writeFinding) }, terminal);
  } else {
    terminal.out(checks.map((check) => formatCheck(check, options.isColoured)).join(""));
    if (checks.length > 0) terminal.out("\n");
    terminal.out(tableOf(findings, options.isColoured));
    terminal.say(`\n${adviceOn(findings).join("\n")}\n`);
  }
  return isOk ? 0 : FAILED;
}

/** The JSON of one provider: how many models it lists, and which of them the catalogue lacks. */
function writeListing({ provider, models }: Listing, known: ReadonlySet<string>): object {
  const others = models?.map(({ id }) => id).filter((id) => !known.has(id)) ?? null;
  return { id: provider.id, listed: models?.length ?? null, notInCatalogue: others };
}

/** The JSON of one model. Prices are USD per million tokens. */
function writeFinding(finding: ModelFinding): object {
  const { model, tiers, state, result, listedAs, listedPrice, isPriceWrong, priceOldDays } = finding;
  const { id, provider, upstream, price, priceAsOf, priceSource } = model;
  const usd = (price: { readonly input: number; readonly output: number } | null): object | null =>
    price === null ? null : { input: price.input / 1e6, output: price.output / 1e6 };
  return {
    ...{ id, provider, upstream, tiers, state, result, listedAs, price: usd(price), listedPrice: usd(listedPrice) },
    ...{ isPriceWrong, priceAsOf, priceSource, priceOldDays },
  };
}

const CHECK_HEADINGS = ["MODEL", "PROVIDER", "ASKED FOR AS", "ROUTED IN", "RESULT"];

/** Symbols are put before the finished lines, since a table strips colour codes from its cells. */
function tableOf(findings: readonly ModelFinding[], isColoured: boolean): string {
  const rows = findings.map((finding) => {
    const { model, tiers } = finding;
    return [model.id, model.provider, model.upstream, tiers.join(" ") || "-", resultOf(finding)];
  });
  const [heading = "", ...lines] = formatTable([CHECK_HEADINGS, ...rows])
    .trimEnd()
    .split("\n");
  const symbolLines = lines.map((line, index) => `${symbolOf(findings[index]?.state ?? "ok", isColoured)} ${line}`);
  return `${[`  ${heading}`, ...symbolLines].join("\n")}\n`;
}

/** The last column: what was found, and everything odd about the price. */
function resultOf({ model, result, listedAs, listedPrice, isPriceWrong, priceOldDays }: ModelFinding): string {
  const shown = ({ input, output }: ListedPrice): string => `${input / 1e6}/${output / 1e6}`;
  const parts = [
    listedAs === null || listedAs === model.upstream ? result : TEXT.listedAs(result, listedAs),
    ...(isPriceWrong && listedPrice !== null
      ? [`price ${model.price === null ? "none" : shown(model.price)}, the provider says ${shown(listedPrice)}`]
      : []),
    ...(priceOldDays === null ? [] : [TEXT.priceOld(model.priceAsOf, priceOldDays)]),
  ];
  return parts.join("; ");
}

/** Advice for each kind of finding, in the order of printing. */
const ADVICE: readonly (readonly [what: string, fix: string, isSo: (finding: ModelFinding) => boolean])[] = [
  ["missing", TEXT.correctUpstream, ({ result }) => result === "missing"],
  [TEXT.withWrongPrices, TEXT.setPrice, ({ isPriceWrong }) => isPriceWrong],
  [TEXT.withOldPrices, TEXT.comparePrices, ({ priceOldDays }) => priceOldDays !== null],
  [TEXT.notChecked, TEXT.fixProvider(command("doctor --test")), ({ result }) => result === "unchecked"],
  ["simulated", TEXT.setProviderKey, ({ result }) => result === "simulated"],
];

/** One line for each kind of finding that occurs. */
function adviceOn(findings: readonly ModelFinding[]): readonly string[] {
  const found = ADVICE.flatMap(([what, fix, isSo]) => {
    const count = findings.filter(isSo).length;
    return count === 0 ? [] : [`${count} ${what}. ${fix}`];
  });
  return found.length > 0 ? found : [TEXT.allAvailable(findings.length, command('route "Hello"'))];
}

/** A model of the catalogue, compared with the list of its provider. */
interface ModelFinding {
  readonly model: HostedModel;
  /** The tiers whose requests it gets; a model in none can still be asked for by name. */
  readonly tiers: readonly Tier[];
  readonly state: Check["state"];
  readonly result: "offered" | "missing" | "unchecked" | "simulated";
  /** The name in the provider's list. */
  readonly listedAs: string | null;
  /** The provider's own price, where its list has one. */
  readonly listedPrice: ListedPrice | null;
  readonly isPriceWrong: boolean;
  /** Age of the catalogue's price, if too old. */
  readonly priceOldDays: number | null;
}

/** One finding for every model at every host whose provider is configured. */
function compareModels(catalog: Catalog, listings: readonly Listing[], nowMs: number): readonly ModelFinding[] {
  const listed = new Map(listings.map((listing) => [listing.provider.id, listing]));
  const hosted = [...catalog.models.values()].flatMap(({ hosts }) => hosts);
  return hosted.flatMap((model) => {
    const provider = catalog.providers.get(model.provider);
    if (provider === undefined) return [];
    const tiers = TIERS.filter((tier) => catalog.chains[tier].some(({ id }) => id === model.id));
    const isSandbox = provider.transport === "sandbox";
    return [
      { tiers, ...findingOf(model, listed.get(provider.id) ?? null, { isSandbox, isRouted: tiers.length > 0, nowMs }) },
    ];
  });
}

interface ModelStanding {
  readonly isSandbox: boolean;
  readonly isRouted: boolean;
  readonly nowMs: number;
}

/** A wrong price, or a missing model that requests are routed to, is a failure; the rest warns. */
function findingOf(
  model: HostedModel,
  listing: Listing | null,
  { isSandbox, isRouted, nowMs }: ModelStanding,
): Omit<ModelFinding, "tiers"> {
  const models = listing?.models ?? null;
  const found = models === null ? null : findListed(models, model.upstream);
  const result = isSandbox ? "simulated" : models === null ? "unchecked" : found === null ? "missing" : "offered";
  const listedPrice = found?.price ?? null;
  const isPriceWrong = listedPrice !== null && !isSamePrice(model, listedPrice);
  const ageDays = model.priceAsOf === "" ? 0 : ageInDays(model.priceAsOf, nowMs);
  const priceOldDays = ageDays > PRICES_OLD_DAYS && !isSandbox && listedPrice === null ? ageDays : null;
  const isBroken = isPriceWrong || (result === "missing" && isRouted);
  const isOdd = result === "missing" || result === "unchecked" || priceOldDays !== null;
  const state = isBroken ? "fail" : isOdd ? "warn" : "ok";
  return { model, state, result, listedAs: found?.id ?? null, listedPrice, isPriceWrong, priceOldDays };
}

/** Under its own name before a dated one. */
function findListed(models: readonly ListedModel[], name: string): ListedModel | null {
  return (
    models.find(({ id, aliases }) => id === name || aliases.includes(name)) ??
    models.find(({ id }) => isSameModel(id, name)) ??
    null
  );
}

/** Vendors round prices per million tokens differently; half a percent is the same price. */
const TOLERANCE = 0.005;

function isSamePrice({ price }: HostedModel, listed: ListedPrice): boolean {
  if (price === null) return false;
  const isNear = (ours: number, theirs: number): boolean =>
    Math.abs(ours - theirs) <= TOLERANCE * Math.max(ours, theirs);
  return isNear(price.input, listed.input) && isNear(price.output, listed.output);
}
