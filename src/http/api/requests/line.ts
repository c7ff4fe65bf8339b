// A line of the request log on the wire: its schema, its JSON and its CSV row, made of the fields of the log.

import { type TSchema, type TUnsafe, Type } from "typebox";
import { formatUsd, type NanoUsd, type TokenBuckets } from "../../../core/money.ts";
import {
  FIELDS,
  type FieldKind,
  type FieldName,
  type FieldValue,
  type LOG_FIELDS,
  type LoggedField,
  type RequestSummary,
} from "../../../core/requests/fields.ts";
import type { Tags } from "../../../core/requests/records.ts";
import type { OperatorContext } from "../../context.ts";
import { AnyText, byName, Integer, listed, named, nullable, type Shape, Tokens } from "../../openapi/schema.ts";
import { isoTime } from "../exchange.ts";
import { csvRow } from "../export.ts";

/** Names for ids, from memory. */
export interface Names {
  key(id: string): string | null;
  profile(id: string): string | null;
}

export function namesOf({ keys, profiles }: Pick<OperatorContext, "keys" | "profiles">, accountId: string): Names {
  return { key: (id) => keys.nameOf(accountId, id), profile: (id) => profiles.nameOf(accountId, id) };
}

type Wire<Kind extends FieldKind> = Kind extends "time"
  ? string
  : Kind extends "amount"
    ? string | null
    : FieldValue<Kind>;
type ApiName<Name extends FieldName> = (typeof LOG_FIELDS)[Name] extends { readonly api: infer Api extends string }
  ? Api
  : Name;
type FieldSchemas = { readonly [Name in FieldName as ApiName<Name>]: TUnsafe<Wire<(typeof LOG_FIELDS)[Name]["kind"]>> };

type SchemaWriter = (options: { readonly description: string }, field: LoggedField) => TSchema;

const SCHEMAS: Readonly<Record<FieldKind, SchemaWriter>> = {
  text: (options) => Type.String(options),
  optionalText: (options, { values }) => nullable(values === undefined ? AnyText : listed(values), options),
  freeText: (options) => nullable(AnyText, options),
  integer: (options) => Type.Integer(options),
  optionalInteger: (options) => nullable(Integer, options),
  flag: (options) => Type.Boolean(options),
  time: (options) => Type.String({ format: "date-time", ...options }),
  amount: (options) => nullable(AnyText, options),
  texts: (options) => Type.Array(AnyText, options),
  tags: (options) => byName(AnyText, options),
  tokens: (options) => nullable(Tokens, options),
};

/** Kinds that are written in another way than they are kept. */
const WRITERS: { readonly [Kind in FieldKind]?: (value: FieldValue<Kind>) => Wire<Kind> } = {
  time: isoTime,
  amount: usd,
};

/** A field that is not stored but made of others when a line is written. */
interface MadeField {
  /** Field that this one follows. */
  readonly after: FieldName;
  readonly about: string;
  readonly of: (line: RequestSummary, names: Names) => string | null;
}

export const MADE_FIELDS = {
  savedUsd: {
    after: "baseline",
    about:
      "Baseline minus charge: negative where the baseline would have been cheaper, null for a request that failed.",
    of: ({ isError, charge, baseline }) =>
      usd(isError || charge === null || baseline === null ? null : baseline - charge),
  },
  keyName: {
    after: "ending",
    about: "As the key is called now; null when it is no key, as for the playground.",
    of: ({ keyId }, names) => names.key(keyId),
  },
  keyProfileName: {
    after: "ending",
    about: "As the saved profile is called now.",
    of: ({ profileId }, names) => (profileId === null ? null : names.profile(profileId)),
  },
} satisfies Readonly<Record<string, MadeField>>;

interface LineField {
  readonly name: string;
  readonly schema: TSchema;
  readonly isInCsv: boolean;
  readonly write: (line: RequestSummary, names: Names) => unknown;
}

const LINE: readonly LineField[] = FIELDS.flatMap((field) => [
  {
    name: field.api,
    schema: SCHEMAS[field.kind]({ description: field.about }, field),
    isInCsv: field.isInCsv !== false,
    write: writerOf(field),
  },
  ...Object.entries<MadeField>(MADE_FIELDS)
    .filter(([, { after }]) => after === field.name)
    .map(([name, { about, of }]) => ({
      ...{ name, schema: nullable(AnyText, { description: about }), isInCsv: true, write: of },
    })),
]);

function writerOf({ name, kind }: LoggedField): LineField["write"] {
  const write = WRITERS[kind] as ((value: unknown) => unknown) | undefined;
  return write === undefined ? (line) => line[name] : (line) => write(line[name]);
}

export const lineFields = Object.fromEntries(LINE.map(({ name, schema }) => [name, schema])) as FieldSchemas & {
  readonly [Name in keyof typeof MADE_FIELDS]: TUnsafe<string | null>;
};
export const RequestLineSchema = named("RequestLine", lineFields);
export type WrittenLine = Shape<typeof RequestLineSchema>;

/** Used by the list, the exports and the live events alike. */
export function writeSummary(line: RequestSummary, names: Names): WrittenLine {
  return Object.fromEntries(LINE.map(({ name, write }) => [name, write(line, names)])) as WrittenLine;
}

const BUCKETS: readonly (keyof TokenBuckets)[] = ["input", "cacheRead", "cacheWrite", "output"];

/** A column of the CSV file. */
type Column = readonly [name: string, read: (line: Readonly<Record<string, unknown>>) => unknown];

/** The order of the file is that of the table. */
const COLUMNS: readonly Column[] = LINE.filter(({ isInCsv }) => isInCsv).flatMap(({ name }): readonly Column[] => {
  if (name === "tags") return [[name, ({ tags }) => writeTags(tags as Tags)]];
  if (name !== "tokens") return [[name, (line) => line[name]]];
  return BUCKETS.map(
    (bucket): Column => [`${bucket}Tokens`, ({ tokens }) => (tokens as TokenBuckets | null)?.[bucket]],
  );
});

export const CSV_HEADER: string = csvRow(COLUMNS.map(([name]) => name));

export function writeCsvLine(line: WrittenLine): string {
  return csvRow(COLUMNS.map(([, read]) => read(line)));
}

function writeTags(tags: Tags): string {
  return Object.entries(tags)
    .map((tag) => tag.join("="))
    .join("; ");
}

/** Writes an amount; null stands for a request that was not charged. */
export function usd(amount: NanoUsd | null): string | null {
  return amount === null ? null : formatUsd(amount);
}
