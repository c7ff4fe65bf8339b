// Chat-completions messages as input items of the Responses format. A message with tool calls becomes one item for its
// text and one for each call. Reasoning that this format sealed goes back before them.

import type { ChatMessage, ContentPart } from "../../../core/chat.ts";
import type { Dialect } from "../../../core/model.ts";
import { refuseMedia } from "../../convert/chat-turns.ts";
import type { Conversion } from "../../convert/conversion.ts";
import { detailsOf } from "../../convert/reasoning-details.ts";
import { isObject, type JsonObject, toText } from "../../json/fields.ts";
import { toolIdFor } from "../../tools/calls.ts";
import { RESPONSES } from "../items.ts";
import type { Item } from "../output-items.ts";

interface InputOptions {
  readonly dialect: Dialect;
  /** The provider has refused the reasoning of earlier turns. */
  readonly stripsReasoning: boolean;
  readonly conversion: Conversion;
}

/** The whole conversation. Instructions stay where they were: the format takes them at any place. */
export function writeInput(messages: readonly ChatMessage[], options: InputOptions): readonly Item[] {
  const customIds = new Set<string>();
  return messages.flatMap((message) => {
    if (message.name !== undefined && message.role !== "function") {
      options.conversion.note("content_converted", "dropped names of messages: the Responses format has none");
    }
    if (message.role === "assistant") return writeAssistant(message, customIds, options);
    if (message.role === "tool" || message.role === "function") return [writeResult(message, customIds, options)];
    return writeMessage(message, options);
  });
}

function writeMessage({ role, content }: ChatMessage, { dialect, conversion }: InputOptions): readonly Item[] {
  const written = typeof content === "string" ? content : writeParts(content, conversion);
  if (written.length === 0) return [];
  return [{ role: role === "developer" && !dialect.hasDeveloperRole ? "system" : role, content: written }];
}

function writeParts(content: ChatMessage["content"], conversion: Conversion): readonly Item[] {
  const parts = (content ?? []) as readonly ContentPart[];
  return parts.flatMap((part) => writePart(part, conversion));
}

/** The types of parts that the format has its own for. */
const PARTS: ReadonlySet<string> = new Set(["text", "refusal", "image_url", "file"]);

export function takesPart(type: string): boolean {
  return PARTS.has(type);
}

function writePart(part: ContentPart, conversion: Conversion): readonly Item[] {
  switch (part.type) {
    case "text":
      return [{ type: "input_text", text: part.text ?? "" }];
    case "refusal":
      return [{ type: "input_text", text: toText(part.refusal ?? "") }];
    case "image_url": {
      const { url, detail = "auto" } = part.image_url as JsonObject;
      return [{ type: "input_image", image_url: url, detail }];
    }
    case "file":
      return [{ type: "input_file", ...(isObject(part.file) ? part.file : {}) }];
    case "input_audio":
      conversion.refuse("it takes no sound");
      return [];
    default:
      conversion.refuse(`it takes no content of the type '${part.type}'`);
      return [];
  }
}

function writeAssistant(message: ChatMessage, customIds: Set<string>, options: InputOptions): readonly Item[] {
  refuseMedia(message, options.conversion);
  const said = writeSaid(message);
  return [
    ...writeReasoning(message, options),
    ...(said.length === 0 ? [] : [{ role: "assistant", content: said }]),
    ...writeCalls(message, customIds, options.dialect),
  ];
}

function writeSaid(message: ChatMessage): string | readonly Item[] {
  const { content } = message;
  const { refusal } = message as unknown as JsonObject;
  const hasRefusal = typeof refusal === "string" && refusal !== "";
  if (typeof content === "string" && !hasRefusal) return content;
  const parts: readonly ContentPart[] =
    typeof content === "string" ? [{ type: "text", text: content }] : ((content ?? []) as readonly ContentPart[]);
  return [...parts, ...(hasRefusal ? [{ type: "refusal", refusal }] : [])].flatMap(writeSaidPart);
}

function writeSaidPart(part: ContentPart): readonly Item[] {
  if (part.type === "refusal") return [{ type: "refusal", refusal: part.refusal }];
  return typeof part.text === "string" && part.text !== "" ? [{ type: "output_text", text: part.text }] : [];
}

function writeReasoning(message: ChatMessage, { dialect, stripsReasoning }: InputOptions): readonly Item[] {
  if (stripsReasoning) return [];
  const sealed = detailsOf(RESPONSES, message).filter(({ data }) => data !== undefined);
  if (sealed.length > 0) {
    return sealed.map(({ id, summary, data }) => ({
      type: "reasoning",
      ...(id === undefined ? {} : { id }),
      summary: summary === undefined ? [] : [{ type: "summary_text", text: summary }],
      encrypted_content: data,
    }));
  }
  const { reasoning_content: text } = message as unknown as JsonObject;
  if (typeof text !== "string" || text === "" || !takesPlainReasoning(dialect, message)) return [];
  return [{ type: "reasoning", summary: [], content: [{ type: "reasoning_text", text }] }];
}

/** Only hosts that say so take reasoning in plain words; the vendors' own refuse what they did not seal. */
function takesPlainReasoning({ reasoningHistory = "drop" }: Dialect, { tool_calls: calls }: ChatMessage): boolean {
  return reasoningHistory === "keep" || (reasoningHistory === "tool-turns" && (calls?.length ?? 0) > 0);
}

function writeCalls(message: ChatMessage, customIds: Set<string>, { toolIds }: Dialect): readonly Item[] {
  const { function_call: deprecated } = message as unknown as JsonObject;
  const calls = (message.tool_calls ?? []).map((call): Item => {
    const id = toolIdFor(toText(call.id ?? ""), toolIds);
    const { custom } = call as JsonObject;
    if (!isObject(custom)) return functionCall(id, call.function ?? {});
    customIds.add(id);
    return { type: "custom_tool_call", call_id: id, name: custom.name, input: custom.input ?? "" };
  });
  return isObject(deprecated) ? [...calls, functionCall(toText(deprecated.name), deprecated)] : calls;
}

function functionCall(id: string, { name, arguments: text }: JsonObject): Item {
  return { type: "function_call", call_id: id, name, arguments: text === undefined || text === "" ? "{}" : text };
}

/** A result of the deprecated role `function` has no id; its call goes by the name as well. */
function writeResult(
  { role, content, name, tool_call_id: given }: ChatMessage,
  customIds: ReadonlySet<string>,
  { dialect, conversion }: InputOptions,
): Item {
  const id = role === "function" ? toText(name ?? "") : toolIdFor(toText(given ?? ""), dialect.toolIds);
  const type = customIds.has(id) ? "custom_tool_call_output" : "function_call_output";
  return { type, call_id: id, output: typeof content === "string" ? content : writeParts(content, conversion) };
}
