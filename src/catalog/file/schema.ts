// The schema of a catalogue file: every field that it may have, and the bounds of each. The JSON Schema beside the file in
// the package is this one.

import { type TProperties, type TSchema, Type } from "typebox";
import { CAPABILITIES, type Dialect, ENDPOINTS, TOOL_SCENARIOS } from "../../core/model.ts";
import { SERVICE_TIERS, UNITS, type Unit } from "../../core/money.ts";
import { EFFORTS } from "../../core/requests/effort.ts";
import { TIERS } from "../../core/tiers.ts";
import { type CardRow, type HoursRow, PRICE_DAYS, type PriceRow } from "../prices/rows.ts";
import type { Evidence, HostRow, ModelRow, PolicyRow, SearchRow } from "../rows.ts";
import type { CatalogueFile } from "./file.ts";

/** The fields of a type, one schema each: a field that the type gets later is missed by the compiler. */
type FieldsOf<Row> = Readonly<Record<keyof Row, TSchema>>;

const LENGTH_MAX = 500;
const LIST_MAX = 200;
const MODELS_MAX = 5_000;
/** USD per million tokens, far above any model. */
const PRICE_MAX = 10_000;
const TOKENS_MAX = 100_000_000;
const FACTOR_MAX = 100;

const strict = (fields: TProperties) => Type.Object(fields, { additionalProperties: false });
const maybe = (schema: TSchema) => Type.Optional(schema);
const oneOf = (words: readonly string[]) => Type.Enum([...words]);
const listOf = (schema: TSchema, maxItems = LIST_MAX) => Type.Array(schema, { maxItems });
const byName = (schema: TSchema) => Type.Record(Type.String({ maxLength: LENGTH_MAX }), schema);
/** Every field may be left out. */
const partial = <Name extends string>(fields: Readonly<Record<Name, TSchema>>) =>
  mapped(Object.keys(fields) as Name[], (name) => Type.Optional(fields[name]));

function mapped<Name extends string>(names: readonly Name[], schemaOf: (name: Name) => TSchema) {
  return Object.fromEntries(names.map((name) => [name, schemaOf(name)])) as Record<Name, TSchema>;
}

const text = Type.String({ minLength: 1, maxLength: LENGTH_MAX });
const day = Type.String({ pattern: "^\\d{4}-\\d{2}-\\d{2}$" });
const id = Type.String({ pattern: "^[A-Za-z0-9][A-Za-z0-9._:/@+-]{0,127}$" });
const tokens = Type.Integer({ minimum: 1, maximum: TOKENS_MAX });
const usd = Type.Number({ minimum: 0, maximum: PRICE_MAX });
/** A rate of null says the same as one that is left out. */
const usdOrNone = Type.Union([usd, Type.Null()]);
const factor = Type.Number({ minimum: 0, maximum: FACTOR_MAX });
const score = Type.Number({ minimum: 0, maximum: 100 });

const units = mapped(Object.keys(UNITS) as Unit[], () => usd);
const rates = {
  input: usd,
  output: usd,
  cacheRead: usdOrNone,
  cacheWrite: usdOrNone,
  ...units,
  image: Type.Union([usd, byName(usd)]),
  leastSeconds: Type.Integer({ minimum: 0, maximum: 3600 }),
} satisfies FieldsOf<Omit<CardRow, "bands">>;
const card = {
  ...rates,
  bands: listOf(strict({ ...partial(rates), above: tokens })),
} satisfies FieldsOf<CardRow>;
const tiered = {
  ...card,
  factors: strict(partial(mapped(SERVICE_TIERS, () => Type.Union([factor, strict(partial(card))])))),
};
const time = Type.String({ pattern: "^([01]\\d|2[0-3]):[0-5]\\d$|^24:00$" });
const hours = {
  ...tiered,
  days: listOf(oneOf(PRICE_DAYS)),
  factor,
  from: time,
  until: time,
} satisfies FieldsOf<HoursRow>;
const period = {
  ...tiered,
  hours: listOf(strict({ ...partial(hours), from: time, until: time })),
  from: day,
  until: day,
};
const ofPeriod = { ...partial(period), input: usd, output: usd };
const price = {
  ...ofPeriod,
  changes: maybe(listOf(strict({ ...ofPeriod, from: day }))),
} satisfies FieldsOf<PriceRow>;

