// Conversations and their items. Responses that name a conversation read its items and add their own.

import { randomBytes } from "node:crypto";
import type { FastifyInstance } from "fastify";
import { GatewayError } from "../../../core/errors.ts";
import type { Conversation, JsonItem, OwnedId } from "../../../core/responses/stored.ts";
import { invalid, isObject, type JsonObject, readObject } from "../../../formats/json/fields.ts";
import { inputItems, storedItems, visibleItem, writeItemList } from "../../../formats/openai-responses/stored/items.ts";
import { conversationFull, conversationNotFound, resolveReferences } from "../../../gateway/state/expand.ts";
import type { StateServices } from "../../../gateway/state/services.ts";
import { countStored, requireStoringCredits } from "../../../gateway/state/storing.ts";
import type { CallContext } from "../../context.ts";
import { bodyOf, parsedBodyOf } from "../../exchange/body.ts";
import * as TEXT from "../../text.ts";
import { callerOf } from "../key-admission.ts";
import { newAnswerId } from "./create.ts";
import { type IdRequest, nameOf, readPage, showsEncrypted, unknownItem } from "./paging.ts";

/** Limits as the vendor documents them. */
export const ITEMS_AT_ONCE = 20;
export const METADATA_MAX = { keys: 16, keyLength: 64, valueLength: 512 } as const;

export function registerConversations(
  server: FastifyInstance,
  edge: Pick<CallContext, "state" | "services" | "now">,
): void {
  const { state, now } = edge;
  const { conversations } = state;
  const found = async (name: OwnedId): Promise<object> => {
    const conversation = await conversations.find(name);
    if (conversation === null) throw conversationNotFound(name.id);
    return shown(conversation);
  };

  server.post("/v1/conversations", async (request) => {
    const caller = callerOf(request);
    await requireStoringCredits(caller, edge.services());
    const body = bodyOf(request).length === 0 ? {} : (await parsedBodyOf(request)).body;
    const { accountId } = caller.key;
    const metadata = readMetadata(body);
    const items = await readItems(body, accountId, state);
    await countStored(caller, items, state);
    const id = `conv_${newAnswerId(now())}`;
    await conversations.create({ accountId, id, createdAtMs: now(), metadata }, items);
    return found({ accountId, id });
  });
  server.get("/v1/conversations/:id", async (request: IdRequest) => found(nameOf(request, conversationNotFound)));
  server.post("/v1/conversations/:id", async (request: IdRequest) => {
    const { body } = await parsedBodyOf(request);
    const name = nameOf(request, conversationNotFound);
    if (!(await conversations.update(name, readMetadata(body)))) throw conversationNotFound(name.id);
    return found(name);
  });
  server.delete("/v1/conversations/:id", async (request: IdRequest) => {
    const name = nameOf(request, conversationNotFound);
    if (!(await conversations.remove(name))) throw conversationNotFound(name.id);
    return { id: name.id, object: "conversation.deleted", deleted: true };
  });
  registerItems(server, edge);
}

function registerItems(server: FastifyInstance, { state, services }: Pick<CallContext, "state" | "services">): void {
  const { conversations } = state;

  server.get("/v1/conversations/:id/items", async (request: IdRequest) => {
    const page = readPage(request.query);
    const name = nameOf(request, conversationNotFound);
    const items = await conversations.list(name, { ...page, limit: page.limit + 1 });
    const { limit } = page;
    if (items !== null) return writeItemList(items, { limit, showsEncrypted: showsEncrypted(request.query) });
    throw (await conversations.find(name)) === null ? conversationNotFound(name.id) : unknownItem(String(page.after));
  });
  server.post("/v1/conversations/:id/items", async (request: IdRequest) => {
    await requireStoringCredits(callerOf(request), services());
    const { body } = await parsedBodyOf(request);
    const name = nameOf(request, conversationNotFound);
    if (!Array.isArray(body.items)) throw invalid("items", TEXT.invalidItems);
    const items = await readItems(body, name.accountId, state);
    await countStored(callerOf(request), items, state);
    const outcome = await conversations.append(name, items, state.conversationBytes());
    if (outcome === "missing") throw conversationNotFound(name.id);
    if (outcome === "full") throw conversationFull(state);
    return writeItemList(items, { limit: ITEMS_AT_ONCE, showsEncrypted: showsEncrypted(request.query) });
  });
  server.get("/v1/conversations/:id/items/:item", async (request: IdRequest) => {
    const name = nameOf(request, conversationNotFound);
    const { item: only = "" } = request.params;
    const items = await conversations.list(name, { only, after: null, isNewestFirst: false, limit: 1 });
    if (items === null) throw conversationNotFound(name.id);
    const [item] = items;
    if (item === undefined) throw unknownItem(only);
    return showsEncrypted(request.query) ? item : visibleItem(item);
  });
  server.delete("/v1/conversations/:id/items/:item", async (request: IdRequest) => {
    const name = nameOf(request, conversationNotFound);
    const conversation = await conversations.find(name);
    if (conversation === null) throw conversationNotFound(name.id);
    const { item = "" } = request.params;
    if (!(await conversations.removeItem(name, item))) throw unknownItem(item);
    return shown(conversation);
  });
}

function shown({ id, createdAtMs, metadata }: Conversation): object {
  return { id, object: "conversation", created_at: Math.floor(createdAtMs / 1000), metadata };
}

export function readMetadata(body: JsonObject): Readonly<Record<string, string>> {
  const metadata = readObject(body, "metadata") ?? {};
  const entries = Object.entries(metadata);
  const isFine = ([key, value]: [string, unknown]): boolean =>
    key.length <= METADATA_MAX.keyLength && typeof value === "string" && value.length <= METADATA_MAX.valueLength;
  if (entries.length <= METADATA_MAX.keys && entries.every(isFine)) return metadata as Readonly<Record<string, string>>;
  const { keys, keyLength, valueLength } = METADATA_MAX;
  const message = TEXT.invalidMetadata(keys, keyLength, valueLength);
  throw invalid("metadata", message);
}

/** Each with an id of its own. */
async function readItems(body: JsonObject, accountId: string, state: StateServices): Promise<readonly JsonItem[]> {
  const given = body.items ?? [];
  if (!Array.isArray(given) || !given.every(isItem)) {
    throw invalid("items", TEXT.untypedItems);
  }
  if (given.length > ITEMS_AT_ONCE) {
    const message = TEXT.tooManyItems(ITEMS_AT_ONCE);
    throw new GatewayError("badRequest", message, { code: "too_many_items", param: "items" });
  }
  const items = await resolveReferences(inputItems(given), accountId, state);
  return storedItems(items, `${randomBytes(20).toString("hex")}c`);
}

function isItem(item: unknown): boolean {
  return isObject(item) && (typeof item.type === "string" || typeof item.role === "string");
}
