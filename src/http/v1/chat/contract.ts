// The contract of stored chat completions.

import { Type } from "typebox";
import { inPath, json, type Operation, query } from "../../openapi/operation.ts";
import { AnyObject, AnyText, Flag, listed, named, nullable, optional } from "../../openapi/schema.ts";
import { ChatCompletionSchema, v1 } from "../contract.ts";
import { Metadata } from "../responses/contract.ts";
import { LIMIT_MAX } from "../responses/paging.ts";

const ID = inPath("id");
const MISSING = [404];
const PAGE = [
  query("order", listed(["asc", "desc"]), "The oldest come first, unless it is `desc`."),
  query("after", AnyText, "The id after which the page begins."),
  query("limit", Type.Integer({ minimum: 1, maximum: LIMIT_MAX })),
];
const pageOf = (name: string, schema: Parameters<typeof Type.Array>[0]) =>
  named(name, {
    object: Type.Literal("list"),
    data: Type.Array(schema),
    first_id: nullable(AnyText),
    last_id: nullable(AnyText),
    has_more: Flag,
  });

export const STORED_COMPLETION_OPERATIONS: readonly Operation[] = [
  v1("listChatCompletions", "get", "/v1/chat/completions", {
    summary: "List stored chat completions; `metadata[name]=text` filters by metadata",
    parameters: [query("model", AnyText), ...PAGE],
    response: json(pageOf("ChatCompletionList", ChatCompletionSchema)),
    errors: MISSING,
  }),
  v1("getChatCompletion", "get", "/v1/chat/completions/{id}", {
    summary: "A stored chat completion",
    parameters: [ID],
    response: json(ChatCompletionSchema),
    errors: MISSING,
  }),
  v1("updateChatCompletion", "post", "/v1/chat/completions/{id}", {
    summary: "Replace the metadata of a stored chat completion",
    parameters: [ID],
    body: json(named("ChatCompletionUpdate", { metadata: optional(Metadata) })),
    response: json(ChatCompletionSchema),
    errors: MISSING,
  }),
  v1("deleteChatCompletion", "delete", "/v1/chat/completions/{id}", {
    summary: "Delete a stored chat completion",
    parameters: [ID],
    response: json(
      named("DeletedChatCompletion", { id: AnyText, object: Type.Literal("chat.completion.deleted"), deleted: Flag }),
    ),
    errors: MISSING,
  }),
  v1("listChatMessages", "get", "/v1/chat/completions/{id}/messages", {
    summary: "The messages of the request of a stored chat completion",
    parameters: [ID, ...PAGE],
    response: json(pageOf("ChatMessageList", AnyObject)),
    errors: MISSING,
  }),
];
