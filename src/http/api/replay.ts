// /api/profiles/replay: the newest requests of an account under rules that nobody has saved yet. Nothing is called and
// nothing is changed.

import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import type { PastRequest } from "../../core/decision-log.ts";
import { formatUsd } from "../../core/money.ts";
import { type Tier, tierRank } from "../../core/tiers.ts";
import { type Rerouted, reroute } from "../../routing/reroute.ts";
import type { Edge } from "../edge.ts";
import { caughtUp } from "./caught-up.ts";
import { ConstraintsBody, readConstraints } from "./profiles.ts";
import { accountOf, bodyReader, isoTime } from "./request.ts";

const LIMIT_DEFAULT = 100;
const LIMIT_MAX = 500;

const Question = Type.Object(
  { profile: ConstraintsBody, limit: Type.Optional(Type.Integer({ minimum: 1, maximum: LIMIT_MAX })) },
  { additionalProperties: false },
);

export function registerReplay(api: FastifyInstance, { records, services, accounts }: Edge): void {
  const readQuestion = bodyReader(Question);
  api.post("/api/profiles/replay", async (request) => {
    const { profile, limit = LIMIT_DEFAULT } = readQuestion(request);
    const constraints = readConstraints(profile, services.catalog);
    const account = await accountOf(request, { accounts });
    await caughtUp(records);
    const past = await records.decisions.recent(account, limit);
    return writeReplay(past.map((each) => ({ past: each, next: reroute(each, constraints, services.catalog) })));
  });
}

interface Pair {
  readonly past: PastRequest;
  readonly next: Rerouted;
}

function writeReplay(pairs: readonly Pair[]): object {
  const changed = pairs.filter(isChanged);
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

function isChanged({ past: { decision }, next }: Pair): boolean {
  return next.state === "refused" || next.tier !== decision.tier || next.model !== decision.model;
}

function moveOf(before: Tier, after: Tier): number {
  return Math.sign(tierRank(after) - tierRank(before));
}

function writeChange({ past: { requestId, atMs, decision, answer }, next }: Pair): object {
  return {
    requestId,
    at: isoTime(atMs),
    before: { tier: decision.tier, model: decision.model, costUsd: usd(answer?.charge ?? null) },
    after: next.state === "refused" ? null : { tier: next.tier, model: next.model, costUsd: usd(next.cost) },
    refusedBecause: next.state === "refused" ? next.because : null,
  };
}

function usd(amount: bigint | null): string | null {
  return amount === null ? null : formatUsd(amount);
}
