// POST /api/replay and /api/profiles/replay: the newest requests of an account under a configuration, rules or chains that
// nobody has published yet. No provider is called and nothing is changed.

import { type Static, Type } from "typebox";
import { type Catalog, effortsTaken, isRoutable, type TierChain } from "../../catalog/catalog.ts";
import { type CatalogChains, effortRefused } from "../../catalog/chains.ts";
import { findModel } from "../../catalog/model-names.ts";
import { catalogAt } from "../../catalog/moment.ts";
import { CATEGORIES, type Constraints, NO_CONSTRAINTS } from "../../core/decision.ts";
import type { Model } from "../../core/model.ts";
import { formatUsd } from "../../core/money.ts";
import { type ChainEntry, readEntry } from "../../core/requests/effort.ts";
import type { PastRequest } from "../../core/requests/log.ts";
import { TIERS, type Tier, tierRank } from "../../core/tiers.ts";
import { invalid } from "../../formats/json/fields.ts";
import { type Policy, type Replayed, replay } from "../../routing/replay.ts";
import { ReplayedSessions } from "../../routing/sessions/replayed.ts";
import { drafted } from "../../versions/document.ts";
import {
  AnyObject,
  AnyText,
  Fraction,
  Integer,
  listed,
  named,
  nullable,
  type Shape,
  strict,
  TierName,
  Time,
} from "../openapi/schema.ts";
import * as TEXT from "../text.ts";
import { caughtUp } from "../v1/record.ts";
import { authorOf, documentOf } from "./configuration/exchange.ts";
import { account, accountOf, isoTime } from "./exchange.ts";
import { RulesSchema, readConstraints } from "./profiles.ts";
import { type ApiRoute, post } from "./route.ts";

/** Enough to see a tendency, few enough to be computed while somebody waits. */
const LIMIT_DEFAULT = 100;
const LIMIT_MAX = 500;
/** A change of everybody's configuration may look further back. */
const DRAFT_LIMIT_MAX = 5_000;
const REPLAY_MS_MAX = 1_500;
/** Four cuts make five tiers. */
const BOUNDS = TIERS.length - 1;
const closed = { additionalProperties: false };

function otherChains(minItems: 0 | 1, description: string) {
  const chain = Type.Optional(Type.Array(AnyText, minItems === 0 ? {} : { minItems }));
  return Type.Optional(Type.Object(Object.fromEntries(TIERS.map((tier) => [tier, chain])), { ...closed, description }));
}

/** Each part left out stays as it is configured. */
const PolicyBody = Type.Object(
  {
    bounds: Type.Optional(
      Type.Array(Fraction, {
        minItems: BOUNDS,
        maxItems: BOUNDS,
        description: "Where the score is cut into tiers, rising.",
      }),
    ),
    sureFrom: Type.Optional(
      Type.Number({ minimum: 0, maximum: 1, description: "A confidence below this counts as unsure." }),
    ),
    unsureTier: Type.Optional(Type.Enum([...TIERS], { description: "An unsure request is not placed below it." })),
    categoryFloors: Type.Optional(
      Type.Object(Object.fromEntries(CATEGORIES.map((name) => [name, Type.Optional(TierName)])), {
        ...closed,
        description: "Tiers that a category is never placed below.",
      }),
    ),
    chains: otherChains(
      1,
      "Other chains for some tiers: models in the order they are tried, each as `id` or `id@effort`. A chain for requests with tools stays where it was written.",
    ),
    chainsWithTools: otherChains(
      0,
      "Other chains for requests with tools. An empty list leaves the tier with one chain for all requests.",
    ),
  },
  {
    ...closed,
    description: "What may differ from how requests are routed now, beside the rules of a profile.",
  },
);

/** Rules are required, though they may be empty: a replay without a question is a mistake. */
const ReplayQuestionSchema = strict("ReplayQuestion", {
  profile: RulesSchema,
  policy: Type.Optional(PolicyBody),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: LIMIT_MAX, default: LIMIT_DEFAULT })),
});

/** Only what differs: `providers`, `models`, `tiers`, `tiersWithTools` and `routing` in the keys of the configuration. */
const DraftQuestionSchema = strict("DraftQuestion", {
  draft: AnyObject,
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: DRAFT_LIMIT_MAX, default: LIMIT_DEFAULT })),
});

