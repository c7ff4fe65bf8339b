// Builds the catalogue from the rows that ship, the rows of a configuration and the providers that are configured.
// Everything wrong with them is collected; a catalogue comes out only when nothing is.

import { formatsOf, type HostedModel, type Model, type PromptCache, type Provider } from "../core/model.ts";
import type { HostOrder } from "../core/requests/controls.ts";
import type { Tier } from "../core/tiers.ts";
import { baselineOf } from "./baseline.ts";
import { type Builtin, readBuiltin } from "./builtin.ts";
import { type Catalog, unreachableBecause } from "./catalog.ts";
import { buildChains, type ChainLists, lowestListing, provenModels } from "./chains.ts";
import { AZURE, withDeployments } from "./deployments.ts";
import type { DialectChanges } from "./dialect.ts";
import { joinHosts, joinsChain, withShipped } from "./merge.ts";
import { aliasesOf, findModel } from "./model-names.ts";
import { nearest } from "./nearest.ts";
import { standInFor, withProfiles } from "./profiles.ts";
import { PROVIDER_KINDS, providerKind } from "./provider-kinds.ts";
import { endpointOf, feesByName, type HostRow, hostRows, type ModelRow, modelsFromRow } from "./rows.ts";
import { readWeights, type Weights } from "./weights.ts";

/** The kinds of providers that can be called. */
export const SUPPORTED_KINDS: ReadonlySet<string> = new Set(PROVIDER_KINDS.map(({ kind }) => kind));

export const SANDBOX_ID = "sandbox";

export const DEFAULT_MARKUP_PPM = 50_000;

export const DEFAULT_UNSURE_TIER: Tier = "LIGHT";

export const DEFAULT_HOST_ORDER: HostOrder = "cheapest";

/** No request waits longer than these unless the configuration says otherwise. */
export const DEFAULT_TIMEOUTS = {
  connectMs: 5_000,
  firstByteMs: 60_000,
  idleMs: 120_000,
  totalMs: 600_000,
  isFirstByteConfigured: false,
} as const;

/** A configured provider and how it differs from plain chat-completions. */
export interface ProviderSetup {
  readonly provider: Provider;
  readonly dialect?: DialectChanges;
  /** Names of deployments by the ids of their models; left out, deployments are called like the models. */
  readonly deployments?: Readonly<Record<string, string>>;
}

type RoutingDefaults = Pick<Catalog, "markupPpm" | "unsureTier" | "hostOrder" | "serviceTier">;

export interface CatalogInput extends Partial<RoutingDefaults> {
  readonly builtin?: Builtin;
  /** False leaves out the models and chains that ship: only what is given here exists. */
  readonly isBuiltinUsed?: boolean;
  readonly models?: readonly ModelRow[];
  /** Chains as written; a tier that is not written keeps the chain that ships. */
  readonly tiers?: ChainLists;
  /** Chains as written for requests with tools. */
  readonly tiersWithTools?: ChainLists;
  readonly providers?: readonly ProviderSetup[];
  readonly baseline?: string | null;
  /** Left out, the weights that ship are read; null routes by rules alone. */
  readonly weights?: Weights | null;
  readonly supportedKinds?: ReadonlySet<string>;
}

/** `at` is a path in the configuration, such as `tiers.NANO[1]`. */
export interface CatalogProblem {
  readonly at: string;
  readonly message: string;
  readonly suggestion: string | null;
}

export interface BuiltCatalog {
  readonly catalog: Catalog | null;
  readonly problems: readonly CatalogProblem[];
  readonly warnings: readonly CatalogProblem[];
}

interface Findings {
  readonly problems: CatalogProblem[];
  readonly warnings: CatalogProblem[];
}

