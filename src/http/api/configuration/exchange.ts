// Parts that all changes of the run-time configuration share: the version they start from, their note, and the reply to
// them.

import type { FastifyRequest } from "fastify";
import { Type } from "typebox";
import type { ConfigVersion, JsonMap } from "../../../core/overlay.ts";
import { invalid } from "../../../formats/json/fields.ts";
import { type Change, changesBetween } from "../../../versions/changes.ts";
import { isTooDeep } from "../../../versions/document.ts";
import type { Publication, Published, Versions } from "../../../versions/versions.ts";
import { actorOf } from "../../exchange/identity.ts";
import type { Parameter } from "../../openapi/operation.ts";
import { AnyText, Integer, named, nullable, plainText, type Shape, Time } from "../../openapi/schema.ts";
import * as TEXT from "../../text.ts";
import { isoTime } from "../exchange.ts";

const NOTE_MAX = 500;

/** Fields of every body that changes the configuration. */
export const publicationFields = {
  base: Type.Optional(
    Type.Integer({
      minimum: 0,
      description:
        "The version that you have seen. If another one was published since, the change is refused with 409.",
    }),
  ),
  note: Type.Optional(plainText(NOTE_MAX, { description: "Why, for the history." })),
};

/** The header that says the same as `base`. */
export const ifMatch: Parameter = {
  name: "If-Match",
  in: "header",
  schema: Type.String({ pattern: '^(\\*|(W/)?"?\\d{1,15}"?)$' }),
  description: "The version that you have seen, as `base` in the body.",
};

const ChangeSchema = Type.Object({ path: AnyText, words: AnyText });
const ProblemSchema = Type.Object({ place: AnyText, message: AnyText, suggestion: nullable(AnyText) });

const versionFields = {
  number: Integer,
  author: AnyText,
  at: Time,
  note: AnyText,
};

/** The version that a change made, and what it changed. Without a difference, it is the version before. */
export const PublishedSchema = named("ConfigurationChange", {
  version: Type.Object(versionFields),
  changes: Type.Array(ChangeSchema),
  warnings: Type.Array(ProblemSchema),
});

/** A version in the history: what it changed against the one before it. */
export const VersionSchema = named("ConfigurationVersion", {
  ...versionFields,
  summary: AnyText,
  changes: Type.Array(ChangeSchema),
});

/** A path of the configuration that file, environment or flags set. */
export const LockSchema = Type.Object({
  path: AnyText,
  origin: Type.Enum(["file", "environment", "flag"]),
  place: AnyText,
});

export function writePublished({ version, changes, warnings }: Published): Shape<typeof PublishedSchema> {
  return { version: writeHead(version), changes, warnings };
}

export function writeVersion(version: ConfigVersion, before: ConfigVersion): Shape<typeof VersionSchema> {
  return writeChanged(version, changesBetween(before.document, version.document));
}

export function writeChanged(version: ConfigVersion, changes: readonly Change[]): Shape<typeof VersionSchema> {
  return { ...writeHead(version), summary: summaryOf(changes.map(({ words }) => words)), changes };
}

function writeHead({ number, author, atMs, note }: ConfigVersion) {
  return { number, author, at: isoTime(atMs), note };
}

function summaryOf([first, ...others]: readonly string[]): string {
  if (first === undefined) return TEXT.noDifference;
  return others.length === 0 ? first : TEXT.andMore(first, others.length);
}

/** Reads from a request who publishes, from which version and why. */
export function publisherOf(
  request: FastifyRequest,
  body: { readonly base?: number; readonly note?: string },
): Pick<Publication, "author" | "note" | "base"> {
  const { note } = body;
  return {
    author: authorOf(request),
    base: body.base ?? matchOf(request),
    ...(note === undefined ? {} : { note }),
  };
}

export function authorOf(request: FastifyRequest): string {
  return actorOf(request) ?? "somebody";
}

function matchOf({ headers }: FastifyRequest): number | null {
  const given = headers["if-match"];
  if (given === undefined || given === "*") return null;
  const number = /^(?:W\/)?"?(\d{1,15})"?$/.exec(given)?.[1];
  if (number === undefined) throw invalid("If-Match", TEXT.invalidIfMatch);
  return Number(number);
}

/** The fields of a provider, model or rule in a body: everything but what is about the change itself. */
export function entryOf(body: object, ...others: readonly string[]): JsonMap {
  const own = new Set<string>([...Object.keys(publicationFields), ...others]);
  return Object.fromEntries(Object.entries(documentOf(body)).filter(([name]) => !own.has(name)));
}

/** A document, or part of one, as a body brings it. */
export function documentOf(value: object): JsonMap {
  if (isTooDeep(value)) throw invalid("", TEXT.tooDeep);
  return value as JsonMap;
}

/** The lock on a path or on what it belongs to. */
export function lockOn({ locks }: Pick<Versions, "locks">, path: string): Shape<typeof LockSchema> | null {
  const [section] = path.split(".");
  return locks.find((lock) => lock.path === path || lock.path === section) ?? null;
}
