// A preview of a request: what would be changed or dropped for the model that it is routed to. Nothing is sent.

import type { Decision } from "../../core/decision.ts";
import { GatewayError } from "../../core/errors.ts";
import type { HostedModel } from "../../core/model.ts";
import { type FormattedRequest, writeProviderRequest } from "../../formats/bridge.ts";
import { hostedModelsOf } from "../../routing/hosts.ts";
import type { Services } from "../services.ts";

export interface PreviewedChanges {
  readonly droppedFields: readonly string[];
  /** In words: what was converted, what was left out, and why. */
  readonly conversions: readonly string[];
}

export function previewChanges(asked: FormattedRequest, decision: Decision, services: Services): PreviewedChanges {
  const [model] = hostedModelsOf(decision, services.catalog) as [HostedModel];
  const provider = services.registry.connection(model.provider).formatFor(model, asked.format.name);
  try {
    const { droppedFields, conversions = [] } = writeProviderRequest(asked, provider, { model, refusedFields: [] });
    return { droppedFields, conversions: conversions.map(({ message }) => message) };
  } catch (error) {
    if (error instanceof GatewayError) return { droppedFields: [], conversions: [error.message] };
    throw error;
  }
}
