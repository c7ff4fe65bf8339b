// The catalogue as people write it: rows of models.json, providers.json and tiers.json, and of `models:` in a configuration.
// Prices stand here in decimal USD per million tokens; `modelFromRow` turns a row into the model the router reads.

import {
  CAPABILITIES,
  type Capability,
  ENDPOINTS,
  type Endpoint,
  type FormatName,
  type Model,
  type ToolScores,
} from "../core/model.ts";
import { type Price, priceFromUsdPerMillion } from "../core/money.ts";
import type { Tier } from "../core/tiers.ts";
import { type DialectChanges, mergeDialects } from "./dialect.ts";

export interface PriceRow {
  readonly input: number;
  readonly output: number;
  readonly cacheRead?: number | null;
  readonly cacheWrite?: number | null;
}

export interface ModelRow {
  readonly id: string;
  readonly provider: string;
  readonly name?: string;
  readonly vendor?: string;
  readonly upstream?: string;
  readonly tier?: Tier;
  readonly price?: PriceRow;
  readonly priceAsOf?: string;
  readonly priceSource?: string;
  readonly context: number;
  readonly maxOutput: number;
  /** Of a chat model; or the one endpoint that the model serves instead. */
  readonly capabilities: readonly (Capability | Endpoint)[];
  readonly bfcl?: ToolScores;
  readonly bfclAsOf?: string;
  readonly bfclSource?: string;
  /** Differences to the provider's dialect; text names an entry of `dialects` in providers.json. */
  readonly dialect?: DialectChanges | string;
  /** The formats in which the provider has the model, where that is not all that it speaks. */
  readonly formats?: readonly FormatName[];
  readonly note?: string;
}

export interface ProviderRow {
  readonly id: string;
  readonly name: string;
  /** A row of the table of provider kinds. */
  readonly kind: string;
  readonly baseUrl: string;
  /** All formats that are spoken at this address, the usual one first; the kind's alone where left out. */
  readonly formats?: readonly FormatName[];
  /** The vendor's own name for the variable that holds a key; setting it switches the provider on. */
  readonly keyVariable: string;
  readonly dialect: DialectChanges;
  /** Where the vendor speaks another format; used when a configuration names the kind or the address. */
  readonly otherAddresses?: readonly Pick<ProviderRow, "kind" | "baseUrl" | "dialect">[];
}

export interface TierRows {
  readonly baseline: string;
  readonly baselineReason: string;
  readonly chains: Readonly<Record<Tier, readonly string[]>>;
}

export interface ModelContext {
  readonly tier: Tier;
  readonly providerDialect: DialectChanges | undefined;
  readonly namedDialects: Readonly<Record<string, DialectChanges>>;
}

export function modelFromRow(row: ModelRow, context: ModelContext): Model {
  const endpoint = ENDPOINTS.find((name) => row.capabilities.includes(name)) ?? null;
  const own = typeof row.dialect === "string" ? context.namedDialects[row.dialect] : row.dialect;
  return {
    id: row.id,
    name: row.name ?? row.id,
    vendor: row.vendor ?? row.provider,
    provider: row.provider,
    upstream: row.upstream ?? row.id,
    price: row.price === undefined ? null : priceFromRow(row.price),
    priceAsOf: row.priceAsOf ?? "",
    priceSource: row.priceSource ?? "",
    context: row.context,
    maxOutput: endpoint === null ? row.maxOutput : 0,
    capabilities: new Set(CAPABILITIES.filter((name) => row.capabilities.includes(name))),
    endpoint,
    scores: row.bfcl ?? null,
    tier: context.tier,
    dialect: mergeDialects(context.providerDialect, own),
    ...(row.formats === undefined ? {} : { formats: row.formats }),
  };
}

/** Null when a figure is negative or has more than six decimals: such a model has no usable price. */
export function priceFromRow(row: PriceRow): Price | null {
  const input = priceFromUsdPerMillion(row.input);
  const output = priceFromUsdPerMillion(row.output);
  const cacheRead = optionalPrice(row.cacheRead);
  const cacheWrite = optionalPrice(row.cacheWrite);
  if (input === null || output === null || cacheRead === undefined || cacheWrite === undefined) return null;
  return { input, output, cacheRead, cacheWrite };
}

function optionalPrice(usd: number | null | undefined): number | null | undefined {
  if (usd === undefined || usd === null) return null;
  return priceFromUsdPerMillion(usd) ?? undefined;
}
