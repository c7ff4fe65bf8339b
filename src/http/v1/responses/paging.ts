// Query parameters of stored responses, and lists of items. Behaviour 10.

import type { FastifyRequest } from "fastify";
import { GatewayError } from "../../../core/errors.ts";
import type { ItemPage, JsonItem, OwnedId } from "../../../core/responses/stored.ts";
import { isId } from "../../../core/responses/stored.ts";
import { invalid } from "../../../formats/json/fields.ts";
import { wantsEncrypted } from "../../../formats/openai-responses/items.ts";
import * as TEXT from "../../text.ts";
import { callerOf } from "../key-admission.ts";

export type QueryTexts = Readonly<Record<string, string | readonly string[] | undefined>>;

/** A request for something by its id. */
export type IdRequest = FastifyRequest<{ Params: { id: string; item?: string }; Querystring: QueryTexts }>;

/** Throws where nothing can have such an id. */
export function nameOf(request: IdRequest, notFound: (id: string) => GatewayError): OwnedId {
  const { id, item } = request.params;
  if (!isId(id)) throw notFound(id);
  if (item !== undefined && !isId(item)) throw unknownItem(item);
  return { accountId: callerOf(request).key.accountId, id };
}

const LIMIT_DEFAULT = 20;
export const LIMIT_MAX = 100;

/** Reads a page. Without an order, the newest item comes first, as the vendor has it. */
export function readPage(query: QueryTexts): ItemPage {
  const order = single(query, "order") ?? "desc";
  if (order !== "asc" && order !== "desc") throw invalid("order", TEXT.invalidOrder);
  const limit = readWhole(query, "limit", { min: 1, max: LIMIT_MAX }) ?? LIMIT_DEFAULT;
  const after = single(query, "after");
  if (after !== null && !isId(after)) throw unknownItem(after);
  return { after, isNewestFirst: order === "desc", limit };
}

export function readWhole(query: QueryTexts, name: string, range: { min: number; max: number }): number | null {
  const text = single(query, name);
  if (text === null) return null;
  const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= range.min && value <= range.max) return value;
  throw invalid(name, TEXT.notInRange(name, range.min, range.max));
}

export function readFlag(query: QueryTexts, name: string): boolean {
  const text = single(query, name) ?? "false";
  if (text !== "true" && text !== "false") throw invalid(name, TEXT.notBoolean(name));
  return text === "true";
}

/** Tells whether encrypted reasoning is asked for. Clients write a list with brackets, without them, or with commas. */
export function showsEncrypted(query: QueryTexts): boolean {
  const given = [query.include, query["include[]"]].flat().flatMap((text) => text?.split(",") ?? []);
  return wantsEncrypted({ include: given });
}

export function single(query: QueryTexts, name: string): string | null {
  const value = query[name];
  if (value === undefined || typeof value === "string") return value ?? null;
  throw invalid(name, TEXT.givenTwice(name));
}

/** A page of items that are all at hand, with one more where there are more. */
export function pageOf(items: readonly JsonItem[], { after, isNewestFirst, limit }: ItemPage): readonly JsonItem[] {
  const ordered = isNewestFirst ? items.toReversed() : items;
  const place = after === null ? -1 : ordered.findIndex(({ id }) => id === after);
  if (after !== null && place < 0) throw unknownItem(after);
  return ordered.slice(place + 1, place + 2 + limit);
}

export function unknownItem(id: string): GatewayError {
  return new GatewayError("notFound", TEXT.itemNotFound(id), { code: "item_not_found" });
}
