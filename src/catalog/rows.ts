// The catalogue as people write it: rows of models.json, providers.json and tiers.json, and of `models:` in a configuration.
// Prices stand here in decimal USD; `modelFromRow` turns a row into the model the router reads.

import {
  CAPABILITIES,
  type Capability,
  ENDPOINTS,
  type Endpoint,
  type FormatName,
  type HostedModel,
  type ModelHost,
  type PromptCache,
  type Provider,
  type ToolScores,
  writesTokens,
} from "../core/model.ts";
import type { RateCard } from "../core/price.ts";
import type { Tier } from "../core/tiers.ts";
import { type DialectChanges, mergeDialects } from "./dialect.ts";
import { type PriceRow, priceFromRow } from "./prices/rows.ts";

/** Scores and ranks by public benchmarks: whatmodel over all tasks, and Arena Agent for work with tools. */
export interface Evidence {
  readonly overall?: number;
  readonly overallRank?: number;
  readonly agent?: number;
  readonly agentRank?: number;
}

/** Fields that a host may have. Where they are left out, the model's figures count; a dialect belongs to its host alone. */
export interface HostRow {
  readonly provider: string;
  readonly upstream?: string;
  readonly price?: PriceRow;
  readonly priceAsOf?: string;
  readonly priceSource?: string;
  readonly context?: number;
  readonly maxOutput?: number;
  readonly capabilities?: readonly Capability[];
  /** Differences to the provider's dialect; text names an entry of `dialects` in providers.json. */
  readonly dialect?: DialectChanges | string;
  /** The shortest prompt that is cached, where that is not as the provider says. */
  readonly cacheTokensMin?: number;
  /** The time that this host keeps a prompt after its last use, where that is not as the provider says. */
  readonly cacheSeconds?: number;
  /** The formats in which the provider has the model, where that is not all that it speaks. */
  readonly formats?: readonly FormatName[];
  readonly region?: string;
  readonly dataPolicy?: string;
  readonly regions?: readonly string[];
  readonly zeroRetention?: boolean;
  /** The first day on which the host does not have the model any more. */
  readonly retires?: string;
  /** Beginnings of the names of the cloud's regions from which it can be called. Such a host stands for any provider there. */
  readonly callFrom?: readonly string[];
  /** Marks a host that a price check found for a model that is known. */
  readonly provisional?: ProvisionalUse;
}

export interface ModelRow extends Omit<HostRow, "provider" | "capabilities"> {
  readonly id: string;
  /** The first host. Left out, all of them are under `hosts`. */
  readonly provider?: string;
  readonly hosts?: readonly HostRow[];
  readonly name?: string;
  readonly vendor?: string;
  readonly tier?: Tier;
  readonly context: number;
  readonly maxOutput: number;
  /** Capabilities of a chat model, or the one endpoint that another model serves. */
  readonly capabilities: readonly (Capability | Endpoint)[];
  readonly bfcl?: ToolScores;
  readonly bfclAsOf?: string;
  readonly bfclSource?: string;
  readonly evidence?: Evidence;
  /** Says that its vendor recommends it for the hardest work. */
  readonly isFlagship?: boolean;
  readonly note?: string;
  /** Marks a model that a price check found: asked for by name alone, or last in the chain of its tier as well. */
  readonly provisional?: ProvisionalUse;
  /** The known model whose provisional host this row is. Where that is gone, the row is a model of its own. */
  readonly hostOf?: string;
  /** Tokens that its tokenizer counts for each one of the usual estimate, with day and source. */
  readonly tokenizer?: { readonly factor: number; readonly asOf?: string; readonly source?: string };
}

export const PROVISIONAL_USES = ["named", "chain"] as const;
export type ProvisionalUse = (typeof PROVISIONAL_USES)[number];

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
  /** Says that batches can be sent to the vendor's own address. */
  readonly hasBatches?: boolean;
  /** Absent where the vendor says nothing of it. */
  readonly cache?: CacheRow;
  /** Addresses at which the vendor speaks another format; used when a configuration names the kind or the address. */
  readonly otherAddresses?: readonly Pick<ProviderRow, "kind" | "baseUrl" | "dialect">[];
}

