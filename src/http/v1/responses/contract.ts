// The contract of stored responses, conversations and compaction.

import { Type } from "typebox";
import { idempotencyKey, inPath, json, type Operation, query } from "../../openapi/operation.ts";
import { AnyObject, AnyText, Flag, Integer, listed, named, nullable, optional, Texts } from "../../openapi/schema.ts";
import { RESPONSE_STREAM, ResponseSchema, v1 } from "../contract.ts";
import { CompactRequestSchema } from "../request-schemas.ts";
import { ITEMS_AT_ONCE, METADATA_MAX } from "./conversations.ts";
import { LIMIT_MAX } from "./paging.ts";

const ItemSchema = named("Item", { id: AnyText, type: AnyText });
const ItemListSchema = named("ItemList", {
  object: Type.Literal("list"),
  data: Type.Array(ItemSchema),
  first_id: nullable(AnyText),
  last_id: nullable(AnyText),
  has_more: Flag,
});
const ConversationSchema = named("Conversation", {
  id: AnyText,
  object: Type.Literal("conversation"),
  created_at: Integer,
  metadata: AnyObject,
});
export const Metadata = Type.Unsafe<object>({
  type: "object",
  maxProperties: METADATA_MAX.keys,
  propertyNames: { maxLength: METADATA_MAX.keyLength },
  additionalProperties: { type: "string", maxLength: METADATA_MAX.valueLength },
});
const NewItem = Type.Union([
  Type.Object({ type: AnyText }),
  Type.Object({ type: Type.Optional(AnyText), role: AnyText }),
]);
const Items = Type.Array(NewItem, { maxItems: ITEMS_AT_ONCE });
const ID = inPath("id");
const INCLUDE = query("include", Texts, "`reasoning.encrypted_content` shows encrypted reasoning.");
const PAGE = [
  query("order", listed(["asc", "desc"])),
  query("after", AnyText, "The id of the item after which the page begins."),
  query("limit", Type.Integer({ minimum: 1, maximum: LIMIT_MAX })),
  INCLUDE,
];
const MISSING = [404];

export const STATE_OPERATIONS: readonly Operation[] = [
  v1("compactResponse", "post", "/v1/responses/compact", {
    summary: "Summarize a conversation into one sealed item; charged like any request",
    body: json(CompactRequestSchema, { model: "auto", input: "A long story." }),
    response: json(
      named("Compaction", {
        id: AnyText,
        object: Type.Literal("response.compaction"),
        created_at: Integer,
        output: Type.Array(ItemSchema),
        usage: AnyObject,
        service: AnyObject,
      }),
    ),
    parameters: [idempotencyKey],
    errors: [402, 404, 409, 422],
  }),
  v1("getResponse", "get", "/v1/responses/{id}", {
    summary: "A stored response, or its events with `stream=true`",
    parameters: [
      ID,
      query("stream", Flag),
      query("starting_after", Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })),
      INCLUDE,
    ],
    response: { ...json(ResponseSchema), ...RESPONSE_STREAM },
    errors: MISSING,
  }),
  v1("deleteResponse", "delete", "/v1/responses/{id}", {
    summary: "Delete a stored response",
    parameters: [ID],
    response: json(named("DeletedResponse", { id: AnyText, object: Type.Literal("response"), deleted: Flag })),
    errors: MISSING,
  }),
  v1("cancelResponse", "post", "/v1/responses/{id}/cancel", {
    summary: "Cancel a response that runs in the background; any other is 400 `not_cancellable`",
    parameters: [ID],
    response: json(ResponseSchema),
    errors: [400, ...MISSING],
  }),
  v1("listInputItems", "get", "/v1/responses/{id}/input_items", {
    summary: "The input of a stored response",
    parameters: [ID, ...PAGE],
    response: json(ItemListSchema),
    errors: MISSING,
  }),
  v1("createConversation", "post", "/v1/conversations", {
    summary: "Begin a conversation",
    body: json(named("NewConversation", { items: optional(Items), metadata: optional(Metadata) })),
    isBodyOptional: true,
    response: json(ConversationSchema),
    errors: [402, ...MISSING],
  }),
  v1("getConversation", "get", "/v1/conversations/{id}", {
    summary: "A conversation",
    parameters: [ID],
    response: json(ConversationSchema),
    errors: MISSING,
  }),
  v1("updateConversation", "post", "/v1/conversations/{id}", {
    summary: "Replace the metadata of a conversation",
    parameters: [ID],
    body: json(named("ConversationUpdate", { metadata: optional(Metadata) })),
    response: json(ConversationSchema),
    errors: MISSING,
  }),
  v1("deleteConversation", "delete", "/v1/conversations/{id}", {
    summary: "Delete a conversation and its items",
    parameters: [ID],
    response: json(
      named("DeletedConversation", { id: AnyText, object: Type.Literal("conversation.deleted"), deleted: Flag }),
    ),
    errors: MISSING,
  }),
  v1("listConversationItems", "get", "/v1/conversations/{id}/items", {
    summary: "The items of a conversation",
    parameters: [ID, ...PAGE],
    response: json(ItemListSchema),
    errors: MISSING,
  }),
  v1("addConversationItems", "post", "/v1/conversations/{id}/items", {
    summary: "Add items to a conversation",
    parameters: [ID, INCLUDE],
    body: json(named("NewItems", { items: Items })),
    response: json(ItemListSchema),
    errors: [402, ...MISSING],
  }),
  v1("getConversationItem", "get", "/v1/conversations/{id}/items/{item}", {
    summary: "One item of a conversation",
    parameters: [ID, inPath("item"), INCLUDE],
    response: json(ItemSchema),
    errors: MISSING,
  }),
  v1("deleteConversationItem", "delete", "/v1/conversations/{id}/items/{item}", {
    summary: "Delete one item of a conversation",
    parameters: [ID, inPath("item")],
    response: json(ConversationSchema),
    errors: MISSING,
  }),
];
