// The schemas of the playground and of replays.

import { profile } from "./api-schemas.ts";
import { candidate, fraction, integer, nullable, number, object, text, tier, time } from "./schema.ts";
import { debugRequest } from "./v1-schemas.ts";

const { name: _name, ...rules } = profile;
const constraints = { type: "object", additionalProperties: false, properties: rules };
const side = object({ tier, model: text, costUsd: nullable(text) });

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
    properties: { profile: constraints, limit: { type: "integer", minimum: 1, maximum: 500, default: 100 } },
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
      }),
    },
  }),
};