/** Place where a provider answers and its treatment of content, with day and source of both. Left out: unknown. */
export interface PolicyRow {
  readonly region?: string;
  readonly dataPolicy?: string;
  /** All places where it answers, for a filter. Left out: anywhere. */
  readonly regions?: readonly string[];
  /** True only where the provider keeps no content without being asked to. */
  readonly zeroRetention?: boolean;
  readonly asOf: string;
  readonly source: string;
}

/** USD for each web search that a provider runs, for prices that name none, with the day and the page of the fee. */
export interface SearchRow {
  readonly usd: number;
  /** Fees of a router for models whose makers search themselves, by what stands before their names. */
  readonly byMaker?: Readonly<Record<string, number>>;
  readonly asOf: string;
  readonly source: string;
}

/** The fees of a provider by the names under which hosts look for theirs. */
export function feesByName([id, { usd, byMaker = {} }]: readonly [string, SearchRow]): readonly [string, number][] {
  return [[id, usd], ...Object.entries(byMaker).map(([maker, fee]): [string, number] => [`${id}/${maker}`, fee])];
}

/** A vendor's prompt cache, with the day and the page of the description. */
interface CacheRow extends PromptCache {
  readonly asOf: string;
  readonly source: string;
}

export interface TierRows {
  /** The day of the whole catalogue. */
  readonly asOf: string;
  /** Number of the version among those of the day. */
  readonly revision: number;
  /** The overall score that a model needs in a tier without tools. One below it is a fallback and no alternative. */
  readonly floors?: Readonly<Record<Tier, number>>;
  readonly chains: Readonly<Record<Tier, readonly string[]>>;
  /** Chains for requests with tools, where they differ. */
  readonly chainsWithTools?: Readonly<Partial<Record<Tier, readonly string[]>>>;
}

/** The hosts of a row as they were written: what `provider` names first, then those of `hosts`. */
export function hostRows(row: ModelRow): readonly HostRow[] {
  const { provider, hosts = [], capabilities: _, ...own } = row;
  return provider === undefined ? hosts : [{ ...own, provider }, ...hosts];
}

export interface ModelContext {
  readonly tier: Tier;
  readonly dialects: ReadonlyMap<string, DialectChanges | undefined>;
  readonly caches: ReadonlyMap<string, PromptCache | undefined>;
  readonly policies: ReadonlyMap<string, PolicyRow>;
  readonly providers: ReadonlyMap<string, Provider>;
  /** USD for each search that a provider runs, by provider, or by provider and maker. */
  readonly searchFees: ReadonlyMap<string, number>;
  readonly namedDialects: Readonly<Record<string, DialectChanges>>;
}

/** One model for each host of the row, in the order in which they were written. */
export function modelsFromRow(row: ModelRow, context: ModelContext): readonly HostedModel[] {
  const hosts = hostRows(row);
  return hosts.map((host, index) => {
    const isAlone = hosts.every((other) => other === host || other.provider !== host.provider);
    const name = isAlone ? host.provider : `${host.provider}/${host.upstream ?? row.id}`;
    const hostKey = index === 0 ? row.id : `${row.id} via ${name}`;
    return { ...modelFields(row, hosts, context), ...hostFields(row, host, context), host: name, hostKey };
  });
}

type ModelFields = Pick<
  HostedModel,
  "id" | "name" | "vendor" | "endpoint" | "scores" | "tier" | "isProvisional" | "tokenFactor"
>;

function modelFields(row: ModelRow, [first]: readonly HostRow[], { tier }: ModelContext): ModelFields {
  return {
    id: row.id,
    name: row.name ?? row.id,
    vendor: row.vendor ?? first?.provider ?? "",
    endpoint: endpointOf(row),
    scores: row.bfcl ?? null,
    tier,
    ...(row.provisional === undefined ? {} : { isProvisional: true }),
    ...(row.tokenizer === undefined ? {} : { tokenFactor: row.tokenizer.factor }),
  };
}

export function endpointOf({ capabilities }: ModelRow): Endpoint | null {
  return ENDPOINTS.find((name) => capabilities.includes(name)) ?? null;
}

