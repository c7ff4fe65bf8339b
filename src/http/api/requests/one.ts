// Reading /api requests: bodies checked against their schema, the account, and the page wanted.

import type { FastifyRequest } from "fastify";
import { type Static, type TSchema, Type } from "typebox";
import { Compile } from "typebox/compile";
import { DEFAULT_ACCOUNT } from "../../../accounts/accounts.ts";
import type { Page } from "../../../core/accounts.ts";
import { GatewayError } from "../../../core/errors.ts";
import { invalid } from "../../../formats/wire/fields.ts";
import { parseBody } from "../../../formats/wire/json-source.ts";
import type { Edge } from "../../context.ts";
import { bodyOf } from "../../exchange/body.ts";
import { ownAccountOf } from "../../exchange/session-guard.ts";

const PAGE_DEFAULT = 50;
const PAGE_MAX = 500;

/** A reader for bodies of this schema; the schema is compiled once. */
export function bodyReader<Schema extends TSchema>(schema: Schema): (request: FastifyRequest) => Static<Schema> {
  const read = valueReader(schema);
  return (request) => read(parseBody(bodyOf(request)).body);
}

/** The same for a value that was parsed already. */
export function valueReader<Schema extends TSchema>(schema: Schema): (value: unknown) => Static<Schema> {
  const validator = Compile(schema);
  return (value) => {
    if (validator.Check(value)) return value as Static<Schema>;
    const [first] = validator.Errors(value);
    const place = (first?.instancePath ?? "").slice(1).replaceAll("/", ".");
    const { additionalProperties, requiredProperties } = (first?.params ?? {}) as FieldLists;
    // A field that is not allowed is one whose schema lets nothing pass.
    const unknown = additionalProperties?.[0] ?? (first?.keyword === "boolean" ? place : undefined);
    const absent = requiredProperties?.[0];
    if (unknown !== undefined) throw invalid(unknown, `There is no field '${unknown}'.`);
    if (absent !== undefined) throw invalid(absent, `'${absent}' is missing.`);
    if (first?.keyword === "boolean") throw invalid(place, `There is no field '${place}'.`);
    throw invalid(place, `${place === "" ? "The body" : `'${place}'`} ${complaint(first)}.`);
  };
}

/** The schema's own words do not name the values there are. */
function complaint(error: { readonly params: object; readonly message: string } | undefined): string {
  const { allowedValues } = (error?.params ?? {}) as { allowedValues?: readonly unknown[] };
  if (allowedValues !== undefined) return `must be one of ${allowedValues.join(", ")}`;
  return error?.message ?? "is not valid";
}

interface FieldLists {
  readonly additionalProperties?: readonly string[];
  readonly requiredProperties?: readonly string[];
}

/** What people read: no control characters, which a terminal would obey and PostgreSQL cannot store. */
const PLAIN = "^[^\\u0000-\\u001f\\u007f]*$";

export const Name = Type.String({ minLength: 1, maxLength: 200, pattern: PLAIN });

export const plainText = (maxLength: number) => Type.String({ maxLength, pattern: PLAIN });

/** USD as decimal text; a JSON number is taken by the digits it is written with. */
export const Usd = Type.Union([Type.String({ maxLength: 40 }), Type.Number()]);

/**
 * The account a call is about: `?account=`, else the user's own, and `default` for the admin token. An owner who names
 * another account hears what they would hear of one that is not there.
 */
export async function accountOf(request: FastifyRequest, { accounts }: Pick<Edge, "accounts">): Promise<string> {
  const { identity } = request;
  const wanted = queryOf(request, "account") ?? (identity?.kind === "user" ? identity.user.accountId : DEFAULT_ACCOUNT);
  const own = ownAccountOf(request);
  const isAllowed = own === null || own === wanted;
  if (isAllowed && isPlainId(wanted) && (await accounts.get(wanted)) !== null) return wanted;
  throw new GatewayError("notFound", `There is no account '${wanted}'.`, { param: "account" });
}

export function pageOf(request: FastifyRequest): Page {
  const count = Number(queryOf(request, "limit") ?? PAGE_DEFAULT);
  if (!Number.isInteger(count) || count < 1 || count > PAGE_MAX) {
    throw new GatewayError("badRequest", `'limit' must be a whole number from 1 to ${PAGE_MAX}.`, { param: "limit" });
  }
  const name = CURSOR_NAMES.find((other) => queryOf(request, other) !== null) ?? "after";
  const after = queryOf(request, name);
  if (after === null || CURSOR.test(after)) return { limit: count, after };
  throw new GatewayError("badRequest", `'${name}' must be the 'next' of a page.`, { param: name });
}

/** One and the same: the first is ours, the others are what people try. */
const CURSOR_NAMES = ["after", "cursor", "next"] as const;

/** An id of any list, those of transactions included. */
const CURSOR = /^[\w.:~=-]{1,300}$/;

/** The id in the path; what cannot be an id is answered like one that is not there. */
export function idOf(request: FastifyRequest, what: string): string {
  const { id = "" } = request.params as { id?: string };
  if (isPlainId(id)) return id;
  throw missing(what, id);
}

/** A page of a list: one row more than wanted tells whether there is a next one. */
export async function listPage<Row extends { readonly id: string }>(
  page: Page,
  read: (page: Page) => Promise<readonly Row[]>,
  write: (row: Row) => object,
): Promise<{ data: readonly object[]; next: string | null }> {
  const rows = await read({ ...page, limit: page.limit + 1 });
  const shown = rows.slice(0, page.limit);
  return { data: shown.map(write), next: rows.length > page.limit ? (shown.at(-1)?.id ?? null) : null };
}

export function missing(what: string, id: string): GatewayError {
  return new GatewayError("notFound", `There is no ${what} '${id}'.`, { param: "id" });
}

export function isoTime(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}

/** A query parameter; repeated, it is an error rather than a guess. */
export function queryOf(request: FastifyRequest, name: string): string | null {
  const value = (request.query as Record<string, string | string[] | undefined>)[name] ?? null;
  if (!Array.isArray(value)) return value;
  throw new GatewayError("badRequest", `'${name}' is given more than once.`, { param: name });
}

function isPlainId(text: string): boolean {
  return /^[\w.-]{1,200}$/.test(text);
}
