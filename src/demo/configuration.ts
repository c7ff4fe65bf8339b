// The configuration of the demo: vendors that ship, all of them answered by the sandbox, and the history of how they were
// connected. It is a run-time configuration like any other, so a visitor can change it.

import { createHash } from "node:crypto";
import { type Builtin, readBuiltin } from "../catalog/builtin.ts";
import type { Catalog } from "../catalog/catalog.ts";
import { listedVendor } from "../catalog/prices/diff.ts";
import { FEEDS } from "../catalog/prices/feeds.ts";
import { providerKind } from "../catalog/provider-kinds.ts";
import { hostRows } from "../catalog/rows.ts";
import { load } from "../config/load.ts";
import type { Configuration, Settings } from "../config/settings.ts";
import type { Db } from "../core/db.ts";
import type { HostedModel, Provider } from "../core/model.ts";
import { type ConfigVersion, isJsonMap, type JsonMap, type Overlay } from "../core/overlay.ts";
import type { RateCard } from "../core/price.ts";
import { createPriceCheckStore } from "../store/versions/price-checks.ts";
import { createVersionStore } from "../store/versions/versions.ts";
import { type SecretSealer, sealDocument } from "../versions/secrets.ts";

const SANDBOX = providerKind("sandbox");
/** Everything that was generated stays. */
const KEPT_DAYS = 3_650;
const HOUR_MS = 60 * 60 * 1000;
const DAY_MS = 24 * HOUR_MS;
const LOGGING = { content: true };

/** Vendors with a model in a chain that ships. The others are left for visitors to connect. */
function demoVendors({ providers, models, tiers }: Builtin): readonly string[] {
  const chained = new Set(Object.values(tiers.chains).flat());
  const hosts = models.filter(({ id }) => chained.has(id)).flatMap((row) => hostRows(row).map((host) => host.provider));
  return providers.map(({ id }) => id).filter((id) => hosts.includes(id));
}

/** The kind keeps a server without --demo from calling the vendors with invented keys. */
function connected(ids: readonly string[]): JsonMap {
  return Object.fromEntries(ids.map((id) => [id, { kind: SANDBOX.kind, apiKeys: [keyOf(id)] }]));
}

function keyOf(id: string): string {
  return `sk-demo-${createHash("sha256").update(id).digest("hex").slice(0, 24)}`;
}

/** The whole configuration as it is when a visitor comes. */
function demoDocument(): Overlay {
  return { providers: connected(demoVendors(readBuiltin())), logging: LOGGING };
}

/** Checks documents as a server without a file would, and lets the sandbox answer for every provider. */
function demoConfiguration(): Configuration {
  const loaded = load({ flags: {}, env: {}, cwd: "/", file: null });
  if (!loaded.ok)
    throw new Error(`the configuration of the demo cannot be checked: ${JSON.stringify(loaded.problems)}`);
  const { configuration } = loaded.settings;
  return {
    locks: [],
    check(overlay) {
      const checked = configuration.check(asVendors(overlay));
      if (!checked.ok) return checked;
      const logging = { ...checked.logging, retentionDays: KEPT_DAYS };
      return { ...checked, catalog: simulated(checked.catalog), logging };
    },
    provider(overlay, id) {
      const provider = configuration.provider(asVendors(overlay), id);
      return provider === null ? null : simulatedProvider(provider);
    },
  };
}

/** The catalogue that visitors and the generated traffic have. */
export function demoCatalog(configuration: Configuration = demoConfiguration()): Catalog {
  const checked = configuration.check(demoDocument());
  if (!checked.ok) throw new Error(`the demo's catalogue cannot be built: ${JSON.stringify(checked.problems)}`);
  return checked.catalog;
}

/** Settings with the demo's configuration. What a visitor publishes later follows the server's own options. */
export function demoSettings(settings: Settings): Settings {
  const checks = demoConfiguration();
  const own = new Map(settings.options.map((option) => [option.name, option]));
  const configuration: Configuration = {
    ...checks,
    check(overlay) {
      const checked = checks.check(overlay);
      if (!checked.ok) return checked;
      const options = checked.options.map((each) => (each.origin === "version" ? each : (own.get(each.name) ?? each)));
      const logging = { ...settings.logging, ...checked.logging };
      return { ...checked, options, logging: { ...logging, logLevel: settings.logging.logLevel } };
    },
  };
  const logging = { ...settings.logging, logContent: true, retentionDays: KEPT_DAYS };
  return { ...settings, catalog: demoCatalog(checks), configuration, redis: null, logging };
}

/** A vendor of the sandbox's kind has the vendor's own address, cache and models. */
function asVendors(overlay: Overlay): Overlay {
  const { providers } = overlay;
  if (!isJsonMap(providers)) return overlay;
  const vendors = new Set(readBuiltin().providers.map(({ id }) => id));
  const entries = Object.entries(providers).map(([id, entry]) => {
    if (!isJsonMap(entry) || entry.kind !== SANDBOX.kind || !vendors.has(id)) return [id, entry] as const;
    const { kind: _, ...fields } = entry;
    return [
      id,
      fields.apiKey === undefined && fields.apiKeys === undefined ? { ...fields, apiKey: "demo" } : fields,
    ] as const;
  });
  return { ...overlay, providers: Object.fromEntries(entries) };
}

function simulated(catalog: Catalog): Catalog {
  const providers = [...catalog.providers.values()].map(
    (provider) => [provider.id, simulatedProvider(provider)] as const,
  );
  return { ...catalog, providers: new Map(providers) };
}

