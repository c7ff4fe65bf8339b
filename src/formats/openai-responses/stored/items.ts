// Items of the Responses format as they are stored: input in one shape with an id for each item, and what a client may
// see of them.

import { isId, type JsonItem } from "../../../core/responses/stored.ts";
import { objectsIn } from "../../json/fields.ts";
import { itemType } from "../items.ts";

/** Prefixes of ids, by the type of the item. */
const PREFIXES: ReadonlyMap<string, string> = new Map([
  ["message", "msg"],
  ["reasoning", "rs"],
  ["function_call", "fc"],
  ["function_call_output", "fco"],
  ["custom_tool_call", "ctc"],
  ["custom_tool_call_output", "ctco"],
  ["compaction", "cmp"],
]);

/** A text stands for one message of the user. What is no item is left to the reader of the request, which refuses it. */
export function inputItems(input: unknown): readonly JsonItem[] {
  if (typeof input === "string") return [{ type: "message", role: "user", content: input }];
  return objectsIn(input);
}

/** Writes items for lists: with type, id and content parts. `stem` makes the ids unique. */
export function storedItems(items: readonly JsonItem[], stem: string): readonly JsonItem[] {
  return items.map((item, index) => {
    const type = typeof item.type === "string" ? item.type : "message";
    const id = isId(item.id) ? item.id : `${PREFIXES.get(type) ?? "item"}_${stem}${index.toString(36)}`;
    return type === "message"
      ? { ...item, type, id, status: item.status ?? "completed", content: contentParts(item) }
      : { ...item, type, id };
  });
}

function contentParts({ role, content }: JsonItem): unknown {
  if (typeof content !== "string") return content;
  return role === "assistant"
    ? [{ type: "output_text", text: content, annotations: [] }]
    : [{ type: "input_text", text: content }];
}

/** The id that a reference names; null for every other item. */
export function referencedId(item: JsonItem): string | null {
  return itemType(item) === "item_reference" && typeof item.id === "string" ? item.id : null;
}

export function outputItems({ output }: JsonItem): readonly JsonItem[] {
  return objectsIn(output);
}

/** Without encrypted reasoning, which is stored for later turns whether the client asked for it or not. */
export function visibleItem(item: JsonItem): JsonItem {
  if (item.type !== "reasoning" || item.encrypted_content === undefined) return item;
  const { encrypted_content: _, ...visible } = item;
  return visible;
}

export function visibleResponse(response: JsonItem): JsonItem {
  return Array.isArray(response.output) ? { ...response, output: outputItems(response).map(visibleItem) } : response;
}

interface ListTerms {
  readonly limit: number;
  readonly showsEncrypted: boolean;
  /** Left out where the items are one more than the page has. */
  readonly hasMore?: boolean;
}

/** A page of a list. `items` has one more than the page, where there are more. */
export function writeItemList(
  items: readonly JsonItem[],
  { limit, showsEncrypted, hasMore = items.length > limit }: ListTerms,
): JsonItem {
  const shown = items.slice(0, limit).map((item) => (showsEncrypted ? item : visibleItem(item)));
  return {
    object: "list",
    data: shown,
    first_id: shown[0]?.id ?? null,
    last_id: shown.at(-1)?.id ?? null,
    has_more: hasMore,
  };
}
