// What a request cannot do without: each need knows which models meet it and says why one does not.
// CONTRACT 5.3.

import type { Catalog } from "../catalog/catalog.ts";
import { type ChatRequest, type ContentPart, hasImages } from "../core/chat.ts";
import type { Constraints, RoutingQuestion } from "../core/decision.ts";
import type { Capability, Model } from "../core/model.ts";

export interface Need {
  readonly name: string;
  isMetBy(model: Model): boolean;
  unmet(model: Model): string;
}

export interface NeedsInput {
  readonly question: RoutingQuestion;
  readonly catalog: Catalog;
  readonly inputTokens: number;
}

export function listNeeds({ question, catalog, inputTokens }: NeedsInput): readonly Need[] {
  const { chat, constraints } = question;
  const own = requestCapabilities(chat, catalog).map((capability) => capabilityNeed(capability, "no"));
  return [contextNeed(inputTokens), ...own, ...nativeNeeds(question, catalog), ...constraintNeeds(constraints)];
}

/** What the key's profile asks of any model, whatever the request. */
export function constraintNeeds(constraints: Constraints): readonly Need[] {
  const needs: Need[] = constraints.capabilities.map((capability) =>
    capabilityNeed(capability, "the profile requires what it lacks:"),
  );
  const { allowedModels, blockedModels } = constraints;
  if (allowedModels !== null) {
    needs.push({
      name: "a place among the profile's allowed models",
      isMetBy: (model) => allowedModels.includes(model.id),
      unmet: () => "not among the profile's allowed models",
    });
  }
  if (blockedModels.length > 0) {
    needs.push({
      name: "a model the profile does not block",
      isMetBy: (model) => !blockedModels.includes(model.id),
      unmet: () => "blocked by the profile",
    });
  }
  return needs;
}

function nativeNeeds({ nativeKind }: RoutingQuestion, { providers }: Catalog): readonly Need[] {
  if (nativeKind === undefined || nativeKind === null) return [];
  const { kind, because } = nativeKind;
  return [
    {
      name: `a provider of kind ${kind} (${because})`,
      isMetBy: (model) => providers.get(model.provider)?.kind === kind,
      unmet: () => `its provider is not of kind ${kind}: ${because}`,
    },
  ];
}

function contextNeed(inputTokens: number): Need {
  return {
    name: `a context window of ${inputTokens} tokens`,
    isMetBy: (model) => inputTokens <= model.context,
    unmet: (model) => `context window of ${model.context} tokens is too small for about ${inputTokens}`,
  };
}

function capabilityNeed(capability: Capability, because: string): Need {
  return {
    name: capability,
    isMetBy: (model) => model.capabilities.has(capability),
    unmet: () => `${because} ${capability}`,
  };
}

function requestCapabilities(chat: ChatRequest, catalog: Catalog): readonly Capability[] {
  const capabilities: Capability[] = [];
  if (hasImages(chat.messages)) capabilities.push("vision");
  if (chat.tools.length > 0) capabilities.push("tools");
  if (hasPart(chat, "input_audio") && isKnown("audio", catalog)) capabilities.push("audio");
  if (hasPart(chat, "file") && isKnown("files", catalog)) capabilities.push("files");
  return capabilities;
}

function hasPart(chat: ChatRequest, type: string): boolean {
  return chat.messages.some(
    ({ content }) => Array.isArray(content) && content.some((part: ContentPart) => part.type === type),
  );
}

// A catalogue that says nothing of a capability has not been asked about it: absence proves nothing then.
function isKnown(capability: Capability, catalog: Catalog): boolean {
  for (const model of catalog.models.values()) if (model.capabilities.has(capability)) return true;
  return false;
}