const dialect = {
  outputCap: oneOf(["as-sent", "max_tokens", "max_completion_tokens"]),
  refuses: listOf(text),
  renames: byName(text),
  toolIds: oneOf(["any", "alphanumeric-9", "safe-40"]),
  hasDeveloperRole: Type.Boolean(),
  takesMessageNames: Type.Boolean(),
  takesStreamOptions: Type.Boolean(),
  efforts: listOf(oneOf(EFFORTS)),
  reasoningHistory: oneOf(["keep", "drop", "tool-turns"]),
  needsThoughtSignatures: Type.Boolean(),
  takesTopK: Type.Boolean(),
  takesCacheControl: Type.Boolean(),
  thinking: oneOf(["adaptive", "level", "budget", "none"]),
  thinkingOff: oneOf(["disabled", "between_tools"]),
  takesForcedTools: Type.Boolean(),
  takesSearchOptions: Type.Boolean(),
  bindsThinking: Type.Boolean(),
  takesPrefill: Type.Boolean(),
  takesSystemInMiddle: Type.Boolean(),
  takesOutputFormat: Type.Boolean(),
  versionInBody: text,
  refusesBetas: listOf(text),
  takesFormatWithTools: Type.Boolean(),
} satisfies FieldsOf<Dialect>;
const dialectChanges = strict(partial(dialect));

const host = {
  provider: id,
  upstream: text,
  price: strict(price),
  priceAsOf: day,
  priceSource: text,
  context: tokens,
  maxOutput: tokens,
  capabilities: listOf(oneOf(CAPABILITIES)),
  dialect: Type.Union([text, dialectChanges]),
  cacheTokensMin: tokens,
  cacheSeconds: tokens,
  formats: listOf(text),
  region: text,
  dataPolicy: text,
  regions: listOf(text),
  zeroRetention: Type.Boolean(),
  retires: day,
  callFrom: listOf(Type.String({ maxLength: LENGTH_MAX })),
} satisfies FieldsOf<Omit<HostRow, "provisional">>;

const evidence = {
  overall: score,
  overallRank: tokens,
  agent: Type.Number({ minimum: -10, maximum: 10 }),
  agentRank: tokens,
} satisfies FieldsOf<Evidence>;

/** Only a gateway itself makes models that are provisional. */
const model = {
  ...partial(host),
  id,
  hosts: maybe(listOf(strict({ ...partial(host), provider: id }))),
  name: maybe(text),
  vendor: maybe(text),
  tier: maybe(oneOf(TIERS)),
  context: tokens,
  maxOutput: Type.Integer({ minimum: 0, maximum: TOKENS_MAX }),
  capabilities: listOf(oneOf([...CAPABILITIES, ...ENDPOINTS])),
  bfcl: maybe(strict({ overall: score, ...partial(mapped(TOOL_SCENARIOS, () => score)) })),
  bfclAsOf: maybe(day),
  bfclSource: maybe(text),
  evidence: maybe(strict(partial(evidence))),
  isFlagship: maybe(Type.Boolean()),
  tokenizer: maybe(
    strict({ factor: Type.Number({ minimum: 0.1, maximum: 10 }), asOf: maybe(day), source: maybe(text) }),
  ),
  note: maybe(text),
} satisfies FieldsOf<Omit<ModelRow, "provisional" | "hostOf">>;

const policy = {
  region: maybe(text),
  dataPolicy: maybe(text),
  regions: maybe(listOf(text)),
  zeroRetention: maybe(Type.Boolean()),
  asOf: day,
  source: text,
} satisfies FieldsOf<PolicyRow>;
const searchFee = { usd, byMaker: maybe(byName(usd)), asOf: day, source: text } satisfies FieldsOf<SearchRow>;

const chain = listOf(text);
const ofTiers = mapped(TIERS, () => chain);

const file = {
  catalogue: Type.Literal("switchyard-catalogue"),
  format: Type.Literal(1),
  version: Type.String({ pattern: "^\\d{4}-\\d{2}-\\d{2}\\.[1-9]\\d{0,5}$", description: "The day, and a number." }),
  date: day,
  licence: Type.Literal("CC0-1.0"),
  about: maybe(Type.String({ maxLength: 2_000 })),
  models: Type.Array(strict(model), { minItems: 1, maxItems: MODELS_MAX }),
  dialects: byName(dialectChanges),
  policies: byName(strict(policy)),
  searchFees: byName(strict(searchFee)),
  floors: maybe(strict(mapped(TIERS, () => score))),
  chains: strict(ofTiers),
  chainsWithTools: maybe(strict(partial(ofTiers))),
  aliases: byName(id),
  signature: maybe(
    strict({
      algorithm: Type.Literal("ed25519"),
      key: Type.String({ pattern: "^[A-Za-z0-9+/]{43}=$", description: "The public key: 32 bytes in base64." }),
      value: Type.String({
        pattern: "^[A-Za-z0-9+/]{86}==$",
        description: "The signature of the file without this field, in the canonical form of RFC 8785.",
      }),
    }),
  ),
} satisfies FieldsOf<CatalogueFile>;

export const CATALOGUE_SCHEMA = Type.Object(file, {
  additionalProperties: false,
  $schema: "https://json-schema.org/draft/2020-12/schema",
  title: "Switchyard catalogue",
});
