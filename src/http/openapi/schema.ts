// Schema words: the pieces that every schema of the HTTP contract is made of, and the type that a schema describes.

import {
  type Static,
  type TObject,
  type TObjectOptions,
  type TProperties,
  type TSchema,
  type TSchemaOptions,
  type TUnsafe,
  Type,
} from "typebox";
import { EMAIL_MAX } from "../../accounts/users.ts";
import type { HostChoice } from "../../core/decision.ts";
import { USD_TEXT } from "../../core/money.ts";
import { NAME_PATTERN } from "../../core/names.ts";
import { TIERS } from "../../core/tiers.ts";

/** The value that a schema describes, as writers return it and the dashboard reads it. */
export type Shape<Schema extends TSchema> = Immutable<Static<Schema>>;

type Immutable<Value> = Value extends readonly (infer Item)[]
  ? readonly Immutable<Item>[]
  : Value extends object
    ? { readonly [Name in keyof Value]: Immutable<Value[Name]> }
    : Value;

/** Keywords for the document only. Code further in enforces them, with error texts of its own. */
export const DOCUMENTED = Symbol("documented");

/** An object with a name in the document. Wherever it is used, the document refers to it by that name. */
export function named<Fields extends TProperties>(
  name: string,
  fields: Fields,
  options: TObjectOptions = {},
): TObject<Fields> {
  return Type.Object(fields, { ...options, $id: name });
}

/** The schema of a request body: fields that it does not list are an error. */
export function strict<Fields extends TProperties>(
  name: string,
  fields: Fields,
  options: TObjectOptions = {},
): TObject<Fields> {
  return named(name, fields, { ...options, additionalProperties: false });
}

export const AnyText = Type.String();
export const Integer = Type.Integer();
export const Flag = Type.Boolean();

export const nullable = <Schema extends TSchema>(schema: Schema, options: TSchemaOptions = {}) =>
  Type.Union([schema, Type.Null()], options);

/** A field that may be left out, or be null. */
export const optional = <Schema extends TSchema>(schema: Schema) => Type.Optional(nullable(schema));

/** A page of a list, as every list of /api returns it. */
export const page = <Row extends TSchema>(row: Row) => Type.Object({ data: Type.Array(row), next: nullable(AnyText) });

/** One of these texts in a response. Its type is any text, because rows of older versions may hold others. */
export function listed(values: readonly string[], options: object = {}): TUnsafe<string> {
  return Type.Unsafe<string>({ type: "string", enum: values, ...options });
}

/** An object of values by name. */
export function byName<Value>(value: TSchema, options: object = {}): TUnsafe<Readonly<Record<string, Value>>> {
  return Type.Unsafe<Readonly<Record<string, Value>>>({ type: "object", additionalProperties: value, ...options });
}

/** No control characters: a terminal would obey them, and PostgreSQL cannot store all of them. */
const PLAIN = "^[^\\u0000-\\u001f\\u007f]*$";

/** The pattern is checked further in, where the error can name the character. */
export const Name = Type.String({ minLength: 1, maxLength: 200, [DOCUMENTED]: { pattern: NAME_PATTERN } });

export const plainText = (maxLength: number, options: object = {}) =>
  Type.String({ maxLength, pattern: PLAIN, ...options });

/** Spaces around it are cut off. Checked further in, where users are kept. */
export const Email = Type.String({
  maxLength: EMAIL_MAX,
  [DOCUMENTED]: { pattern: "^\\s*[^\\s@]{1,64}@[^\\s@]{1,190}\\s*$" },
});

/** Also for numbers: the largest amount that the text can hold. */
const USD_MAX = 999_999_999;
/** USD as decimal text. A JSON number counts by the digits it is written with. Read further in, by `parseUsd`. */
export const Usd = Type.Union([
  Type.String({ [DOCUMENTED]: { pattern: USD_TEXT.source } }),
  Type.Number({ [DOCUMENTED]: { minimum: 0, maximum: USD_MAX } }),
]);

export const Time = Type.String({ format: "date-time" });

/** A time as a request may state it: RFC 3339, or a day, which begins at 00:00 UTC. */
export const GIVEN_TIME = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2}))?$/;
export const GivenTime = Type.String({
  pattern: GIVEN_TIME.source,
  examples: ["2026-01-31T00:00:00Z", "2026-01-31"],
});
export const TierName = Type.Enum([...TIERS]);
export const Quality = Type.Enum([0, 1, 2]);
export const Fraction = Type.Number({ minimum: 0, maximum: 1 });
/** An object whose fields the contract leaves open. */
export const AnyObject = Type.Unsafe<object>({ type: "object" });
export const Texts = Type.Array(AnyText);
export const Tokens = Type.Object({ input: Integer, cacheRead: Integer, cacheWrite: Integer, output: Integer });

/** A model that routing considered. `restingBecause` is present only where there is a reason. */
export const candidateFields = {
  model: AnyText,
  removedBecause: nullable(AnyText),
  restingBecause: Type.Optional(AnyText),
};

/** The body of every error, except on the Messages endpoints. */
export const ErrorSchema = named("Error", {
  error: Type.Object({
    message: AnyText,
    type: AnyText,
    code: nullable(AnyText),
    param: nullable(AnyText),
    request_id: AnyText,
    problems: Type.Optional(
      Type.Array(Type.Object({ place: AnyText, message: AnyText, suggestion: nullable(AnyText) }), {
        description: "Everything that is wrong with a configuration, each with its place.",
      }),
    ),
  }),
});

/** For each model with several hosts, those that are tried. */
export const HostChoiceSchema = Type.Unsafe<HostChoice>({
  type: "object",
  additionalProperties: { type: "array", items: { type: "string" } },
  description: "The hosts that are tried of each model that has several, in order.",
});

/** The price of the baseline, as it is shown beside savings. */
export const BaselinePriceSchema = nullable(
  Type.Object(
    { input: Type.Number(), output: Type.Number(), asOf: AnyText },
    {
      description: "USD per million tokens, without promotions, and the day of the price. Null where it is not shown.",
    },
  ),
);

/** The model that savings are counted against, and its price. Requests of the past keep the baseline of their day. */
export const baselineFields = { baselineModel: AnyText, baselinePrice: BaselinePriceSchema };
