// The effective configuration: defaults, then the run-time configuration, then file, environment and flags. The start and
// every change go through the same checks here.

import { type BuiltCatalog, buildCatalog, type CatalogProblem } from "../catalog/build.ts";
import type { Builtin } from "../catalog/builtin.ts";
import type { Catalog } from "../catalog/catalog.ts";
import { TIERS_WITH_TOOLS } from "../catalog/chains.ts";
import { CATALOGUE_SECTION, catalogueInUse, publishedIn } from "../catalog/file/published.ts";
import { BadCatalogue } from "../catalog/file/read.ts";
import type { Weights } from "../catalog/weights.ts";
import type { ProviderKind } from "../core/model.ts";
import type { Json } from "../core/overlay.ts";
import type { Environment } from "./environment.ts";
import { type ConfigFlags, settleOptions, showOptions } from "./layers.ts";
import { type Located, nodeAt } from "./located.ts";
import { readModels, readTiers } from "./models.ts";
import { livePaths, OPTIONS, type OptionValues } from "./options/table.ts";
import { ENTRY_SECTIONS, locateOverlay, overlaid } from "./overlay.ts";
import { reportOwnAddress } from "./own-address.ts";
import { readProviders } from "./providers.ts";
import { checkKeys, reject } from "./readers.ts";
import { emptyReport, type Problem, type Report } from "./report.ts";
import type { Configuration, Lock } from "./settings.ts";

/** Values that were read at the start and do not change. */
export interface Base {
  readonly flags: ConfigFlags;
  readonly environment: Environment;
  readonly file: Located | null;
  /** Source and date of the prices in the file. */
  readonly source: { readonly name: string; readonly day: string };
  readonly builtin: Builtin;
  readonly kinds: readonly ProviderKind[];
  readonly supportedKinds: ReadonlySet<string>;
}

interface Settled {
  readonly values: OptionValues;
  readonly catalog: Catalog | null;
}

/** Options and catalogue of a document. Everything that is wrong goes to the report. */
export function settle(base: Base, document: Located | null, report: Report, weights?: Weights | null): Settled {
  const { builtin, environment, kinds, supportedKinds, source } = base;
  const values = settleOptions({ ...base, file: document, report });
  const providers = readProviders({ file: document, builtin, environment, kinds, report });
  reportOwnAddress(
    providers.map(({ provider }) => provider),
    { server: values.server, file: document, report },
  );
  const { catalog: rows, baseline, markup, unsureTier, hostOrder, serviceTier } = values.catalog;
  const built = buildCatalog({
    builtin,
    isBuiltinUsed: rows === "builtin",
    tiers: readTiers(document, report),
    tiersWithTools: readTiers(document, report, TIERS_WITH_TOOLS),
    models: readModels({ file: document, source, report }),
    providers,
    baseline,
    markupPpm: markup,
    unsureTier,
    hostOrder,
    serviceTier,
    supportedKinds,
    ...(weights === undefined ? {} : { weights }),
  });
  addCatalogFindings({ built, file: document, environment, report });
  return { values, catalog: built.catalog };
}

/** `known` are the warnings of the file alone, which say nothing of a document. */
export function createConfiguration(base: Base, { weights }: Catalog, known: readonly Problem[]): Configuration {
  const { builtin, environment, kinds } = base;
  return {
    locks: locksOf(base),
    provider(overlay, id) {
      const report = emptyReport();
      const file = overlaid(base.file, locateOverlay(overlay, report));
      const setups = readProviders({ file, builtin, environment, kinds, report });
      const isOwn = ({ place }: Problem): boolean => `${place}.`.startsWith(`providers.${id}.`);
      if (report.problems.some(isOwn)) return null;
      return setups.find(({ provider }) => provider.id === id)?.provider ?? null;
    },
    check(overlay) {
      const report = emptyReport();
      const { [CATALOGUE_SECTION]: published, ...entries } = overlay;
      const located = locateOverlay(entries, report);
      checkOverlayKeys(located, report);
      const document = overlaid(base.file, located);
      const { values, catalog } = settle(
        { ...base, builtin: publishedOver(builtin, published, report) },
        document,
        report,
        weights,
      );
      if (report.problems.length > 0 || catalog === null) return { ok: false, problems: report.problems };
      const isNew = ({ place, message }: Problem) =>
        !known.some((each) => each.place === place && each.message === message);
      const options = showOptions({ ...base, file: document, overlay: located });
      const { routing, billing, limits, logging, errors, responses, prices, alerts } = values;
      const live = { catalog, routing, billing, limits, logging, errors, responses, prices, alerts };
      return { ok: true, ...live, options, warnings: report.warnings.filter(isNew) };
    },
  };
}

