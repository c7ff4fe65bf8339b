// Reads the `service_*` fields of a request into Controls. Their prefix marks them, so that no provider receives one.
// Behaviour 2.2.

import { type Controls, HOST_ORDERS, type Quality, ROUTING_PROFILES } from "../../core/decision.ts";
import { ESCALATIONS } from "../../core/session.ts";
import { TIERS } from "../../core/tiers.ts";
import { invalid, type JsonObject, readChoice, readInteger, readNumber, readString } from "../json/fields.ts";

const CONTROL_PREFIX = "service_";
const CONTROL_FIELDS: ReadonlySet<string> = new Set([
  ...["service_profile", "service_tier", "service_tier_floor", "service_tier_ceiling", "service_max_cost"],
  ...["service_bfcl_min", "service_code_quality", "service_chat_quality", "service_host_order", "service_session"],
  "service_escalate",
]);
/** A name that a typo makes. Others may be anything and are not shown. */
const PLAIN_NAME = /^\w{1,40}$/;
const UNKNOWN_MAX = 5;
/** Above 100 no model qualifies, and the filter is set aside like any other that leaves none. */
export const SCORE_MAX = 1_000_000;
/** No request costs more; a larger number is a mistake. */
export const COST_USD_MAX = 1e9;

/** Ids of sessions are short; a prompt is not one. */
export const SESSION_CHARS_MAX = 256;

/** Such fields are for the gateway and never leave it. */
export function isControlField(name: string): boolean {
  return name.startsWith(CONTROL_PREFIX);
}

/** Throws what is wrong, by field. */
export function readControls(body: JsonObject): Controls {
  const profile = readChoice(body, "service_profile", ROUTING_PROFILES) ?? "auto";
  const model = readString(body, "model");
  if (profile === "direct" && (model === null || model === "" || model === "auto")) {
    throw invalid("model", "The profile 'direct' needs a model id in 'model'; GET /v1/models lists them.");
  }
  const controls: Controls = {
    profile,
    model,
    forcedTier: profile === "tier" ? readForcedTier(body) : null,
    tierFloor: readChoice(body, "service_tier_floor", TIERS),
    tierCeiling: readChoice(body, "service_tier_ceiling", TIERS),
    maxCostUsd: readNumber(body, "service_max_cost", { min: 0, max: COST_USD_MAX }),
    toolScoreMin: readNumber(body, "service_bfcl_min", { min: 0, max: SCORE_MAX }),
    codeQuality: readInteger(body, "service_code_quality", { min: 0, max: 2 }) as Quality | null,
    chatQuality: readInteger(body, "service_chat_quality", { min: 0, max: 2 }) as Quality | null,
    hostOrder: readChoice(body, "service_host_order", HOST_ORDERS),
    session: readSession(body),
    escalate: readChoice(body, "service_escalate", ESCALATIONS),
  };
  for (const name in body) {
    if (isControlField(name) && !CONTROL_FIELDS.has(name)) return { ...controls, unknown: unknownIn(body) };
  }
  return controls;
}

function unknownIn(body: JsonObject): readonly string[] {
  const isUnknown = (name: string): boolean => isControlField(name) && !CONTROL_FIELDS.has(name);
  return Object.keys(body)
    .filter((name) => isUnknown(name) && PLAIN_NAME.test(name))
    .slice(0, UNKNOWN_MAX);
}

function readSession(body: JsonObject): string | null {
  const session = readString(body, "service_session");
  if (session !== null && (session === "" || session.length > SESSION_CHARS_MAX)) {
    throw invalid("service_session", `'service_session' must have 1 to ${SESSION_CHARS_MAX} characters.`);
  }
  return session;
}

// Read under the profile `tier` only: vendors have a `service_tier` of their own with other values.
function readForcedTier(body: JsonObject): Controls["forcedTier"] {
  const tier = readChoice(body, "service_tier", TIERS);
  if (tier !== null) return tier;
  throw invalid("service_tier", `The profile 'tier' needs 'service_tier': one of ${TIERS.join(", ")}.`);
}