export function buildCatalog(input: CatalogInput = {}): BuiltCatalog {
  const findings: Findings = { problems: [], warnings: [] };
  const builtin = input.builtin ?? readBuiltin();
  const providers = servingProviders(input, findings);
  const { rows, joined } = mergeRows({ input, builtin, providers, findings });
  const policies = policiesOf(builtin, providers);
  const models = indexModels({ input, builtin, rows, providers, policies });
  const aliases = aliasesOf({ ...joined, ...builtin.aliases }, rows);
  reportUnreachable(models, providers, findings);
  const chains = buildChains({
    written: input.tiers ?? {},
    writtenWithTools: input.tiersWithTools ?? {},
    shipped: shippedChains(input, builtin),
    shippedWithTools: input.isBuiltinUsed === false ? {} : (builtin.tiers.chainsWithTools ?? {}),
    shippedIds: new Set(input.isBuiltinUsed === false ? [] : builtin.models.map(({ id }) => id)),
    models,
    aliases,
    joining: new Set([...rows.values()].filter(joinsChain).map(({ id }) => id)),
    providers,
    findings,
  });
  const baseline = chooseBaseline({ input, builtin, models, aliases, findings });
  if (findings.problems.length > 0 || baseline === null) return { catalog: null, ...findings };
  const { markupPpm = DEFAULT_MARKUP_PPM, unsureTier = DEFAULT_UNSURE_TIER, hostOrder = DEFAULT_HOST_ORDER } = input;
  const weights = input.weights === undefined ? readWeights() : input.weights;
  const { serviceTier = null } = input;
  const routing = { ...chains, proven: provenModels(builtin), markupPpm, weights, unsureTier, hostOrder, serviceTier };
  return { catalog: { models, aliases, providers, policies, baseline, ...routing }, ...findings };
}

/** The configured providers whose format we speak; the sandbox alone when there is none. */
function servingProviders(input: CatalogInput, findings: Findings): Map<string, Provider> {
  const supported = input.supportedKinds ?? SUPPORTED_KINDS;
  const serving = new Map<string, Provider>();
  for (const { provider } of input.providers ?? []) {
    if (supported.has(provider.kind)) {
      serving.set(provider.id, provider);
      continue;
    }
    findings.warnings.push({
      at: `providers.${provider.id}`,
      message: `providers of kind ${provider.kind} cannot be called yet, so the models of ${provider.id} are not routable`,
      suggestion: null,
    });
  }
  if (serving.size > 0) return serving;
  if (findings.warnings.length > 0) {
    const message = "no other provider is configured, so the sandbox simulates every model";
    findings.warnings.push({ at: "providers", message, suggestion: null });
  }
  return new Map([[SANDBOX_ID, sandboxProvider()]]);
}

/** Tells whether the sandbox stands in for every vendor, as the only provider. */
function isSandboxAlone(providers: ReadonlyMap<string, Provider>): boolean {
  return providers.size === 1 && providers.has(SANDBOX_ID);
}

function sandboxProvider(): Provider {
  const kind = providerKind("sandbox");
  return { id: SANDBOX_ID, ...kind, baseUrl: "", apiKey: null, headers: {}, timeouts: DEFAULT_TIMEOUTS };
}

interface RowsInput {
  readonly input: CatalogInput;
  readonly builtin: Builtin;
  readonly providers: ReadonlyMap<string, Provider>;
  readonly findings: Findings;
}

interface MergedRows {
  readonly rows: ReadonlyMap<string, ModelRow>;
  /** Models by the ids of rows that became hosts of them. */
  readonly joined: Readonly<Record<string, string>>;
}

function mergeRows({ input, builtin, providers, findings }: RowsInput): MergedRows {
  const merged = new Map<string, ModelRow>();
  if (input.isBuiltinUsed !== false) for (const row of builtin.models) merged.set(row.id, row);
  const configured = (input.providers ?? []).map((setup) => setup.provider.id);
  const shipping = builtin.models.flatMap((row) => hostRows(row).map(({ provider }) => provider));
  const known = new Set([...builtin.providers.map((row) => row.id), ...shipping, ...configured, SANDBOX_ID]);
  const seen = new Map<string, number>();
  for (const [index, row] of (input.models ?? []).entries()) {
    const at = `models[${index}]`;
    const earlier = seen.get(row.id);
    const shipped = merged.get(row.id);
    if (earlier === undefined) {
      seen.set(row.id, index);
      // A catalogue that knows the model takes the place of what was found of it.
      if (shipped === undefined || row.provisional === undefined) merged.set(row.id, withShipped(row, shipped));
    } else {
      const message = `the model id "${row.id}" is already used by models[${earlier}]`;
      findings.problems.push({ at: `${at}.id`, message, suggestion: null });
    }
    for (const [place, host] of hostRows(row).entries()) {
      const hostIndex = row.provider === undefined ? place : place - 1;
      const hostAt = hostIndex < 0 ? at : `${at}.hosts[${hostIndex}]`;
      checkHost({ row, host, at: hostAt, known, configured: new Set(configured), providers, findings });
      if ((host.price ?? row.price) !== undefined) continue;
      const message = `${row.id} has no price, so no request is ever routed to it; a free model needs zeros`;
      findings.warnings.push({ at: hostAt, message, suggestion: null });
    }
  }
  const joined = joinHosts(merged);
  const terms = { setups: input.providers ?? [], shipped: new Set(builtin.models) };
  const { rows, problems } = withDeployments(merged, terms);
  findings.problems.push(...problems);
  return { rows: withProfiles(rows, terms.setups), joined };
}

