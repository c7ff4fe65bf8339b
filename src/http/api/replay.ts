// /api/profiles/replay: the newest requests of an account under rules and chains that nobody has saved yet. Nothing is
// called and nothing is changed.

import type { FastifyInstance } from "fastify";
import { type Static, Type } from "typebox";
import { type Catalog, isRoutable } from "../../catalog/catalog.ts";
import { CATEGORIES } from "../../core/decision.ts";
import type { Model } from "../../core/model.ts";
import { formatUsd } from "../../core/money.ts";
import { TIERS, type Tier, tierRank } from "../../core/tiers.ts";
import { invalid } from "../../formats/wire/fields.ts";
import { type Policy, type Replayed, replay } from "../../routing/replay.ts";
import type { Edge } from "../context.ts";
import { ConstraintsBody, readConstraints } from "./profiles.ts";
import { accountOf, bodyReader, isoTime } from "./requests/one.ts";
import { caughtUp } from "./requests/pending-writes.ts";

const LIMIT_DEFAULT = 100;
const LIMIT_MAX = 500;

const Bound = Type.Number({ minimum: 0, maximum: 1 });
const TierName = Type.Enum([...TIERS]);

/** What may differ from how requests are routed now, beside the rules of a profile. */
const PolicyBody = Type.Object(
  {
    bounds: Type.Optional(Type.Array(Bound, { minItems: TIERS.length - 1, maxItems: TIERS.length - 1 })),
    sureFrom: Type.Optional(Bound),
    unsureTier: Type.Optional(TierName),
    categoryFloors: Type.Optional(
      Type.Object(Object.fromEntries(CATEGORIES.map((name) => [name, Type.Optional(TierName)])), {
        additionalProperties: false,
      }),
    ),
    chains: Type.Optional(
      Type.Object(
        Object.fromEntries(TIERS.map((tier) => [tier, Type.Optional(Type.Array(Type.String(), { minItems: 1 }))])),
        { additionalProperties: false },
      ),
    ),
  },
  { additionalProperties: false },
);

const Question = Type.Object(
  {
    profile: ConstraintsBody,
    policy: Type.Optional(PolicyBody),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: LIMIT_MAX })),
  },
  { additionalProperties: false },
);

export function registerReplay(api: FastifyInstance, { records, services, accounts }: Edge): void {
  const readQuestion = bodyReader(Question);
  api.post("/api/profiles/replay", async (request) => {
    const { profile, policy: changes = {}, limit = LIMIT_DEFAULT } = readQuestion(request);
    const constraints = readConstraints(profile, services.catalog);
    const account = await accountOf(request, { accounts });
    const toolCallsSeen = services.toolCallsSeen(account);
    const policy = { constraints, toolCallsSeen, ...readPolicy(changes, services.catalog) };
    await caughtUp(records);
    const past = await records.decisions.recent(account, limit);
    return writeReplay(past.map((each) => replay(each, policy)));
  });
}

function readPolicy(body: Static<typeof PolicyBody>, catalog: Catalog): Omit<Policy, "constraints"> {
  const { bounds, sureFrom, categoryFloors, unsureTier = catalog.unsureTier } = body;
  if (bounds?.some((bound, at) => at > 0 && bound < (bounds[at - 1] ?? 0))) {
    throw invalid("policy.bounds", "The bounds must rise.");
  }
  const written = Object.entries(body.chains ?? {}).map(([tier, ids]) => [
    tier,
    (ids ?? []).map((id) => routable(id, tier, catalog)),
  ]);
  return {
    catalog: { ...catalog, unsureTier, chains: { ...catalog.chains, ...Object.fromEntries(written) } },
    ...(bounds === undefined ? {} : { bounds }),
    ...(sureFrom === undefined ? {} : { sureFrom }),
    ...(categoryFloors === undefined ? {} : { categoryFloors }),
  };
}

function routable(id: string, tier: string, catalog: Catalog): Model {
  const model = catalog.models.get(id);
  if (model !== undefined && isRoutable(catalog, model)) return model;
  throw invalid(`policy.chains.${tier}`, `There is no model '${id}' that requests can be routed to.`);
}

function writeReplay(pairs: readonly Replayed[]): object {
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

function moveOf(before: Tier, after: Tier): number {
  return Math.sign(tierRank(after) - tierRank(before));
}

function writeChange({ past: { requestId, atMs, decision, answer }, next, because }: Replayed): object {
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
