// Expands a Responses request before its codec reads it: the history it continues, the items it names and the summaries
// it carries take their place in `input`. Routing, money and every provider then see the whole conversation.

import { GatewayError } from "../../core/errors.ts";
import { type ChainLink, isId, type JsonItem, type OwnedId } from "../../core/responses/stored.ts";
import { isObject } from "../../formats/json/fields.ts";
import { type ParsedBody, scanBody } from "../../formats/json/parse.ts";
import { spliceFields } from "../../formats/json/splice.ts";
import type { StoredForm } from "../../formats/stored-form.ts";
import * as TEXT from "../text.ts";
import type { ReadableResponses } from "./held.ts";
import type { StateFields } from "./read-state.ts";
import type { StateServices } from "./services.ts";

/** More turns than this are compacted, or kept in a conversation. */
const CHAIN_MAX = 1_000;
/** Read at once from a conversation; one with more items is too long for any model. */
const ITEMS_MAX = 10_000;
/** The most that may be read, as a multiple of a conversation's limit: a response is stored with all its items. */
const READ_FACTOR = 4;
/**
 * The factor by which a conversation that is summarized may be longer: longer ones cannot come about, as they are not
 * continued.
 */
const SUMMARY_FACTOR = 4;

/** A request with its history, and what of it is new. */
export interface Expanded extends ParsedBody {
  /** The request's own input, with references resolved. */
  readonly ownItems: readonly JsonItem[];
}

interface ExpandServices extends Pick<StateServices, "form" | "conversations" | "compactions" | "conversationBytes"> {
  readonly responses: ReadableResponses;
}

/** Account of a request, and the fields of the request that refer to stored state. */
export interface Continuation {
  readonly accountId: string;
  readonly fields: Pick<StateFields, "previousId" | "conversationId">;
  /** The history is to be summarized, so it may be too long to be continued. */
  readonly isSummarized?: boolean;
}

export async function expand(
  parsed: ParsedBody,
  continuation: Continuation,
  services: ExpandServices,
): Promise<Expanded> {
  if (!isReadable(parsed.body.input)) return { ...parsed, ownItems: [] };
  const given = services.form.inputItems(parsed.body.input);
  const { previousId, conversationId } = continuation.fields;
  if (previousId === null && conversationId === null && !given.some((item) => needsState(item, services.form)))
    return { ...parsed, ownItems: given };
  const { ownItems, items } = await gather(given, continuation, services);
  const input = await openSummaries(items, continuation, services);
  // Nothing of it uses state: the client's own bytes go on.
  if (input === given) return { ...parsed, ownItems };
  const { source } = scanBody(spliceFields(parsed.source, new Map([["input", JSON.stringify(input)]])));
  return { source, body: { ...parsed.body, input }, ownItems };
}

/** Tells whether an item stands for others that are looked up. */
function needsState(item: JsonItem, { referencedId, sealedSummary }: StoredForm): boolean {
  return referencedId(item) !== null || sealedSummary(item) !== null;
}

/** Everything that was said, summaries still sealed. The list itself when the request uses no state. */
export async function gather(
  given: readonly JsonItem[],
  continuation: Continuation,
  services: ExpandServices,
): Promise<{ readonly ownItems: readonly JsonItem[]; readonly items: readonly JsonItem[] }> {
  const limits = limitsOf(continuation, services);
  const ownItems = await resolveReferences(given, continuation.accountId, services);
  const size = new SizeCheck(limits);
  const history = await historyOf(continuation, { limits, size }, services);
  if (history.length === 0) {
    if (ownItems !== given) size.add(ownItems);
    return { ownItems, items: ownItems };
  }
  size.add(ownItems);
  if (continuation.fields.previousId !== null) requireCalls(ownItems, history);
  return { ownItems, items: [...history, ...ownItems] };
}

/**
 * Throws for the result of a call that the continued response does not have, as the vendor does: the client means
 * another response. A summary may have taken the place of the call.
 */
