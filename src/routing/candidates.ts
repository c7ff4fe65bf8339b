// The models that were looked at for a chain, each with the reason why it was left out or is tried last.

import type { Catalog } from "../catalog/catalog.ts";
import type { Candidate, RoutingQuestion } from "../core/decision.ts";
import type { Model } from "../core/model.ts";
import { usableHosts } from "./hosts.ts";

/** Reasons by the ids of models. */
export type Removals = ReadonlyMap<string, string>;

interface CandidateInput {
  readonly question: Pick<RoutingQuestion, "restingModels">;
  readonly catalog: Catalog;
}

/** `restingBecause` is there only while the model is cooling down at all its hosts: decisions are kept by the million. */
export function candidateOf(
  model: Model,
  removedBecause: string | null,
  { question: { restingModels }, catalog }: CandidateInput,
): Candidate {
  const { id } = model;
  if (restingModels.size === 0) return { model: id, removedBecause };
  const isResting = usableHosts(model, catalog).every(({ hostKey }) => restingModels.has(hostKey));
  const restingBecause = isResting ? restingModels.get(model.hostKey) : undefined;
  return restingBecause === undefined ? { model: id, removedBecause } : { model: id, removedBecause, restingBecause };
}

/** The chain first, then everything that was considered for it. */
export function listCandidates(
  [chain, ...considered]: readonly [readonly Model[], ...(readonly Model[])[]],
  removed: Removals,
  input: CandidateInput,
): Candidate[] {
  const candidates = chain.map((model) => candidateOf(model, null, input));
  for (const models of considered) {
    for (const model of models) {
      if (candidates.some((candidate) => candidate.model === model.id)) continue;
      candidates.push(candidateOf(model, removed.get(model.id) ?? null, input));
    }
  }
  return candidates;
}
