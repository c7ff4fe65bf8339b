// Tests a provider with one tiny real request, through the same code as any other and with a short timeout. Nothing is
// charged or recorded. The provider's key is removed from everything that the provider
// says.

import { type Catalog, isRoutable } from "../../catalog/catalog.ts";
import type { HostedModel, Provider } from "../../core/model.ts";
import { costNano, formatUsd } from "../../core/money.ts";
import { priceOf } from "../../core/price.ts";
import { parseBody } from "../../formats/json/parse.ts";
import { USUAL } from "../../formats/registry.ts";
import type { FoundModel } from "../../providers/local/servers.ts";
import type { Reached, TriedModel } from "../attempt/try-model.ts";
import { unwatchedTry } from "../attempt/unwatched-try.ts";
import type { Failure } from "../attempt/verdict.ts";
import type { Services } from "../services.ts";
import * as TEXT from "../text.ts";
import { describeListed } from "./describe-listed.ts";
import { type Listing, listModels } from "./list-models.ts";
import { adviseOn } from "./probe-advice.ts";

export interface Probed {
  readonly ok: boolean;
  /** The model that was asked; null when the provider has none that could be. */
  readonly model: string | null;
  /** Key of the host that was asked, for health; null like the model. */
  readonly hostKey: string | null;
  /** The provider's own status, when it answered at all and not with a success. */
  readonly status: number | null;
  readonly durationMs: number;
  /** The provider's bill for the answer, by its count and its price; null where either is unknown. */
  readonly costUsd: string | null;
  /** A problem with its remedy; null when nothing is wrong. */
  readonly problem: string | null;
  readonly fix: string | null;
  /** Models that the provider lists; null where the provider was not asked, or has no list. */
  readonly models: readonly FoundModel[] | null;
}

export interface Probe {
  readonly provider: Provider;
  /** The model to probe; null for the provider's cheapest. */
  readonly model: HostedModel | null;
  /** Aborted when the caller has disconnected. */
  readonly signal?: AbortSignal;
  readonly patienceMs?: number;
}

/** Long enough for a model that is woken up, short enough for somebody who waits for it. */
const PATIENCE_MS = 15_000;
/** The least that every provider takes; some refuse less. */
const OUTPUT_TOKENS = 16;
const QUESTION = {
  model: "auto",
  messages: [{ role: "user", content: TEXT.question }],
  [USUAL.outputCapField]: OUTPUT_TOKENS,
};

export interface ProbeServices extends Pick<Services, "registry" | "now"> {
  /** The catalogue to pick a model from; null where the provider's models are not known, so that its list is asked for. */
  readonly catalog: Catalog | null;
}

export async function probe(wanted: Probe, services: ProbeServices): Promise<Probed> {
  const { provider, patienceMs = PATIENCE_MS } = wanted;
  const { catalog } = services;
  if (catalog === null) return listed(await listModels(provider, { ...services, patienceMs }));
  const model = wanted.model ?? cheapestOf(catalog, provider);
  if (model === null) return { ...NOTHING, ...withoutModel(provider) };
  const timeout = AbortSignal.timeout(patienceMs);
  const signal = wanted.signal === undefined ? timeout : AbortSignal.any([timeout, wanted.signal]);
  const startedAtMs = services.now();
  const tried = await ask(model, signal, services);
  const durationMs = services.now() - startedAtMs;
  const isBilled = provider.transport !== "sandbox";
  if (tried.ok)
    return {
      ...NOTHING,
      ok: true,
      model: model.id,
      hostKey: model.hostKey,
      durationMs,
      costUsd: isBilled ? costOf(tried.answer, model) : null,
    };
  const failure = timeout.aborted ? outOfPatience(tried.failure, patienceMs) : tried.failure;
  const advice = adviseOn(failure, { provider, model });
  return { ...NOTHING, model: model.id, hostKey: model.hostKey, status: failure.status, durationMs, ...advice };
}

/** The catalogue to test a draft with: none where it has no model that could be asked, so that its list is asked for. */
export function draftCatalog({ id, baseUrl }: Provider, catalog: Catalog | null): Catalog | null {
  // The sandbox under its own name has no address to ask.
  if (catalog === null || baseUrl === "") return catalog;
  const hosts = [...catalog.models.values()].flatMap((model) => model.hosts);
  return hosts.some((host) => host.provider === id && isRoutable(catalog, host)) ? catalog : null;
}

const NOTHING = {
  model: null,
  hostKey: null,
  ok: false,
  status: null,
  durationMs: 0,
  costUsd: null,
  problem: null,
  fix: null,
  models: null,
};

/** Without a markup: it is the operator's own bill. */
function costOf({ whole }: Reached, { price }: HostedModel): string | null {
  const usage = whole?.usage ?? null;
  return usage === null || price === null ? null : formatUsd(costNano(usage.buckets, priceOf(price, usage), 0));
}

/** Picks the cheapest model that can be routed to, which the operator has therefore priced. */
function cheapestOf(catalog: Catalog, { id }: Provider): HostedModel | null {
  const own = [...catalog.models.values()].flatMap(({ hosts }) => hosts).filter((model) => model.provider === id);
  const priceOf = ({ price }: HostedModel): number => Number(price?.input ?? 0) + Number(price?.output ?? 0);
  return own
    .filter((model) => isRoutable(catalog, model))
    .reduce<HostedModel | null>(
      (best, model) => (best === null || priceOf(model) < priceOf(best) ? model : best),
      null,
    );
}

/** The call is free, and shows address and key to be right as well. */
async function listed(listing: Listing): Promise<Probed> {
  const { provider, problem, fix, durationMs } = listing;
  const models = problem === null ? await describeListed(listing) : null;
  const isLost = problem === null && models === null && provider.hasDeployments !== true;
  const advice = isLost ? withoutList(provider) : { problem, fix };
  return { ...NOTHING, ok: advice.problem === null, durationMs, ...advice, models };
}

/** Most servers have a list, so the address is likely wrong. */
function withoutList({ id, baseUrl }: Provider): Pick<Probed, "problem" | "fix"> {
  const { host, pathname } = new URL(baseUrl);
  return {
    problem: TEXT.listsNoModels(id, `${host}${pathname === "/" ? "" : pathname}`),
    fix: TEXT.checkListAddress,
  };
}

function withoutModel({ id }: Provider): Pick<Probed, "problem" | "fix"> {
  return {
    problem: TEXT.noPricedModel(id),
    fix: TEXT.addPricedModel(id),
  };
}

function ask(model: HostedModel, signal: AbortSignal, services: ProbeServices): Promise<TriedModel> {
  const { source, body } = parseBody(Buffer.from(JSON.stringify(QUESTION)));
  const call = { format: USUAL, request: USUAL.readRequest(source, body), signal };
  return unwatchedTry({ call, model, outputCap: null, beginsByMs: Number.POSITIVE_INFINITY }, services);
}

function outOfPatience(failure: Failure, patienceMs: number): Failure {
  return { ...failure, kind: "timeout", message: TEXT.noAnswerWithin(patienceMs) };
}
