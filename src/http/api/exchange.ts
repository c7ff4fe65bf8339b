// The exchange with a caller of /api: the account, id, page and query parameters of a request, and the pages of a list.

import type { FastifyRequest } from "fastify";
import { Type } from "typebox";
import { DEFAULT_ACCOUNT } from "../../accounts/accounts.ts";
import type { Page } from "../../core/accounts.ts";
import { GatewayError } from "../../core/errors.ts";
import { invalid } from "../../formats/json/fields.ts";
import type { OperatorContext } from "../context.ts";
import { bodyOf } from "../exchange/body.ts";
import { ownAccountOf, personOf } from "../exchange/identity.ts";
import { type Parameter, query } from "../openapi/operation.ts";
import * as TEXT from "../text.ts";

/** The parameter that `accountOf` reads. */
export const account = query("account", Type.String({ default: "default" }), "The account the call is about.");

/**
 * The account a call is about: `?account=`, else the user's own, and `default` for the admin token. An owner who names
 * another account gets the error for one that does not exist.
 */
export async function accountOf(
  request: FastifyRequest,
  { accounts }: Pick<OperatorContext, "accounts">,
): Promise<string> {
  const { identity } = request;
  const wanted = queryOf(request, "account") ?? personOf(identity)?.accountId ?? DEFAULT_ACCOUNT;
  const own = ownAccountOf(request);
  const isAllowed = own === null || own === wanted;
  if (isAllowed && PLAIN_ID.test(wanted) && (await accounts.get(wanted)) !== null) return wanted;
  throw new GatewayError("notFound", TEXT.noAccount(wanted), { param: "account" });
}

const PAGE_DEFAULT = 50;
const PAGE_MAX = 500;
/** An id of any list, those of transactions included. */
const CURSOR = /^[\w.:~=-]{1,300}$/;

export const limit = query("limit", Type.Integer({ minimum: 1, maximum: PAGE_MAX, default: PAGE_DEFAULT }));
/** The parameters that `pageOf` reads. */
export const paging: readonly Parameter[] = [
  limit,
  cursor("after", "`next` of the page before. Also taken as `cursor` or `next`."),
];

export function pageOf(request: FastifyRequest): Page {
  const text = queryOf(request, "limit") ?? String(PAGE_DEFAULT);
  const count = Number(text);
  // Digits only: Number would take "0x10", too.
  if (!/^\d+$/.test(text) || count < 1 || count > PAGE_MAX) {
    throw wrongParameter("limit", TEXT.invalidLimit(PAGE_MAX));
  }
  const name = CURSOR_NAMES.find((other) => queryOf(request, other) !== null) ?? "after";
  return { limit: count, after: cursorOf(request, name) };
}

/** The id of a place in a list; null when it is not given. */
export function cursorOf(request: FastifyRequest, name: string): string | null {
  const cursor = queryOf(request, name);
  if (cursor === null || CURSOR.test(cursor)) return cursor;
  throw wrongParameter(name, TEXT.invalidCursor(name));
}

/** The parameter that `cursorOf` reads. */
export function cursor(name: string, description: string): Parameter {
  return query(name, Type.String({ pattern: CURSOR.source }), description);
}

/** Synonyms: the first is ours, the others are what people try. */
const CURSOR_NAMES = ["after", "cursor", "next"] as const;

/** A page of a list: one row more than wanted tells whether there is a next one. */
export async function listPage<Row extends { readonly id: string }, Written>(
  page: Page,
  read: (page: Page) => Promise<readonly Row[]>,
  write: (row: Row) => Written,
): Promise<{ data: readonly Written[]; next: string | null }> {
  const rows = await read({ ...page, limit: page.limit + 1 });
  const shown = rows.slice(0, page.limit);
  return { data: shown.map(write), next: rows.length > page.limit ? (shown.at(-1)?.id ?? null) : null };
}

/** The id in the path. Text that cannot be an id gets the error for one that does not exist. */
export function idOf(request: FastifyRequest, what: string): string {
  const { id = "" } = request.params as { id?: string };
  if (PLAIN_ID.test(id)) return id;
  throw missing(what, id);
}

/** Tells whether a request came without a body, for endpoints that then take `{}`. */
export function hasNoBody(request: FastifyRequest): boolean {
  return bodyOf(request).length === 0;
}

/** Characters of ids. */
export const PLAIN_ID = /^[\w.-]{1,200}$/;

export function missing(what: string, id: string): GatewayError {
  return new GatewayError("notFound", TEXT.missing(what, id), { param: "id" });
}

/** A query parameter. One that is repeated is an error, not a guess. */
export function queryOf(request: FastifyRequest, name: string): string | null {
  const value = (request.query as Record<string, string | string[] | undefined>)[name] ?? null;
  if (!Array.isArray(value)) return value;
  throw wrongParameter(name, TEXT.givenTwice(name));
}

function wrongParameter(param: string, message: string): GatewayError {
  return new GatewayError("badRequest", message, { param });
}

export function oneOf<Word extends string>(name: string, given: string, words: readonly Word[]): Word {
  const found = words.find((word) => word === given);
  if (found !== undefined) return found;
  throw invalid(name, TEXT.notOneOf(name, words.join(", ")));
}

export function isoTime(ms: number): string;
export function isoTime(ms: number | null): string | null;
export function isoTime(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}