/** Keeps what people see of a provider; calls go to the sandbox, which speaks one format. */
function simulatedProvider({ formats: _, furtherFormats: __, addressing: ___, ...provider }: Provider): Provider {
  const { format, auth, framing, transport } = SANDBOX;
  return { ...provider, format, auth, framing, transport, hasEndpoints: true };
}

const [ADMIN, COLLEAGUE] = ["ada@example.com", "grace@example.com"];

interface HistoryTerms {
  readonly days: number;
  readonly nowMs: number;
  /** Sealer of the keys; null where none can be kept. Then there are none. */
  readonly sealer: SecretSealer | null;
}

/** Writes the history and a price check where nobody has changed anything yet. */
export async function writeConfiguration(db: Db, terms: HistoryTerms): Promise<void> {
  const store = createVersionStore(db);
  if ((await store.newest()) > 0) return;
  for (const [index, version] of (await history(terms)).entries())
    await store.insert({ number: index + 1, ...version });
  await writePriceCheck(db, terms.nowMs);
}

/** Ends with the providers and chains that the traffic was decided with. */
async function history(terms: HistoryTerms): Promise<readonly Omit<ConfigVersion, "number">[]> {
  const { days, nowMs } = terms;
  const builtin = readBuiltin();
  const vendors = demoVendors(builtin);
  const [startMs, laterMs] = [nowMs - days * DAY_MS, nowMs - days * 0.9 * DAY_MS];
  const first = await connectedBy(vendors.slice(0, 2), { ...terms, setBy: ADMIN, atMs: startMs });
  const others = await connectedBy(vendors.slice(2), { ...terms, setBy: COLLEAGUE, atMs: laterMs });
  const [usual = "", second = "", ...rest] = builtin.tiers.chains.LIGHT ?? [];
  const whole = { providers: { ...first, ...others }, logging: LOGGING };
  const swapped = { ...whole, tiers: { LIGHT: [second, usual, ...rest] } };
  const by = (author: string, atMs: number, note: string, document: Overlay) => ({
    ...{ author, atMs: Math.round(atMs), note, document },
  });
  return [
    by(ADMIN, startMs, "", { providers: first }),
    by(ADMIN, startMs + HOUR_MS, "Keep prompts while we try it out", { providers: first, logging: LOGGING }),
    by(COLLEAGUE, laterMs, "Fallbacks for every tier", whole),
    by(COLLEAGUE, nowMs - days * 0.15 * DAY_MS, `${second} first`, swapped),
    by(ADMIN, nowMs - days * 0.13 * DAY_MS, "Roll back to version 3", whole),
  ];
}

interface ConnectTerms extends Pick<HistoryTerms, "sealer"> {
  readonly setBy: string;
  readonly atMs: number;
}

/** Entries of vendors, with sealed keys. */
async function connectedBy(ids: readonly string[], { sealer, setBy, atMs }: ConnectTerms): Promise<JsonMap> {
  if (sealer === null) return Object.fromEntries(ids.map((id) => [id, { kind: SANDBOX.kind }]));
  const document = await sealDocument({ providers: connected(ids) }, { previous: {}, setBy, nowMs: atMs, sealer });
  return document.providers as JsonMap;
}

const CHECKED_AGO_MS = 3 * HOUR_MS;
/** Factors of the prices that the list has of the first models of some chains. */
const CHANGES = [0.9, 1.25, 0.75];

/** A list that is three hours old: a few prices changed, and a provider offers models that nobody has priced. */
async function writePriceCheck(db: Db, nowMs: number): Promise<void> {
  const { models, providers, chains } = demoCatalog();
  const hosts = [...models.values()].flatMap((model) => model.hosts).filter(({ provider }) => providers.has(provider));
  const changed = [chains.SIMPLE, chains.STANDARD, chains.COMPLEX].map((chain) => chain[0]?.hostKey);
  const rows = hosts.flatMap((host) => {
    const factor = CHANGES[changed.indexOf(host.hostKey)] ?? 1;
    return host.price === null ? [] : [listed(host, times(host.price, factor))];
  });
  const offeredBy = [...providers.keys()].at(-1) ?? "";
  await createPriceCheckStore(db).write({
    atMs: nowMs - CHECKED_AGO_MS,
    feeds: (["litellm", "genai"] as const).map((feed) => ({
      ...{ feed, source: FEEDS[feed].url, readAtMs: nowMs - CHECKED_AGO_MS, changedAtMs: nowMs - CHECKED_AGO_MS },
      ...{ digest: "", problem: null, etag: null, modified: null },
      ...{
        vendors: [],
        rows: feed === "litellm" ? rows : rows.filter((_, place) => place % 3 > 0),
        refused: [],
        lost: [],
      },
    })),
    adopted: {},
    offered: {
      [offeredBy]: [
        { id: "example/chat-small", price: { input: 50_000, output: 200_000 }, context: 131_072 },
        { id: "example/chat-large", price: null, context: 262_144 },
      ],
    },
  });
}

function listed({ provider, upstream, context, maxOutput, capabilities }: HostedModel, price: RateCard) {
  const vendor = listedVendor(provider);
  return { upstream, vendor, price, context, maxOutput, capabilities: [...capabilities] };
}

function times(price: RateCard, factor: number): RateCard {
  if (factor === 1) return price;
  const { input, output } = price;
  return { ...price, input: Math.round(input * factor), output: Math.round(output * factor) };
}