function publishedOver(shipped: Builtin, section: Json | undefined, report: Report): Builtin {
  try {
    return catalogueInUse(shipped, publishedIn(section));
  } catch (error) {
    if (!(error instanceof BadCatalogue)) throw error;
    report.problems.push({ place: CATALOGUE_SECTION, message: error.message.replace(/\.$/, ""), suggestion: null });
    return shipped;
  }
}

function checkOverlayKeys(located: Located, report: Report): void {
  const paths = livePaths().map((path) => path.split("."));
  const sections = new Set(paths.map(([section]) => section as string));
  checkKeys(located, [...ENTRY_SECTIONS, ...sections], report);
  for (const section of sections) {
    const node = nodeAt(located, section);
    if (node === null) continue;
    const keys = paths.flatMap(([head, key]) => (head === section && key !== undefined ? [key] : []));
    if (node.kind === "mapping") checkKeys(node, keys, report);
    else reject(node, report, "a mapping");
  }
}

function locksOf(base: Base): readonly Lock[] {
  const { file, builtin, environment, flags } = base;
  const entriesOf = (section: string) => {
    const node = nodeAt(file, section);
    return node?.kind === "mapping" ? [...node.entries] : [];
  };
  const inFile = ["providers", "tiers", TIERS_WITH_TOOLS].flatMap((section) =>
    entriesOf(section).map(([key, { keyPlace }]) => ({
      path: `${section}.${key}`,
      origin: "file" as const,
      place: keyPlace,
    })),
  );
  const list = nodeAt(file, "models");
  const models = (list?.kind === "sequence" ? list.items : []).flatMap((row) => {
    const id = nodeAt(row, "id");
    return id?.kind === "scalar" ? [{ path: `models.${id.value}`, origin: "file" as const, place: row.place }] : [];
  });
  const keys = builtin.providers.flatMap(({ id, keyVariable }) => {
    const variable = environment.read(keyVariable);
    if (variable === null) return [];
    return ["apiKey", "apiKeys"].map((key) => ({
      ...{ path: `providers.${id}.${key}`, origin: "environment" as const, place: variable.place },
    }));
  });
  const live = new Set(livePaths());
  const options = showOptions({ flags, environment, file }).flatMap(({ path, origin, place }) =>
    path !== null && live.has(path) && origin !== "default" && origin !== "version"
      ? [{ path, origin, place: place ?? "" }]
      : [],
  );
  return [...inFile, ...models, ...keys, ...options];
}

interface FindingsInput {
  readonly built: BuiltCatalog;
  readonly file: Located | null;
  readonly environment: Environment;
  readonly report: Report;
}

/** An empty catalogue is only reported when nothing else is wrong, since it usually follows from something else. */
function addCatalogFindings({ built, file, environment, report }: FindingsInput): void {
  const baseline = environment.read(OPTIONS.catalog.baseline.env as string);
  const placed = ({ at, message, suggestion }: CatalogProblem): Problem => {
    const isFromVariable = at === OPTIONS.catalog.baseline.path && baseline !== null;
    return { place: isFromVariable ? baseline.place : (findPlace(file, at) ?? at), message, suggestion };
  };
  for (const problem of built.problems) {
    const isAlone = report.problems.length === 0;
    if (problem.at !== "tiers" || isAlone) report.problems.push(placed(problem));
  }
  report.warnings.push(...built.warnings.map(placed));
}

/** The place of a path such as `tiers.NANO[1]`, or of its nearest parent that is written in the file. */
function findPlace(root: Located | null, path: string): string | null {
  let node = root;
  let place: string | null = null;
  for (const [, key, index] of path.matchAll(/([^.[\]]+)|\[(\d+)\]/g)) {
    if (node?.kind === "sequence" && index !== undefined) node = node.items[Number(index)] ?? null;
    else if (node?.kind === "mapping" && key !== undefined) node = node.entries.get(key)?.node ?? null;
    else node = null;
    if (node === null) return place;
    place = node.place;
  }
  return place;
}