function requireCalls(ownItems: readonly JsonItem[], history: readonly JsonItem[]): void {
  const items = [...history, ...ownItems];
  if (items.some(({ type }) => type === "compaction")) return;
  const called = new Set(items.flatMap((item) => (isResult(item) ? [] : [item.call_id])));
  const orphan = ownItems.find(
    (item) => isResult(item) && typeof item.call_id === "string" && !called.has(item.call_id),
  );
  if (orphan === undefined) return;
  const message = TEXT.callNotFound(String(orphan.call_id));
  throw new GatewayError("badRequest", message, { code: "tool_call_not_found", param: "input" });
}

function isResult({ type }: JsonItem): boolean {
  return typeof type === "string" && type.endsWith("_output");
}

interface HistoryLimits {
  readonly responses: number;
  readonly items: number;
  readonly bytes: number;
}

function limitsOf(
  { isSummarized = false }: Pick<Continuation, "isSummarized">,
  { conversationBytes }: Pick<StateServices, "conversationBytes">,
): HistoryLimits {
  const factor = isSummarized ? SUMMARY_FACTOR : 1;
  return { responses: CHAIN_MAX * factor, items: ITEMS_MAX * factor, bytes: conversationBytes() * factor };
}

/** Whatever else it is, the codec refuses. */
function isReadable(input: unknown): boolean {
  return (input ?? null) === null || typeof input === "string" || (Array.isArray(input) && input.every(isObject));
}

interface HistoryBounds {
  readonly limits: HistoryLimits;
  readonly size: SizeCheck;
}

/** The items before the request; empty for a request that continues nothing. */
async function historyOf(
  { accountId, fields: { previousId, conversationId } }: Continuation,
  bounds: HistoryBounds,
  services: ExpandServices,
): Promise<readonly JsonItem[]> {
  if (previousId !== null) {
    if (!isId(previousId)) throw previousNotFound(previousId);
    return chainItems({ accountId, id: previousId }, bounds, services);
  }
  if (conversationId === null) return [];
  if (!isId(conversationId)) throw conversationNotFound(conversationId);
  const { limits, size } = bounds;
  const page = { after: null, isNewestFirst: false, limit: limits.items + 1 };
  const items = await services.conversations.list({ accountId, id: conversationId }, page);
  if (items === null) throw conversationNotFound(conversationId);
  if (items.length > limits.items) throw tooLarge(limits);
  size.add(items);
  return items;
}

/** Opened piece by piece, and only after the rows have shown that it is worth it. */
async function chainItems(
  name: OwnedId,
  { limits, size }: HistoryBounds,
  { responses }: ExpandServices,
): Promise<readonly JsonItem[]> {
  const items: JsonItem[] = [];
  const check = (links: readonly ChainLink[]): void => checkChain(name.id, links, limits);
  for await (const found of responses.chain(name, { max: limits.responses, check })) {
    if (found === null) throw previousNotFound(name.id);
    size.add(found);
    items.push(...found);
  }
  return items;
}

/** The links are the newest first. */
function checkChain(id: string, links: readonly ChainLink[], limits: HistoryLimits): void {
  const oldest = links.at(-1);
  if (oldest === undefined) throw previousNotFound(id);
  if (links.length === limits.responses && oldest.parentId !== null) {
    const message = TEXT.conversationTooLong(limits.responses);
    throw new GatewayError("badRequest", message, { code: "conversation_too_long", param: "previous_response_id" });
  }
  // A response in the middle was deleted or has expired. To leave it out would change what was said.
  if (oldest.parentId !== null) throw previousNotFound(oldest.parentId);
  const unfinished = links.find(({ status }) => status !== "completed" && status !== "incomplete");
  if (unfinished !== undefined) throw notCompleted(unfinished);
  const bytes = links.reduce((sum, link) => sum + link.bytes, 0);
  if (bytes > limits.bytes * READ_FACTOR) throw tooLarge(limits);
}

