// Lines of batches that hosts run at a lower price. Their answers are charged later, like any other: by the run of the line.

import type { NativeHost } from "../../core/batches/batches.ts";
import { effortOf } from "../../core/decision.ts";
import { GatewayError } from "../../core/errors.ts";
import type { HostedModel } from "../../core/model.ts";
import type { RateCard } from "../../core/price.ts";
import type { Residency } from "../../core/requests/controls.ts";
import { writeProviderRequest } from "../../formats/bridge.ts";
import { BytePieces, inOnePiece } from "../../formats/json/byte-pieces.ts";
import { hostedModelsOf } from "../../routing/hosts.ts";
import { planCascadeOf, prepared, route } from "../complete.ts";
import { constraintsOf } from "../constraints.ts";
import type { Services } from "../services.ts";
import type { QuotedCall } from "./quote.ts";

/** A line as its host would get it. */
export interface Sendable {
  readonly host: NativeHost;
  readonly provider: string;
  readonly path: string;
  readonly body: string;
}

/** Returns null for a line that is better run by our own queue: no host runs it in a batch, or not for less. */
export function sendable(received: QuotedCall, services: Services): Sendable | null {
  const { format } = received;
  if (format.endpoint !== undefined) return null;
  try {
    const call = prepared(received, services);
    const { chat } = call.request;
    if (chat.serviceTier !== undefined || chat.ownSearches !== undefined || asksForNoRetention(call, services))
      return null;
    const decision = route(call, services);
    if (planCascadeOf(call, decision, services)?.state === "planned") return null;
    const model = hostedModelsOf(decision, services.catalog)[0] as HostedModel;
    const { provider, format: usual, formatFor } = services.registry.connection(model.provider);
    if (provider.hasBatches !== true || usual.batches === undefined || !isCheaper(model.price)) return null;
    const effort = effortOf(decision, model.id);
    const terms = { model, refusedFields: [], effort };
    const { path, body } = writeProviderRequest(
      { format, request: call.request },
      formatFor(model, format.name),
      terms,
    );
    if (!Buffer.isBuffer(body) && !(body instanceof BytePieces)) return null;
    const host = { model: model.id, host: model.host, price: model.price as RateCard };
    return { host, provider: model.provider, path, body: inOnePiece(body).toString("utf8") };
  } catch (error) {
    if (error instanceof GatewayError) return null;
    throw error;
  }
}

/** The vendor of a batch keeps its requests and answers until somebody deletes them. */
function asksForNoRetention({ request, caller }: QuotedCall, { catalog }: Services): boolean {
  return [request.controls, constraintsOf(caller, catalog)]
    .flatMap((scoped): readonly Residency[] => [scoped, ...(scoped.required ?? [])])
    .some(({ zeroRetention = false }) => zeroRetention);
}

function isCheaper(card: RateCard | null): boolean {
  const batch = card?.tiers?.batch;
  return card !== null && batch !== undefined && batch.input + batch.output < card.input + card.output;
}