/** Model that a request went to, with its tier and cost. */
const Side = Type.Object({ tier: listed(TIERS), model: AnyText, costUsd: nullable(AnyText) });
/** Only requests that would move are listed. */
const Change = Type.Object({
  requestId: AnyText,
  at: Time,
  before: Side,
  after: nullable(Side),
  refusedBecause: nullable(AnyText),
  because: Type.Array(AnyText, { description: "What led there, in words and in order." }),
});
/** Counts cover all requests that were replayed; `changes` lists the ones that move. */
export const ReplaySchema = named("Replay", {
  requests: Integer,
  changed: Integer,
  up: Integer,
  down: Integer,
  refused: Integer,
  costBeforeUsd: AnyText,
  costAfterUsd: AnyText,
  changes: Type.Array(Change),
});

export const REPLAY_ROUTES: readonly ApiRoute[] = [
  post("replayProfile", "/api/profiles/replay", {
    summary: "The newest requests of the account under these rules: what would change, and what it would have cost",
    access: "readRules",
    changesNothing: true,
    body: ReplayQuestionSchema,
    example: { profile: { tierFloor: "LIGHT" }, limit: 100 },
    response: ReplaySchema,
    async handle({ request, body }, { records, services: current, accounts }) {
      const { profile, policy: changes = {}, limit = LIMIT_DEFAULT } = body();
      const services = current();
      const constraints = readConstraints(profile, services.catalog);
      const accountId = await accountOf(request, { accounts });
      const toolCallsSeen = services.toolCallsSeen(accountId);
      const policy = { constraints, toolCallsSeen, ...readPolicy(changes, services.catalog) };
      await caughtUp(records);
      const past = await records.decisions.recent(accountId, limit);
      return writeReplay(await replayAll(past, () => policy));
    },
  }),
  post("replayConfiguration", "/api/replay", {
    summary:
      "The newest requests of the account under a draft of the configuration: what would change, and what it would have cost",
    access: "operator",
    parameters: [account],
    errors: [409, 422],
    changesNothing: true,
    body: DraftQuestionSchema,
    example: { draft: { tiers: { SIMPLE: ["gpt-4o-mini"] } }, limit: 500 },
    response: ReplaySchema,
    async handle({ request, body }, { records, services: current, accounts, profiles, versions, now }) {
      const { draft, limit = LIMIT_DEFAULT } = body();
      const change = documentOf(draft);
      const accountId = await accountOf(request, { accounts });
      const checked = await versions.draft((document) => drafted(document, change), authorOf(request));
      const { catalog } = catalogAt(checked.catalog, now());
      await caughtUp(records);
      const past = await records.decisions.recent(accountId, limit);
      const { catalog: inUse, toolCallsSeen } = current();
      return replayDraft(past, {
        ...{ catalog, inUse, toolCallsSeen: toolCallsSeen(accountId) },
        profileOf: (id) => profiles.get(accountId, id),
      });
    },
  }),
];

/** The catalogue of a draft and the one in use, and the profiles as they are now. */
interface DraftTerms extends Pick<Policy, "catalog" | "inUse" | "toolCallsSeen"> {
  readonly profileOf: (id: string) => Promise<{ readonly constraints: Constraints } | null>;
}

/** Past requests of one account under a draft of the configuration. */
export async function replayDraft(
  past: readonly PastRequest[],
  { profileOf, ...shared }: DraftTerms,
): Promise<Shape<typeof ReplaySchema>> {
  const ids = [...new Set(past.map(({ profileId }) => profileId))].filter((id) => id !== null);
  const found = await Promise.all(ids.map(async (id) => [id, (await profileOf(id))?.constraints] as const));
  const rules = new Map<string | null, Constraints | undefined>(found);
  const policyOf = ({ profileId }: PastRequest): Policy => ({
    ...shared,
    constraints: rules.get(profileId) ?? NO_CONSTRAINTS,
  });
  return writeReplay(await replayAll(past, policyOf));
}

/** Requests that are replayed between two looks at other work. */
const AT_ONCE = 50;

/** The oldest first, as conversations went. Other requests are served in between; after a while the rest is left out. */
async function replayAll(
  past: readonly PastRequest[],
  policyOf: (request: PastRequest) => Policy,
): Promise<readonly Replayed[]> {
  const untilMs = performance.now() + REPLAY_MS_MAX;
  const replayed: Replayed[] = [];
  const inOrder = [...past].reverse();
  const sessions = new ReplayedSessions();
  for (let at = 0; at < inOrder.length && performance.now() < untilMs; at += AT_ONCE) {
    for (const request of inOrder.slice(at, at + AT_ONCE)) {
      replayed.push(replay(request, policyOf(request), sessions));
    }
    await new Promise(setImmediate);
  }
  return replayed.reverse();
}

