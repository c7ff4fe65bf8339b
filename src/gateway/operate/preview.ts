// What would be changed or left out of a request for the model it is routed to; nothing is sent.

import type { Decision } from "../../core/decision.ts";
import { GatewayError } from "../../core/errors.ts";
import type { Model } from "../../core/model.ts";
import type { ClientRequest } from "../../formats/format.ts";
import { withoutDebugFields } from "../../formats/service/routing-debug.ts";
import type { Services } from "../services.ts";

export interface PreviewedChanges {
  readonly droppedFields: readonly string[];
  /** In words: what was converted, what was left out, and why. */
  readonly conversions: readonly string[];
}

export function previewChanges(request: ClientRequest, decision: Decision, services: Services): PreviewedChanges {
  const model = services.catalog.models.get(decision.model) as Model;
  const { format } = services.registry.line(model.provider);
  const asked = { ...request, body: withoutDebugFields(request.body) };
  try {
    const { droppedFields, conversions = [] } = format.writeRequest({ request: asked, model, refusedFields: [] });
    return { droppedFields, conversions };
  } catch (error) {
    if (error instanceof GatewayError) return { droppedFields: [], conversions: [error.message] };
    throw error;
  }
}
