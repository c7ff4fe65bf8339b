// Reads the `service_*` fields of a request into Controls. Their prefix marks them, so that no provider receives one.
// Behaviour 2.2.

import { type Controls, NO_CONTROLS } from "../../core/decision.ts";
import {
  LISTED_NAME,
  LISTED_NAMES_MAX,
  REQUEST_CONTROLS,
  type RequestControl,
  ROUTING_PROFILES,
} from "../../core/requests/controls.ts";
import type { Note } from "../../core/requests/notes.ts";
import {
  invalid,
  type JsonObject,
  readArray,
  readBoolean,
  readChoice,
  readInteger,
  readNumber,
  readString,
} from "../json/fields.ts";
import { isVendorTier } from "../provider/service-tier.ts";
import { readCascade } from "./cascade.ts";
import { isRoutingRule, readModels, readProviderRules } from "./openrouter.ts";

const CONTROL_PREFIX = "service_";
const KNOWN_FIELDS: ReadonlySet<string> = new Set(REQUEST_CONTROLS.map(({ field }) => field));
/** A name that a typo makes. Others may be anything and are not shown. */
const PLAIN_NAME = /^\w{1,40}$/;
const UNKNOWN_MAX = 5;

/** Asks for the router, in the menu of a client that shows no names without its vendor's own. */
export const AUTO_ALIAS = "claude-auto";

export function isAutoAlias(model: string): boolean {
  return model === AUTO_ALIAS;
}

/** The first of a list of models stands for one that is not named. */
function readModel(body: JsonObject): string | null {
  const named = readString(body, "model");
  const model = named === null || named === "" ? (readModels(body)[0] ?? named) : named;
  return model === AUTO_ALIAS ? "auto" : model;
}

/** Such fields are for the gateway and never leave it. */
export function isControlField(name: string, value?: unknown): boolean {
  return hasPrefix(name) || isRoutingRule(name, value);
}

function hasPrefix(name: string): boolean {
  return name.startsWith(CONTROL_PREFIX);
}

/** Throws what is wrong, by field. */
export function readControls(body: JsonObject): Controls {
  const own = readOwnControls(body);
  const fallbacks = readModels(body).filter((name) => name !== own.model);
  const controls = fallbacks.length === 0 ? own : { ...own, fallbacks };
  const rules = readProviderRules(body);
  if (rules === null) return controls;
  const unknown = [...(controls.unknown ?? []), ...(rules.unknown ?? [])];
  const hostOrder = controls.hostOrder ?? rules.hostOrder ?? null;
  return { ...controls, ...rules, hostOrder, ...(unknown.length === 0 ? {} : { unknown }) };
}

function readOwnControls(body: JsonObject): Controls {
  let isAsking = false;
  let hasUnknown = false;
  for (const name in body) {
    if (!hasPrefix(name)) continue;
    isAsking = true;
    hasUnknown ||= !KNOWN_FIELDS.has(name);
  }
  // Most requests set no control.
  if (!isAsking) return { ...NO_CONTROLS, model: readModel(body) };
  const controls = readAsked(body);
  return hasUnknown ? { ...controls, unknown: unknownIn(body) } : controls;
}

function readAsked(body: JsonObject): Controls {
  const profile = readChoice(body, "service_profile", ROUTING_PROFILES) ?? NO_CONTROLS.profile;
  const model = readModel(body);
  if (profile === "direct" && ["", "auto", AUTO_ALIAS].includes(readString(body, "model") ?? "")) {
    throw invalid("model", "The profile 'direct' needs a model id in 'model'; GET /v1/models lists them.");
  }
  const asked: Record<string, unknown> = { ...NO_CONTROLS, model };
  for (const row of REQUEST_CONTROLS) {
    const { name, field, takes, onlyWith = profile } = row;
    if (onlyWith !== profile) continue;
    const value = readValue(body, row);
    if (value !== null) asked[name] = value;
    else if (row.onlyWith !== undefined && takes.kind === "choice") {
      throw invalid(field, `The profile '${profile}' needs '${field}': one of ${takes.words.join(", ")}.`);
    }
  }
  return asked as unknown as Controls;
}

/** The controls that hold at every endpoint: where a request may go. */
export function readRequirements(body: JsonObject): Partial<Controls> {
  const read = REQUIREMENTS.map((row) => [row.name, readValue(body, row)] as const);
  const { unknown: _, ...rules } = readProviderRules(body) ?? {};
  return { ...Object.fromEntries(read.filter(([, value]) => value !== null)), ...rules };
}

const REQUIREMENTS = REQUEST_CONTROLS.filter(({ isRequirement }) => isRequirement);

function readValue(body: JsonObject, { field, takes }: RequestControl): unknown {
  switch (takes.kind) {
    case "choice":
      return readChoice(body, field, takes.words);
    case "quality":
      return readInteger(body, field, { min: 0, max: 2 });
    case "amount":
      return readNumber(body, field, { min: 0, max: takes.max });
    case "number":
      return takes.isWhole ? readInteger(body, field, takes) : readNumber(body, field, takes);
    case "text":
      return readText(body, field, takes.charsMax);
    case "cascade":
      return readCascade(body, field);
    case "switch":
      return readBoolean(body, field);
    case "names":
      return readNames(body, field);
  }
}

function readText(body: JsonObject, field: string, charsMax: number): string | null {
  const text = readString(body, field);
  if (text !== null && (text === "" || text.length > charsMax)) {
    throw invalid(field, `'${field}' must have 1 to ${charsMax} characters.`);
  }
  return text;
}

function readNames(body: JsonObject, field: string): readonly string[] | null {
  if ((body[field] ?? null) === null) return null;
  const names = readArray(body, field);
  const isName = (name: unknown): name is string => typeof name === "string" && LISTED_NAME.test(name);
  if (names.length > 0 && names.length <= LISTED_NAMES_MAX && names.every(isName)) return names;
  throw invalid(field, `'${field}' must be a list of 1 to ${LISTED_NAMES_MAX} names of letters, digits, - and _.`);
}

/** Notes on fields that look like controls and had no effect. */
export function controlNotes({ body, controls: { profile, unknown } }: RequestControls): readonly Note[] {
  const notes: Note[] = [];
  for (const { field, onlyWith } of CONDITIONAL) {
    if (onlyWith === profile || isVendorTier(body[field])) continue;
    const message = `Dropped '${field}': it counts only with 'service_profile' set to '${onlyWith}'.`;
    notes.push({ code: "option_dropped", message });
  }
  if (unknown === undefined) return notes;
  if (unknown.length === 0) notes.push(UNNAMED);
  for (const field of unknown) {
    notes.push({ code: "unknown_control", message: `Ignored '${field}': there is no such field.` });
  }
  return notes;
}

interface RequestControls {
  readonly body: JsonObject;
  readonly controls: Controls;
}

const CONDITIONAL = REQUEST_CONTROLS.filter(({ onlyWith }) => onlyWith !== undefined);

const UNNAMED: Note = {
  code: "unknown_control",
  message: `Ignored a field: its name begins with '${CONTROL_PREFIX}' and is not known.`,
};

function unknownIn(body: JsonObject): readonly string[] {
  const isUnknown = (name: string): boolean => hasPrefix(name) && !KNOWN_FIELDS.has(name);
  return Object.keys(body)
    .filter((name) => isUnknown(name) && PLAIN_NAME.test(name))
    .slice(0, UNKNOWN_MAX);
}