/** The catalogue of the policy: the real one with some chains exchanged. */
function readPolicy(body: Static<typeof PolicyBody>, catalog: Catalog): Omit<Policy, "constraints"> {
  const { bounds, sureFrom, categoryFloors, unsureTier = catalog.unsureTier } = body;
  if (bounds?.some((bound, at) => at > 0 && bound < (bounds[at - 1] ?? 0))) {
    throw invalid("policy.bounds", TEXT.boundsMustRise);
  }
  return {
    catalog: { ...catalog, unsureTier, ...withChains(body, catalog) },
    ...(bounds === undefined ? {} : { bounds }),
    ...(sureFrom === undefined ? {} : { sureFrom }),
    ...(categoryFloors === undefined ? {} : { categoryFloors }),
  };
}

type ChainTexts = Readonly<Record<string, readonly string[] | undefined>>;

/** Applies chains as publishing does: one counts with tools too, unless its tier has a written one for them. */
function withChains({ chains: written = {}, chainsWithTools = {} }: WrittenChains, catalog: Catalog): CatalogChains {
  const chains = { ...catalog.chains };
  const efforts = { ...catalog.efforts };
  const withTools = { ...catalog.withTools };
  const ownChains = new Set(catalog.ownChains);
  const ownToolChains = new Set(catalog.ownToolChains);
  for (const tier of TIERS) {
    const usual = readChain("chains", tier, { written, catalog });
    const tools = readChain("chainsWithTools", tier, { written: chainsWithTools, catalog });
    if (usual !== null) {
      chains[tier] = usual.models;
      efforts[tier] = usual.efforts;
      ownChains.add(tier);
    }
    if (tools !== null) ownToolChains.add(tier);
    if (tools !== null && tools.models.length > 0) withTools[tier] = tools;
    else if (tools !== null || (usual !== null && !ownToolChains.has(tier))) delete withTools[tier];
  }
  return { chains, efforts, withTools, ownChains, ownToolChains };
}

interface WrittenChains {
  readonly chains?: ChainTexts | undefined;
  readonly chainsWithTools?: ChainTexts | undefined;
}

/** Returns null for a chain that is not written. */
function readChain(
  section: keyof WrittenChains,
  tier: Tier,
  { written, catalog }: { readonly written: ChainTexts; readonly catalog: Catalog },
): TierChain | null {
  const entries = written[tier]?.map((entry) => readEntry(entry, (id) => findModel(catalog, id) !== undefined));
  if (entries === undefined) return null;
  const models = entries.map((entry) => routable(entry, `policy.${section}.${tier}`, catalog));
  const asked = entries.map(({ effort }, place) => [models[place]?.id, effort] as const);
  return { models, efforts: Object.fromEntries(asked.filter(([, effort]) => effort !== null)) };
}

/** A chain of models without a price could not be compared. */
function routable({ id, effort }: ChainEntry, at: string, catalog: Catalog): Model {
  const model = findModel(catalog, id);
  if (model === undefined || !isRoutable(catalog, model)) throw invalid(at, TEXT.noUsableModel(id));
  if (effort !== null && !effortsTaken(model).includes(effort)) throw invalid(at, `${effortRefused(model, effort)}.`);
  return model;
}

function writeReplay(pairs: readonly Replayed[]): Shape<typeof ReplaySchema> {
  const changed = pairs.filter(({ isChanged }) => isChanged);
  const moves = pairs.map(({ past, next }) => (next.state === "routed" ? moveOf(past.decision.tier, next.tier) : 0));
  // A request that nobody answered cost nothing, and one that would be refused would cost nothing.
  const before = pairs.reduce((sum, { past }) => sum + (past.answer?.charge ?? 0n), 0n);
  const after = pairs.reduce((sum, { next }) => sum + (next.state === "routed" ? (next.cost ?? 0n) : 0n), 0n);
  return {
    requests: pairs.length,
    changed: changed.length,
    up: moves.filter((move) => move > 0).length,
    down: moves.filter((move) => move < 0).length,
    refused: pairs.filter(({ next }) => next.state === "refused").length,
    costBeforeUsd: formatUsd(before),
    costAfterUsd: formatUsd(after),
    changes: changed.map(writeChange),
  };
}

/** 1 for up, -1 for down, 0 for the same tier. */
function moveOf(before: Tier, after: Tier): number {
  return Math.sign(tierRank(after) - tierRank(before));
}

function writeChange({ past, next, because }: Replayed): Shape<typeof Change> {
  const { requestId, atMs, decision, answer } = past;
  return {
    requestId,
    at: isoTime(atMs),
    before: { tier: decision.tier, model: decision.model, costUsd: usd(answer?.charge ?? null) },
    after: next.state === "refused" ? null : { tier: next.tier, model: next.model, costUsd: usd(next.cost) },
    refusedBecause: next.state === "refused" ? because.join("; ") : null,
    because,
  };
}

function usd(amount: bigint | null): string | null {
  return amount === null ? null : formatUsd(amount);
}