interface HostCheck {
  readonly row: ModelRow;
  readonly host: HostRow;
  readonly at: string;
  readonly known: ReadonlySet<string>;
  readonly configured: ReadonlySet<string>;
  readonly providers: ReadonlyMap<string, Provider>;
  readonly findings: Findings;
}

function checkHost(check: HostCheck): void {
  const { row, host, at, known, configured, providers, findings } = check;
  if (!known.has(host.provider)) {
    findings.problems.push({
      at: `${at}.provider`,
      message: `there is no provider "${host.provider}"`,
      suggestion: nearest(host.provider, known),
    });
    return;
  }
  checkFormats(check);
  checkEndpoint(check);
  if (configured.has(host.provider) || isSandboxAlone(providers)) return;
  const where = hostRows(row).length === 1 ? "" : " there";
  findings.warnings.push({
    at: `${at}.provider`,
    message: `the provider ${host.provider} is not configured, so ${row.id} is not routable${where}`,
    suggestion: null,
  });
}

/** A model must be asked in a format that its provider speaks. */
function checkFormats({ row, host, at, providers, findings }: HostCheck): void {
  const provider = providers.get(host.provider);
  if (provider === undefined || host.formats === undefined || isSandboxAlone(providers)) return;
  const spoken = formatsOf({}, provider);
  const unknown = host.formats.filter((format) => !spoken.includes(format));
  if (unknown.length === 0 && host.formats.length > 0) return;
  const message = `the provider ${host.provider} speaks ${spoken.join(" and ")}, so ${row.id} can be asked in nothing else`;
  findings.problems.push({ at: `${at}.formats`, message, suggestion: null });
}

/** Requests to an endpoint other than chat are never converted, so the provider's usual format must have it. */
function checkEndpoint({ row, host, at, providers, findings }: HostCheck): void {
  const provider = providers.get(host.provider);
  const endpoint = endpointOf(row);
  if (provider === undefined || endpoint === null || isSandboxAlone(providers)) return;
  const [usual] = formatsOf(host, provider);
  const isThere = provider.hasEndpoints === true || provider.endpoints?.includes(endpoint) === true;
  if (isThere && usual === provider.format) return;
  const message = `the provider ${host.provider} has no endpoint for ${endpoint}: ${String(usual)} has none`;
  findings.problems.push({ at: `${at}.capabilities`, message, suggestion: null });
}

/**
 * Reports providers that no request can reach. An only provider is a problem, because nothing can be served then. Lists
 * of other kinds are read later.
 */
function reportUnreachable(models: Catalog["models"], providers: Catalog["providers"], findings: Findings): void {
  const report = providers.size === 1 ? findings.problems : findings.warnings;
  for (const provider of providers.values()) {
    const message = provider.hasDeployments === true ? unreachableBecause(models, provider) : null;
    if (message !== null) report.push({ at: `providers.${provider.id}`, message, suggestion: null });
  }
}

interface ModelsInput {
  readonly input: CatalogInput;
  readonly builtin: Builtin;
  readonly rows: ReadonlyMap<string, ModelRow>;
  readonly providers: ReadonlyMap<string, Provider>;
  readonly policies: Catalog["policies"];
}

function indexModels({ input, builtin, rows, providers, policies }: ModelsInput): ReadonlyMap<string, Model> {
  const setups = input.providers ?? [];
  const isSimulated = isSandboxAlone(providers);
  const dialects = new Map<string, DialectChanges | undefined>(builtin.providers.map((row) => [row.id, row.dialect]));
  for (const setup of setups) dialects.set(setup.provider.id, setup.dialect);
  const caches = cachesOf(builtin, providers);
  const searchFees = searchFeesOf(builtin, providers);
  const lists = { ...shippedChains(input, builtin), ...input.tiers };
  const models = new Map<string, Model>();
  for (const row of rows.values()) {
    const tier: Tier = row.tier ?? lowestListing(lists, row.id, (id) => rows.has(id)) ?? "STANDARD";
    const hosts = modelsFromRow(row, {
      ...{ tier, dialects, caches, policies, providers, searchFees },
      namedDialects: builtin.dialects,
    });
    models.set(row.id, modelOf(isSimulated ? hosts.slice(0, 1).map(simulated) : callableFirst(hosts, providers)));
  }
  return models;
}

