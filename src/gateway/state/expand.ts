// Expands a Responses request before its codec reads it: the history it continues, the items it names and the summaries
// it carries take their place in `input`. Routing, money and every provider then see the whole conversation.

import { GatewayError } from "../../core/errors.ts";
import type { JsonItem, StoredResponse } from "../../core/responses/stored.ts";
import { sealedSummary, summaryMessage } from "../../formats/openai-responses/stored/compaction.ts";
import { inputItems, isId, outputItems, referencedId } from "../../formats/openai-responses/stored/items.ts";
import { isObject } from "../../formats/wire/fields.ts";
import { type ParsedBody, scanBody, spliceFields } from "../../formats/wire/json-source.ts";
import type { StateFields } from "./read-state.ts";
import type { StateServices } from "./services.ts";

/** More turns than this are compacted, or kept in a conversation. */
const CHAIN_MAX = 1_000;
/** Read at once from a conversation; one with more items is too long for any model. */
const ITEMS_MAX = 10_000;
/** How much may be read, as a multiple of what a conversation may have. */
const READ_FACTOR = 4;

/** A request with its history, and what of it is new. */
export interface Expanded extends ParsedBody {
  /** The request's own input, with references resolved. */
  readonly ownItems: readonly JsonItem[];
}

type ExpandServices = Pick<StateServices, "responses" | "conversations" | "compactions" | "conversationBytes">;

/** Whose request it is, and what it says about state. */
export interface Continuation {
  readonly accountId: string;
  readonly fields: Pick<StateFields, "previousId" | "conversationId">;
}

export async function expand(
  parsed: ParsedBody,
  continuation: Continuation,
  services: ExpandServices,
): Promise<Expanded> {
  if (!isReadable(parsed.body.input)) return { ...parsed, ownItems: [] };
  const given = inputItems(parsed.body.input);
  const { ownItems, items } = await gather(given, continuation, services);
  const input = await openSummaries(items, continuation.accountId, services);
  // Nothing of it uses state: the client's own bytes go on.
  if (input === given) return { ...parsed, ownItems };
  const { source } = scanBody(spliceFields(parsed.source, new Map([["input", JSON.stringify(input)]])));
  return { source, body: { ...parsed.body, input }, ownItems };
}

/** Everything that was said, summaries still sealed. The list itself when the request uses no state. */
export async function gather(
  given: readonly JsonItem[],
  { accountId, fields }: Continuation,
  services: ExpandServices,
): Promise<{ readonly ownItems: readonly JsonItem[]; readonly items: readonly JsonItem[] }> {
  const ownItems = await resolveReferences(given, accountId, services);
  const history = await historyOf(accountId, fields, services);
  if (history.length === 0) {
    if (ownItems !== given) checkSize(ownItems, services);
    return { ownItems, items: ownItems };
  }
  const items = [...history, ...ownItems];
  checkSize(items, services);
  return { ownItems, items };
}

/** Whatever else it is, the codec refuses. */
function isReadable(input: unknown): boolean {
  return (input ?? null) === null || typeof input === "string" || (Array.isArray(input) && input.every(isObject));
}

/** What came before the request; empty for one that continues nothing. */
async function historyOf(
  accountId: string,
  { previousId, conversationId }: Pick<StateFields, "previousId" | "conversationId">,
  services: ExpandServices,
): Promise<readonly JsonItem[]> {
  if (previousId !== null) {
    if (!isId(previousId)) throw previousNotFound(previousId);
    return chainItems(accountId, previousId, services);
  }
  if (conversationId === null) return [];
  if (!isId(conversationId)) throw conversationNotFound(conversationId);
  const page = { after: null, isNewestFirst: false, limit: ITEMS_MAX + 1 };
  const items = await services.conversations.list({ accountId, id: conversationId }, page);
  if (items === null) throw conversationNotFound(conversationId);
  if (items.length > ITEMS_MAX) throw tooLarge(services);
  return items;
}

