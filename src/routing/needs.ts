// Needs of a request: context window, capabilities, a format, and the demands of the key's profile. Each host of a
// model meets a need or does not. Requirements of regions, retention and providers are needs that nothing sets aside.
// Behaviour 5.3, 5.31.

import type { Catalog } from "../catalog/catalog.ts";
import { idsNamed } from "../catalog/model-names.ts";
import { type ChatRequest, partsOf } from "../core/chat.ts";
import type { Constraints, Controls, RoutingQuestion } from "../core/decision.ts";
import type { Capability, HostedModel, Model } from "../core/model.ts";
import type { Residency } from "../core/requests/controls.ts";
import { liesIn } from "../core/requests/regions.ts";
import { tokensAt } from "./cost.ts";
import { reserveHosts, usableHosts } from "./hosts.ts";
import { isAt, speaksFormat } from "./preference.ts";
import * as TEXT from "./text.ts";

/** Something a request cannot do without: it knows which models meet it and says why one does not. Behaviour 5.3. */
export interface Need {
  /** Only of a capability. */
  readonly capability?: Capability;
  /** The verb of a sentence about the models that meet it. */
  ability(): string;
  isMetBy(model: HostedModel): boolean;
  unmet(model: HostedModel): string;
}

export interface NeedsInput {
  readonly question: RoutingQuestion;
  readonly catalog: Catalog;
  readonly inputTokens: number;
}

export function listNeeds({ question, catalog, inputTokens }: NeedsInput): readonly Need[] {
  const { chat, constraints, controls } = question;
  const needs: Need[] = [new ContextNeed(inputTokens)];
  const parts = partTypes(chat);
  for (const capability of requestCapabilities(chat, parts, catalog)) {
    needs.push(capabilityNeed(capability, TEXT.lacks));
  }
  needs.push(...partNeeds(parts, question));
  needs.push(...nativeNeeds(question, catalog), ...constraintNeeds(constraints, catalog));
  needs.push(...scopedNeeds(controls, catalog));
  return needs;
}

/** Needs that the key's profile has for every request. */
export function constraintNeeds(constraints: Constraints, catalog: Catalog): readonly Need[] {
  const needs: Need[] = constraints.capabilities.map((capability) => capabilityNeed(capability, TEXT.lacksForProfile));
  const { allowedModels, blockedModels } = constraints;
  if (allowedModels !== null) {
    const allowed = idsNamed(catalog, allowedModels);
    needs.push({
      ability: () => TEXT.isAllowed,
      isMetBy: (model) => allowed.has(model.id),
      unmet: () => TEXT.notAllowed,
    });
  }
  if (blockedModels.length > 0) {
    const blocked = idsNamed(catalog, blockedModels);
    needs.push({
      ability: () => TEXT.isNotBlocked,
      isMetBy: (model) => !blocked.has(model.id),
      unmet: () => TEXT.blocked,
    });
  }
  needs.push(...scopedNeeds(constraints, catalog));
  return needs;
}

function nativeNeeds({ nativeFormat }: RoutingQuestion, catalog: Catalog): readonly Need[] {
  if (nativeFormat === undefined || nativeFormat === null) return [];
  const { format, because } = nativeFormat;
  return [
    {
      ability: () => TEXT.speaks(format, because),
      isMetBy: (model) => speaksFormat(model, format, catalog),
      unmet: () => TEXT.speaksOther(format, because),
    },
  ];
}

/** Every request has this need, and hardly any of them has to say so. */
class ContextNeed implements Need {
  readonly #inputTokens: number;

  constructor(inputTokens: number) {
    this.#inputTokens = inputTokens;
  }

