// The sections `models:`, `tiers:` and `tiersWithTools:` of a configuration, read into rows of the catalogue.

import type { ChainLists } from "../catalog/chains.ts";
import { type HostRow, type ModelRow, PROVISIONAL_USES } from "../catalog/rows.ts";
import { CAPABILITIES, ENDPOINTS, type ToolScores } from "../core/model.ts";
import { TIERS } from "../core/tiers.ts";
import { dialectChanges } from "./dialects.ts";
import { type Located, nodeAt } from "./located.ts";
import { day, price } from "./prices.ts";
import { listOf, number, oneOf, type Reader, regionList, reject, shape, text, truth } from "./readers.ts";
import type { Report } from "./report.ts";

/** For models that do not say; docs/reference/configuration.md names them. */
export const MODEL_DEFAULTS = { context: 128_000, maxOutput: 16_384 } as const;

/** Bounds that catch slips of the keyboard, far above real values. */
const TOKENS_MAX = 100_000_000;
/** Asks for routing, so no model may be called so. */
const RESERVED_ID = "auto";
/** Ids of vendors hold slashes, colons and dots. */
export const MODEL_ID = /^[A-Za-z0-9][A-Za-z0-9._:/@+-]{0,127}$/;

const tokenCount = number({ min: 1, max: TOKENS_MAX, isWhole: true });
const score = number({ min: 0, max: 100 });
const modelId = text({
  test: (value) => MODEL_ID.test(value) && value !== RESERVED_ID,
  expected: `an id of letters, digits and . _ : / @ + - other than "${RESERVED_ID}"`,
});

/** Fields that every host of a model may have. */
const hostReaders = {
  provider: text(),
  upstream: text(),
  price,
  priceAsOf: day,
  priceSource: text(),
  context: tokenCount,
  maxOutput: tokenCount,
  dialect: dialectChanges,
  formats: listOf(text()),
  retires: day,
  region: text(),
  dataPolicy: text(),
  regions: regionList,
  zeroRetention: truth,
};

const readHost = shape({ ...hostReaders, capabilities: listOf(oneOf(CAPABILITIES)) }, ["provider"]);

const readRow = shape(
  {
    id: modelId,
    ...hostReaders,
    hosts: listOf(readHost),
    name: text(),
    vendor: text(),
    tier: oneOf(TIERS),
    provisional: oneOf(PROVISIONAL_USES),
    hostOf: text(),
    tokenizer: shape({ factor: number({ min: 0.1, max: 10 }), asOf: day, source: text() }, ["factor"]) as Reader<
      ModelRow["tokenizer"] & object
    >,
    capabilities: listOf(oneOf([...CAPABILITIES, ...ENDPOINTS])),
    bfcl: shape(
      {
        overall: score,
        single: score,
        parallel: score,
        multi_turn: score,
        web_search: score,
        memory: score,
        optional: score,
      },
      ["overall"],
    ) as Reader<Partial<ToolScores>>,
  },
  ["id"],
);

interface ModelsSection {
  readonly file: Located | null;
  /** Source and date of prices for models that name none. */
  readonly source: { readonly name: string; readonly day: string };
  readonly report: Report;
}

/** In the order of the file. A broken row is reported and still has its place. */
export function readModels({ file, source, report }: ModelsSection): readonly ModelRow[] {
  const section = nodeAt(file, "models");
  if (section === null) return [];
  if (section.kind !== "sequence") {
    reject(section, report, "a list of models");
    return [];
  }
  return section.items.map((item, index) => rowOf(item, index, { source, report }));
}

/** Only the tiers that are written; their model ids are checked when the catalogue is built. */
export function readTiers(file: Located | null, report: Report, name = "tiers"): ChainLists {
  const section = nodeAt(file, name);
  if (section === null) return {};
  const chain = listOf(text());
  const readers = { NANO: chain, SIMPLE: chain, LIGHT: chain, STANDARD: chain, COMPLEX: chain };
  return shape(readers)(section, report) ?? {};
}

/** A row whose id or provider is broken still takes its place in the list, so that later ones keep their number. */
function rowOf(item: Located, index: number, { source, report }: Omit<ModelsSection, "file">): ModelRow {
  const { bfcl, hosts = [], provider, ...fields } = readRow(item, report) ?? {};
  const context = fields.context ?? MODEL_DEFAULTS.context;
  const maxOutput = fields.maxOutput ?? Math.min(MODEL_DEFAULTS.maxOutput, context);
  const listed = hosts.map((host) => hostOf(host, source));
  if (listed.length === 0 && nodeAt(item, "provider") === null && item.kind === "mapping") {
    report.problems.push({ place: item.place, message: "provider is missing", suggestion: null });
  }
  return {
    ...fields,
    id: fields.id ?? `models[${index}]`,
    ...(provider === undefined && listed.length > 0 ? {} : { provider: provider ?? "sandbox" }),
    ...(listed.length === 0 ? {} : { hosts: listed }),
    context,
    maxOutput,
    capabilities: fields.capabilities ?? [],
    priceAsOf: fields.priceAsOf ?? source.day,
    priceSource: fields.priceSource ?? source.name,
    ...(bfcl?.overall === undefined ? {} : { bfcl: { ...bfcl, overall: bfcl.overall } }),
  };
}

/** A host without a price of its own has the model's, with its date. */
function hostOf(host: ReadHost, source: ModelsSection["source"]): HostRow {
  const { provider = "sandbox", ...fields } = host;
  const dated = { priceAsOf: fields.priceAsOf ?? source.day, priceSource: fields.priceSource ?? source.name };
  return { ...fields, provider, ...(fields.price === undefined ? {} : dated) };
}

type ReadHost = NonNullable<ReturnType<typeof readHost>>;
