// The schemas of the playground and of replays.

import { CATEGORIES } from "../../core/decision.ts";
import { TIERS } from "../../core/tiers.ts";
import { profile } from "./api-schemas.ts";
import { candidate, fraction, integer, nullable, number, object, text, tier, time } from "./schema.ts";
import { debugRequest } from "./v1-schemas.ts";

const { name: _name, ...rules } = profile;
const constraints = { type: "object", additionalProperties: false, properties: rules };
const side = object({ tier, model: text, costUsd: nullable(text) });

const bound = { type: "number", minimum: 0, maximum: 1 };
const byName = (names: readonly string[], value: object) => ({
  type: "object",
  additionalProperties: false,
  properties: Object.fromEntries(names.map((name) => [name, value])),
});
const policy = {
  type: "object",
  additionalProperties: false,
  description: "What may differ from how requests are routed now, beside the rules of a profile.",
  properties: {
    bounds: {
      type: "array",
      items: bound,
      minItems: TIERS.length - 1,
      maxItems: TIERS.length - 1,
      description: "Where the score is cut into tiers, rising.",
    },
    sureFrom: { ...bound, description: "A confidence below this counts as unsure." },
    unsureTier: { ...tier, description: "An unsure request is not placed below it." },
    categoryFloors: { ...byName(CATEGORIES, tier), description: "Tiers that a category is never placed below." },
    chains: {
      ...byName(TIERS, { type: "array", items: text, minItems: 1 }),
      description: "Other chains for some tiers: ids of models, in the order they are tried.",
    },
  },
};

export const PLAYGROUND_SCHEMAS: Readonly<Record<string, object>> = {
  PlaygroundRequest: {
    type: "object",
    properties: {
      ...debugRequest,
      stream: { type: "boolean" },
      profileId: { ...text, description: "A saved profile." },
      profile: { anyOf: [constraints, debugRequest.profile], description: "A profile that was never saved." },
    },
  },
  PlaygroundDecision: object({
    decision: { $ref: "#/components/schemas/RoutingDecision" },
    classifiedTier: nullable(tier),
    score: nullable(fraction),
    candidates: { type: "array", items: candidate({ costUsd: text }) },
    estimate: object({
      inputTokens: integer,
      outputTokens: integer,
      baselineModel: text,
      costUsd: text,
      baselineCostUsd: text,
      savings: fraction,
    }),
    tookMs: number,
  }),
  ReplayQuestion: {
    type: "object",
    required: ["profile"],
    additionalProperties: false,
    properties: { profile: constraints, policy, limit: { type: "integer", minimum: 1, maximum: 500, default: 100 } },
  },
  Replay: object({
    requests: integer,
    changed: integer,
    up: integer,
    down: integer,
    refused: integer,
    costBeforeUsd: text,
    costAfterUsd: text,
    changes: {
      type: "array",
      items: object({
        requestId: text,
        at: time,
        before: side,
        after: nullable(side),
        refusedBecause: nullable(text),
        because: { type: "array", items: text, description: "What led there, in words and in order." },
      }),
    },
  }),
};
