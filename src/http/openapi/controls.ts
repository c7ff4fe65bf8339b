// Schemas of routing controls, from their table: as fields of a request, and as rules of a profile.

import { type TSchema, type TSchemaOptions, type TUnsafe, Type } from "typebox";
import {
  LISTED_NAME,
  LISTED_NAMES_MAX,
  PROFILE_CONTROLS,
  type ProfileControl,
  type ProfileRules,
  REQUEST_CONTROLS,
  REQUIREMENTS,
  type Residency,
  type Takes,
  takesInProfile,
} from "../../core/requests/controls.ts";
import { PATTERN_CHARS_MAX } from "../../formats/checks/pattern.ts";
import { AnyText, Flag, nullable, optional, Quality, Texts } from "./schema.ts";

const CHECKS = {
  json_schema: "JSON Schema that the text of the answer must fit, in place of the request's own.",
  pattern: "Regular expression that the text of the answer must match. It may not look ahead, behind or back.",
  tool_calls: "False leaves tool calls unchecked. Otherwise they must name an offered tool and fit its schema.",
};

const CascadeChecksSchema = Type.Object(
  {
    json_schema: Type.Optional(Type.Record(Type.String(), Type.Unknown(), { description: CHECKS.json_schema })),
    pattern: Type.Optional(Type.String({ maxLength: PATTERN_CHARS_MAX, description: CHECKS.pattern })),
    tool_calls: Type.Optional(Type.Boolean({ description: CHECKS.tool_calls })),
  },
  { additionalProperties: false },
);

/** Several times as many as the catalogue has. */
const MODEL_IDS_MAX = 500;

/** The `service_*` fields of a request. */
export const controlFields: Readonly<Record<string, TSchema>> = Object.fromEntries(
  REQUEST_CONTROLS.map(({ field, takes, onlyWith, help }) => {
    const about = { description: help, ...(takes.unset === null ? {} : { default: takes.unset }) };
    // Vendors have a field of this name, so without that profile the value may be anything.
    if (onlyWith !== undefined) return [field, Type.Optional(Type.Unknown(about))];
    if (takes.kind !== "amount") return [field, optional(schemaOf(takes, about))];
    return [field, optional(Type.Number({ minimum: 0, maximum: takes.max, ...about }))];
  }),
);

/** The rules of a profile as a request states them: each may be left out or null, which means that it does not constrain. */
export const ruleFields = byRule((row) => optional(schemaOf(takesInProfile(row), { description: row.help })));

/** The rules of a saved profile. Unlike in a request, lists are always there, and an amount is text. */
export const savedRuleFields = byRule((row) => {
  const takes = takesInProfile(row);
  const schema = takes.kind === "amount" ? AnyText : schemaOf(takes, { description: row.help });
  return takes.unset === null ? nullable(schema) : schema;
}) as unknown as { readonly [Rule in keyof ProfileRules]: TUnsafe<ProfileRules[Rule]> };

/** Requirements that a key or a team has of every host. */
export const RequiresSchema = Type.Object(
  Object.fromEntries(
    REQUIREMENTS.map((row) => [row.rule, optional(schemaOf(takesInProfile(row), { description: row.help }))]),
  ),
  { additionalProperties: false, description: "Required of every host, beside what other scopes require." },
);

/** Returns null where nothing is required; undefined stays so. */
export function readRequires(given: object | null | undefined): Residency | null | undefined {
  if (given === undefined || given === null) return given;
  const set = Object.entries(given).filter(([, value]) => value !== null && value !== false);
  return set.length === 0 ? null : (Object.fromEntries(set) as Residency);
}

function byRule(write: (row: ProfileControl) => TSchema): Readonly<Record<string, TSchema>> {
  return Object.fromEntries(PROFILE_CONTROLS.map((row) => [row.rule, write(row)]));
}

function schemaOf(takes: Takes, about: TSchemaOptions): TSchema {
  switch (takes.kind) {
    case "choice":
      return Type.Enum([...takes.words], about);
    case "quality":
      return Quality;
    // Text keeps the digits that a JSON number would round.
    case "amount":
      return Type.Union(
        [Type.Number({ minimum: 0 }), Type.String({ pattern: "^\\d{1,12}(\\.\\d{1,27})?(e-?\\d{1,2})?$" })],
        about,
      );
    case "number":
      return (takes.isWhole ? Type.Integer : Type.Number)({ minimum: takes.min, maximum: takes.max, ...about });
    case "text":
      return Type.String({ minLength: 1, maxLength: takes.charsMax, ...about });
    case "switch":
      return Type.Boolean(about);
    case "cascade":
      return Type.Union([Type.Boolean(), CascadeChecksSchema], about);
    case "names": {
      const name = Type.String({ pattern: LISTED_NAME.source });
      return Type.Array(name, { minItems: 1, maxItems: LISTED_NAMES_MAX, ...about });
    }
    case "list":
      return takes.words === null
        ? Type.Array(AnyText, { maxItems: MODEL_IDS_MAX, ...about })
        : Type.Array(Type.Enum([...takes.words]), about);
  }
}

/** Fields of a decision that say where it would go, and what its requirements leave out. */
export const hostFields = {
  hostPolicies: Type.Optional(
    Type.Array(
      Type.Object({
        host: AnyText,
        region: nullable(AnyText),
        dataPolicy: nullable(AnyText),
        regions: nullable(Texts),
        zeroRetention: nullable(Flag),
      }),
      { description: "Where each host of the model answers and what becomes of the content; null where unknown." },
    ),
  ),
  hostsLeftOut: Type.Optional(
    Type.Array(Type.Object({ model: AnyText, host: AnyText, because: AnyText }), {
      description: "Hosts outside the required regions, retention or providers. Absent where there is none.",
    }),
  ),
};