  ability(): string {
    return TEXT.hasContext(this.#inputTokens);
  }

  isMetBy(model: HostedModel): boolean {
    return tokensAt(model, this.#inputTokens) <= model.context;
  }

  unmet(model: HostedModel): string {
    return TEXT.contextTooSmall(model.context, tokensAt(model, this.#inputTokens));
  }
}

function capabilityNeed(capability: Capability, lacks: (capability: Capability) => string): Need {
  return {
    capability,
    ability: () => TEXT.supports(capability),
    isMetBy: (model) => model.capabilities.has(capability),
    unmet: () => lacks(capability),
  };
}

/** The types of content parts in all messages. */
function partTypes({ messages }: ChatRequest): ReadonlySet<string> {
  const types = new Set<string>();
  for (const message of messages) for (const { type } of partsOf(message)) types.add(type);
  return types;
}

function requestCapabilities(chat: ChatRequest, parts: ReadonlySet<string>, catalog: Catalog): readonly Capability[] {
  const capabilities: Capability[] = [];
  if (parts.has("image_url")) capabilities.push("vision");
  if (chat.tools.length > 0) capabilities.push("tools");
  if (parts.has("input_audio")) capabilities.push("audio");
  if (parts.has("file") && isKnown("files", catalog)) capabilities.push("files");
  return capabilities;
}

/** Parts of these types can be written for every model, or have a capability of their own or are left out. */
const USUAL_PARTS: ReadonlySet<string> = new Set(["text", "refusal", "image_url", "thinking", "reasoning"]);

/** Content that a model cannot be sent is never left out: another model has to answer. */
function partNeeds(parts: ReadonlySet<string>, { takesPart }: RoutingQuestion): readonly Need[] {
  if (takesPart === undefined) return [];
  const unusual = [...parts].filter((type) => !USUAL_PARTS.has(type));
  return unusual.map((type) => ({
    ability: () => TEXT.takesContent(type),
    isMetBy: (model) => takesPart(model, type),
    unmet: () => TEXT.takesNoContent(type),
  }));
}

// A catalogue that says nothing of a capability has not been asked about it: absence proves nothing then.
function isKnown(capability: Capability, catalog: Catalog): boolean {
  for (const { hosts } of catalog.models.values()) {
    for (const { capabilities } of hosts) if (capabilities.has(capability)) return true;
  }
  return false;
}

function firstReason(needs: readonly Need[], model: HostedModel): string | null {
  for (const need of needs) if (!need.isMetBy(model)) return need.unmet(model);
  return null;
}

/** The needs that the first host lacks, in words; null when one of the hosts meets all needs. */
export function reasonAgainst(needs: readonly Need[], hosts: readonly HostedModel[]): string | null {
  let first: string | null = null;
  for (const host of hosts) {
    const reason = firstReason(needs, host);
    if (reason === null) return null;
    first ??= reason;
  }
  return first;
}

/** The same list when all of them meet the needs. */
export function ableHosts(needs: readonly Need[], hosts: readonly HostedModel[]): readonly HostedModel[] {
  return areAble(needs, hosts) ? hosts : hosts.filter((host) => firstReason(needs, host) === null);
}

/** The hosts of a model that meet the needs. Provisional ones are among them only where no proven one is. */
export function hostsMeeting(needs: readonly Need[], model: Model, catalog: Catalog): readonly HostedModel[] {
  const proven = ableHosts(needs, usableHosts(model, catalog));
  return proven.length > 0 ? proven : ableHosts(needs, reserveHosts(model, catalog));
}

/** Tells whether all hosts meet the needs. */
export function areAble(needs: readonly Need[], hosts: readonly HostedModel[]): boolean {
  for (const host of hosts) if (firstReason(needs, host) !== null) return false;
  return true;
}

/** Tells whether only the context window is too small, so that a host would take a shorter conversation. */
export function isOnlyTooLong(needs: readonly Need[], hosts: readonly HostedModel[]): boolean {
  const others = needs.filter((need) => !(need instanceof ContextNeed));
  return hosts.some((host) => firstReason(others, host) === null);
}

function isMetAnywhere(need: Need, { hosts }: Model): boolean {
  return hosts.some((host) => need.isMetBy(host));
}

interface MissingNeeds {
  /** Without its subject, such as "supports tools". */
  readonly sentence: string;
  readonly capabilities: readonly Capability[];
}

/**
 * The needs that none of these models meets. When each is met by some model, those that some host lacks, all of them at
 * once. Null without models.
 */
export function describeNeeds(needs: readonly Need[], models: readonly Model[]): MissingNeeds | null {
  if (models.length === 0) return null;
  const unmet = needs.filter((need) => !models.some((model) => isMetAnywhere(need, model)));
  const isObstacle = (need: Need): boolean => models.some(({ hosts }) => !hosts.every((host) => need.isMetBy(host)));
  const missing = unmet.length > 0 ? unmet : needs.filter(isObstacle);
  const abilities = missing.map((need) => need.ability());
  const sentence = unmet.length > 0 ? TEXT.anyOf(abilities) : TEXT.allAtOnce(abilities);
  return { sentence, capabilities: missing.flatMap(({ capability }) => capability ?? []) };
}

const NO_NEEDS: readonly Need[] = [];

/** Requirements with those of further scopes. */
export type Scoped = Residency & { readonly required?: readonly Residency[] };

export function scopedNeeds(scoped: Scoped, catalog: Pick<Catalog, "providers">): readonly Need[] {
  const own = residencyNeeds(scoped, catalog);
  const { required } = scoped;
  return required === undefined ? own : [...own, ...required.flatMap((each) => residencyNeeds(each, catalog))];
}

function residencyNeeds(required: Residency, catalog: Pick<Catalog, "providers">): readonly Need[] {
  const { regions = null, zeroRetention = false, providers = null, excludedProviders = null } = required;
  if (regions === null && !zeroRetention && providers === null && excludedProviders === null) return NO_NEEDS;
  // The sandbox stands for every vendor, and sends nothing anywhere.
  const isSandbox = ({ provider }: HostedModel): boolean => catalog.providers.get(provider)?.transport === "sandbox";
  return needsOf({ regions, zeroRetention, providers, excludedProviders }, catalog).map((need) => ({
    ...need,
    isMetBy: (host) => isSandbox(host) || need.isMetBy(host),
  }));
}

function needsOf(required: Required<Residency>, catalog: Pick<Catalog, "providers">): readonly Need[] {
  const { regions, zeroRetention, providers, excludedProviders } = required;
  const needs: Need[] = [];
  if (regions !== null) needs.push(regionNeed(regions));
  if (zeroRetention) needs.push(RETENTION_NEED);
  if (providers !== null) {
    needs.push({
      ability: () => TEXT.isAtProvider(providers),
      isMetBy: (model) => isAt(model, providers, catalog),
      unmet: ({ provider }) => TEXT.atOtherProvider(provider, providers),
    });
  }
  if (excludedProviders !== null) {
    needs.push({
      ability: () => TEXT.isNotAtProvider(excludedProviders),
      isMetBy: (model) => !isAt(model, excludedProviders, catalog),
      unmet: ({ provider }) => TEXT.atExcludedProvider(provider),
    });
  }
  return needs;
}

/** A host that may answer in several places must have all of them inside. One whose place is unknown has none. */
function regionNeed(places: readonly string[]): Need {
  const isInside = (region: string): boolean => places.some((place) => liesIn(region, place));
  return {
    ability: () => TEXT.answersIn(places),
    isMetBy: ({ regions = [] }) => regions.length > 0 && regions.every(isInside),
    unmet: ({ host, regions = [] }) => TEXT.answersElsewhere(host, regions, places),
  };
}

const RETENTION_NEED: Need = {
  ability: () => TEXT.keepsNothing,
  isMetBy: ({ zeroRetention }) => zeroRetention === true,
  unmet: ({ host }) => TEXT.mayKeep(host),
};

/** Only the controls that are requirements, which a second answer to a request must keep to as well. */
export function residencyOf({ regions, zeroRetention, providers, excludedProviders, required }: Controls) {
  return { regions, zeroRetention, providers, excludedProviders, ...(required === undefined ? {} : { required }) };
}

/** A host that does not meet what profile and request require, with the reason. */
export interface LeftOutHost {
  readonly model: string;
  readonly host: string;
  readonly because: string;
}

/** The hosts of these models that the requirements leave out. */
export function leftOutHosts(
  models: readonly string[],
  required: readonly Scoped[],
  catalog: Catalog,
): readonly LeftOutHost[] {
  const needs = required.flatMap((each) => scopedNeeds(each, catalog));
  if (needs.length === 0) return [];
  return models.flatMap((id) => {
    const model = catalog.models.get(id);
    const hosts = model === undefined ? [] : usableHosts(model, catalog);
    return hosts.flatMap((host) => {
      const unmet = needs.find((need) => !need.isMetBy(host));
      return unmet === undefined ? [] : [{ model: id, host: host.host, because: unmet.unmet(host) }];
    });
  });
}