function hostFields(row: ModelRow, host: HostRow, context: ModelContext): ModelHost {
  // A dialect says how a model differs at one provider. Another provider of the model need not share it.
  const { dialect, formats } = row.provider === undefined ? { ...row, ...host } : host;
  const own = typeof dialect === "string" ? context.namedDialects[dialect] : dialect;
  const { price: written = row.price, capabilities = row.capabilities } = host;
  const { searchFees } = context;
  const maker = (host.upstream ?? row.id).split("/", 1)[0];
  const known = searchFees.get(`${host.provider}/${maker}`) ?? searchFees.get(host.provider);
  const fee = endpointOf(row) === null ? known : undefined;
  const { price, schedule } = (written && priceFromRow(withSearchFee(written, fee))) ?? { price: null };
  const { cacheSeconds: seconds, cacheTokensMin: tokensMin = row.cacheTokensMin } = host;
  const cache = cacheOf(price, { seconds, tokensMin }, context.caches.get(host.provider));
  return {
    provider: host.provider,
    upstream: host.upstream ?? row.id,
    price,
    ...(schedule === undefined ? {} : { schedule }),
    priceAsOf: host.priceAsOf ?? row.priceAsOf ?? "",
    priceSource: host.priceSource ?? row.priceSource ?? "",
    context: host.context ?? row.context,
    maxOutput: writesTokens(endpointOf(row)) ? (host.maxOutput ?? row.maxOutput) : 0,
    capabilities: new Set(CAPABILITIES.filter((name) => capabilities.includes(name))),
    dialect: mergeDialects(context.dialects.get(host.provider), own),
    ...(cache === null ? {} : { cache }),
    ...(formats === undefined ? {} : { formats }),
    ...(host.retires === undefined ? {} : { retires: host.retires }),
    ...(host.provisional === undefined ? {} : { isProvisional: true }),
    ...policyOf(host, context.policies.get(host.provider)),
    ...residencyOf(host, context.providers.get(host.provider), context.policies.get(host.provider)),
  };
}

/** A price that says nothing of searches has its vendor's fee for them. */
function withSearchFee(price: PriceRow, search: number | undefined): PriceRow {
  if (search === undefined) return price;
  const { changes } = price;
  const later = changes === undefined ? {} : { changes: changes.map((change) => ({ search, ...change })) };
  return { search, ...price, ...later };
}

/** The policy in the host's row, else the known one of its provider. */
function policyOf({ region, dataPolicy }: HostRow, known: PolicyRow | undefined): Partial<ModelHost> {
  if (region !== undefined || dataPolicy !== undefined || known === undefined) {
    return { ...(region === undefined ? {} : { region }), ...(dataPolicy === undefined ? {} : { dataPolicy }) };
  }
  const { asOf, source, regions: _, zeroRetention: __, ...facts } = known;
  return { ...facts, policyAsOf: asOf, policySource: source };
}

type ResidencyFacts = Pick<HostRow, "regions" | "zeroRetention">;

/** The facts of the host's row, else those that the operator wrote for its provider, else the known ones. */
function residencyOf(host: HostRow, ...others: readonly (ResidencyFacts | undefined)[]): Partial<ModelHost> {
  const facts = [host, ...others];
  const regions = facts.find((fact) => fact?.regions !== undefined)?.regions;
  const zeroRetention = facts.find((fact) => fact?.zeroRetention !== undefined)?.zeroRetention;
  const isOwn = host.regions !== undefined || host.zeroRetention !== undefined;
  return { ...setOf({ regions, zeroRetention }), ...(isOwn ? { ownResidency: setOf(host) } : {}) };
}

function setOf({ regions, zeroRetention }: Partial<Record<keyof ResidencyFacts, unknown>>): ResidencyFacts {
  const set = {
    ...(regions === undefined ? {} : { regions }),
    ...(zeroRetention === undefined ? {} : { zeroRetention }),
  };
  return set as ResidencyFacts;
}

/** A host of which nothing is said, but whose cached input costs less: as most vendors have it. */
const USUAL_CACHE: PromptCache = { seconds: 300, tokensMin: 1024 };

/** Facts of a cache in a host's own row. */
type OwnCache = { readonly [Name in "seconds" | "tokensMin"]: number | undefined };

function cacheOf(
  price: RateCard | null,
  { seconds, tokensMin }: OwnCache,
  known: PromptCache = USUAL_CACHE,
): PromptCache | null {
  if (price === null || price.cacheRead === null || price.cacheRead >= price.input) return null;
  if (seconds === undefined && tokensMin === undefined) return known;
  return { ...known, seconds: seconds ?? known.seconds, tokensMin: tokensMin ?? known.tokensMin };
}