async function chainItems(accountId: string, id: string, { responses }: ExpandServices): Promise<readonly JsonItem[]> {
  const chain = await responses.chain({ accountId, id }, CHAIN_MAX);
  const oldest = chain.at(-1);
  if (oldest === undefined) throw previousNotFound(id);
  if (chain.length === CHAIN_MAX && oldest.parentId !== null) {
    const message = `The conversation has more than ${CHAIN_MAX} responses. Compact it with POST /v1/responses/compact.`;
    throw new GatewayError("badRequest", message, { code: "conversation_too_long", param: "previous_response_id" });
  }
  // A response in the middle was deleted or has expired. To leave it out would change what was said.
  if (oldest.parentId !== null) throw previousNotFound(oldest.parentId);
  const unfinished = chain.find(({ status }) => status !== "completed" && status !== "incomplete");
  if (unfinished !== undefined) throw notCompleted(unfinished);
  return chain.toReversed().flatMap(({ content }) => [...content.input, ...outputItems(content.response)]);
}

/** The same list when it has no references. */
export async function resolveReferences(
  items: readonly JsonItem[],
  accountId: string,
  services: Pick<StateServices, "responses" | "conversationBytes">,
): Promise<readonly JsonItem[]> {
  const ids = items.flatMap((item) => referencedId(item) ?? []);
  if (ids.length === 0) return items;
  // A response that holds one of them is read whole.
  const maxBytes = services.conversationBytes * READ_FACTOR;
  const found = await services.responses.items(accountId, [...new Set(ids.filter(isId))], maxBytes);
  if (found === null) throw tooLarge(services);
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
  accountId: string,
  services: Pick<StateServices, "compactions" | "conversationBytes">,
): Promise<readonly JsonItem[]> {
  const sealed = new Set(items.flatMap((item) => sealedSummary(item) ?? []));
  if (sealed.size === 0) return items;
  const opened = new Map<string | null, JsonItem>();
  for (const text of sealed) opened.set(text, summaryMessage(await openSummary(text, accountId, services)));
  const shown = items.map((item) => opened.get(sealedSummary(item)) ?? item);
  checkSize(shown, services);
  return shown;
}

function openSummary(
  sealed: string,
  accountId: string,
  { compactions }: Pick<StateServices, "compactions">,
): Promise<string> {
  return compactions.open(sealed, accountId).catch((cause: unknown) => {
    const message = "A compaction item in 'input' cannot be opened. It is damaged, or it is another account's.";
    throw new GatewayError("badRequest", message, { code: "invalid_compaction", param: "input", cause });
  });
}

/** Before they are written in one text: a request of a few bytes may name one item thousands of times. */
function checkSize(items: readonly JsonItem[], services: Pick<StateServices, "conversationBytes">): void {
  const sizes = new Map<JsonItem, number>();
  let bytes = 0;
  for (const item of items) {
    const size = sizes.get(item) ?? Buffer.byteLength(JSON.stringify(item));
    sizes.set(item, size);
    bytes += size;
    if (bytes > services.conversationBytes) throw tooLarge(services);
  }
}

function previousNotFound(id: string): GatewayError {
  return new GatewayError("badRequest", `Previous response with id '${id}' not found.`, {
    code: "previous_response_not_found",
    param: "previous_response_id",
  });
}

function notCompleted({ id, status }: StoredResponse): GatewayError {
  return new GatewayError("badRequest", `Response '${id}' cannot be continued: its status is ${status}.`, {
    code: "previous_response_not_completed",
    param: "previous_response_id",
  });
}

export function conversationNotFound(id: string): GatewayError {
  return new GatewayError("notFound", `Conversation with id '${id}' not found.`, { code: "conversation_not_found" });
}

function itemNotFound(id: string): GatewayError {
  const message = `Item with id '${id}' not found. Items are kept only when 'store' is not false.`;
  return new GatewayError("notFound", message, { code: "item_not_found", param: "input" });
}

export function tooLarge({ conversationBytes }: Pick<StateServices, "conversationBytes">): GatewayError {
  const message = `The conversation is longer than ${conversationBytes} bytes or ${ITEMS_MAX} items. Compact it with POST /v1/responses/compact.`;
  return new GatewayError("badRequest", message, { code: "conversation_too_large", param: "input" });
}