/** The prompt cache of each provider: its vendor's, else its kind's. */
function cachesOf(
  builtin: Builtin,
  providers: ReadonlyMap<string, Provider>,
): ReadonlyMap<string, PromptCache | undefined> {
  const caches = new Map<string, PromptCache | undefined>();
  for (const { id, kind, cache } of builtin.providers) caches.set(id, cache ?? providerKind(kind).cache);
  for (const { id, kind, cache } of providers.values()) {
    const isVendor = builtin.providers.some((row) => row.id === id && row.kind === kind);
    if (!isVendor) caches.set(id, cache);
  }
  return caches;
}

/** The fee of each provider that runs searches: its vendor's, and its cloud's for those under names of their own. */
function searchFeesOf(builtin: Builtin, providers: ReadonlyMap<string, Provider>): ReadonlyMap<string, number> {
  const fees = new Map(Object.entries(builtin.searchFees).flatMap(feesByName));
  for (const { id, kind } of providers.values()) {
    const fee = fees.get(standInFor(kind) ?? "");
    if (fee !== undefined) fees.set(id, fee);
  }
  return fees;
}

/** A vendor's policy holds at its own addresses. Another one under its name may be a proxy. */
function policiesOf(builtin: Builtin, providers: ReadonlyMap<string, Provider>): Catalog["policies"] {
  // The sandbox sends nothing anywhere.
  const policies = new Map(isSandboxAlone(providers) ? [] : Object.entries(builtin.policies));
  for (const { id, baseUrl, addressing } of providers.values()) {
    const row = builtin.providers.find((vendor) => vendor.id === id);
    const isVendor = row !== undefined && [row, ...(row.otherAddresses ?? [])].some((own) => own.baseUrl === baseUrl);
    const known = addressing === "azure" ? builtin.policies[AZURE] : isVendor ? builtin.policies[id] : undefined;
    if (known === undefined) policies.delete(id);
    else policies.set(id, known);
  }
  return policies;
}

/** A model with these hosts; there is at least one. */
function modelOf(hosts: readonly HostedModel[]): Model {
  return { ...(hosts[0] as HostedModel), hosts };
}

function callableFirst(
  hosts: readonly HostedModel[],
  providers: ReadonlyMap<string, Provider>,
): readonly HostedModel[] {
  const isCallable = ({ price, provider }: HostedModel): boolean => price !== null && providers.has(provider);
  return [...hosts.filter(isCallable), ...hosts.filter((host) => !isCallable(host))];
}

/** The sandbox has every model in its own format and for ever, and caches nothing. */
function simulated({ formats: _, cache: __, retires: ___, ...model }: HostedModel): HostedModel {
  return { ...model, provider: SANDBOX_ID, host: SANDBOX_ID };
}

function shippedChains(input: CatalogInput, builtin: Builtin): ChainLists {
  return input.isBuiltinUsed === false ? {} : builtin.tiers.chains;
}

interface BaselineInput {
  readonly input: CatalogInput;
  readonly builtin: Builtin;
  readonly models: ReadonlyMap<string, Model>;
  readonly aliases: Catalog["aliases"];
  readonly findings: Findings;
}

function chooseBaseline({ input, builtin, models, aliases, findings }: BaselineInput): Model | null {
  const at = "routing.baseline";
  const written = input.baseline ?? null;
  const byRule = models.get(baselineOf(builtin.models)?.id ?? "");
  if (written === null) return byRule === undefined ? dearest(models) : atRegularPrice(provenHost(byRule));
  const model = findModel({ models, aliases }, written);
  if (model === undefined) {
    const suggestion = nearest(written, models.keys());
    findings.problems.push({ at, message: `there is no model "${written}" in the catalogue`, suggestion });
    return null;
  }
  if (model.price === null) {
    const message = `${written} has no price, so savings cannot be counted against it`;
    findings.problems.push({ at, message, suggestion: null });
    return null;
  }
  return model;
}

/** Savings are counted against a price that the catalogue has. */
function provenHost(model: Model): Model {
  const host = model.hosts.find(({ isProvisional }) => isProvisional !== true);
  return host === undefined ? model : { ...host, hosts: model.hosts };
}

/** A promotion ends, and savings against it would be too small. */
function atRegularPrice({ schedule, ...model }: Model): Model {
  return { ...model, price: schedule?.at(-1)?.card ?? model.price };
}

/** Returns the dearest model, which replaces a shipped baseline that the catalogue lacks. */
function dearest(models: ReadonlyMap<string, Model>): Model | null {
  let found: Model | null = null;
  for (const model of models.values()) {
    if (model.endpoint !== null || model.price === null || model.isProvisional) continue;
    if ((found?.price?.output ?? -1) < model.price.output) found = model;
  }
  return found;
}
