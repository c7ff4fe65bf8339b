// Blocks of earlier turns that Anthropic's own tools have left, as text that any model can read. Without it, a model that
// takes over would not know what was searched, run or found.

import { isObject, type JsonObject, objectsIn, textOrEmpty, toText } from "../../json/fields.ts";
import type { Block } from "../blocks.ts";
import { ownResultText } from "../search-blocks.ts";

/** Fields of a result that say something to a reader; others are encrypted, ids or data. */
const READABLE = ["error_code", "title", "url", "text", "stdout", "stderr"] as const;

/** Returns null for a block that no reader could make sense of. */
export function serverText(block: Block): string | null {
  const { type, name, input } = block;
  const own = ownResultText(block);
  if (own !== null) return own;
  if (type === "compaction") return textOrEmpty(block.content);
  if (type === "server_tool_use" || type === "mcp_tool_use") {
    return `[Called ${toText(name)} with ${JSON.stringify(input ?? {})}]`;
  }
  if (!type.endsWith("_tool_result")) return null;
  return `[${type.slice(0, -"_tool_result".length)} returned: ${readableTexts(block.content).join("\n")}]`;
}

function readableTexts(content: unknown): readonly string[] {
  if (typeof content === "string") return [content];
  const found = Array.isArray(content) ? objectsIn(content) : isObject(content) ? [content] : [];
  return found.flatMap((each) => [...ownTexts(each), ...readableTexts(each.content), ...sourceText(each.source)]);
}

function ownTexts(object: JsonObject): readonly string[] {
  return READABLE.map((name) => textOrEmpty(object[name])).filter((text) => text !== "");
}

/** The text of a document that was fetched. */
function sourceText(source: unknown): readonly string[] {
  return isObject(source) && source.type === "text" ? [textOrEmpty(source.data)] : [];
}