/** The same list when it has no references. */
export async function resolveReferences(
  items: readonly JsonItem[],
  accountId: string,
  services: Pick<ExpandServices, "form" | "responses" | "conversationBytes">,
): Promise<readonly JsonItem[]> {
  const { referencedId } = services.form;
  const ids = items.flatMap((item) => referencedId(item) ?? []);
  if (ids.length === 0) return items;
  // A response that holds one of them is read whole.
  const maxBytes = services.conversationBytes() * READ_FACTOR;
  const found = await services.responses.items(accountId, [...new Set(ids.filter(isId))], maxBytes);
  if (found === null) throw tooLarge(limitsOf({}, services));
  return items.map((item) => {
    const id = referencedId(item);
    const resolved = id === null ? item : found.get(id);
    if (resolved === undefined) throw itemNotFound(String(id));
    return resolved;
  });
}

/** The same list when it has no summaries of ours. */
export async function openSummaries(
  items: readonly JsonItem[],
  continuation: Continuation,
  services: Pick<StateServices, "form" | "compactions" | "conversationBytes">,
): Promise<readonly JsonItem[]> {
  const { sealedSummary, summaryMessage } = services.form;
  const sealed = new Set(items.flatMap((item) => sealedSummary(item) ?? []));
  if (sealed.size === 0) return items;
  const opened = new Map<string | null, JsonItem>();
  for (const text of sealed)
    opened.set(text, summaryMessage(await openSummary(text, continuation.accountId, services)));
  const shown = items.map((item) => opened.get(sealedSummary(item)) ?? item);
  new SizeCheck(limitsOf(continuation, services)).add(shown);
  return shown;
}

function openSummary(
  sealed: string,
  accountId: string,
  { compactions }: Pick<StateServices, "compactions">,
): Promise<string> {
  return compactions.open(sealed, accountId).catch((cause: unknown) => {
    throw new GatewayError("badRequest", TEXT.invalidCompaction, { code: "invalid_compaction", param: "input", cause });
  });
}

/** Counts items before they are written in one text: a request of a few bytes may name one thousands of times. */
class SizeCheck {
  readonly #limits: HistoryLimits;
  readonly #sizes = new Map<JsonItem, number>();
  #bytes = 0;

  constructor(limits: HistoryLimits) {
    this.#limits = limits;
  }

  add(items: readonly JsonItem[]): void {
    for (const item of items) {
      const size = this.#sizes.get(item) ?? Buffer.byteLength(JSON.stringify(item));
      this.#sizes.set(item, size);
      this.#bytes += size;
      if (this.#bytes > this.#limits.bytes) throw tooLarge(this.#limits);
    }
  }
}

function previousNotFound(id: string): GatewayError {
  return new GatewayError("badRequest", TEXT.responseNotFound(id), {
    code: "previous_response_not_found",
    param: "previous_response_id",
  });
}

function notCompleted({ id, status }: ChainLink): GatewayError {
  return new GatewayError("badRequest", TEXT.cannotContinue(id, status), {
    code: "previous_response_not_completed",
    param: "previous_response_id",
  });
}

export function conversationNotFound(id: string): GatewayError {
  return new GatewayError("notFound", TEXT.conversationNotFound(id), { code: "conversation_not_found" });
}

function itemNotFound(id: string): GatewayError {
  return new GatewayError("notFound", TEXT.itemNotFound(id), { code: "item_not_found", param: "input" });
}

function tooLarge({ bytes, items }: HistoryLimits): GatewayError {
  const message = TEXT.conversationTooLarge(bytes, items);
  return new GatewayError("badRequest", message, { code: "conversation_too_large", param: "input" });
}

/** For what would be added to a conversation that is full. */
export function conversationFull(services: Pick<StateServices, "conversationBytes">): GatewayError {
  return tooLarge(limitsOf({}, services));
}
