// Content blocks of a user or of a tool as chat-completions parts. What only Anthropic can open is refused, so that
// another model is tried or the client is told.

import type { ContentPart } from "../../../core/chat.ts";
import type { Conversion } from "../../wire/conversion.ts";
import { isObject, type JsonObject } from "../../wire/fields.ts";
import { type Block, cacheMark } from "../blocks.ts";

export interface PartOptions {
  readonly conversion: Conversion;
  readonly keepsCacheControl: boolean;
}

/** The parts a block becomes: usually one, none when it is empty or left out, several for a document made of blocks. */
export function convertBlock(block: Block, options: PartOptions): readonly ContentPart[] {
  const mark = options.keepsCacheControl ? cacheMark(block) : {};
  switch (block.type) {
    case "text":
      return block.text === "" ? [] : [{ type: "text", text: String(block.text), ...mark }];
    case "image":
      return convertImage(block.source as JsonObject, options).map((part) => ({ ...part, ...mark }));
    case "document":
      return convertDocument(block, options).map((part) => ({ ...part, ...mark }));
    case "search_result":
      return [{ type: "text", text: searchResultText(block), ...mark }];
    case "container_upload":
      options.conversion.refuse("files in a code execution container exist at Anthropic only");
      return [];
    default:
      options.conversion.note(`dropped a block '${block.type}': chat-completions has no counterpart`);
      return [];
  }
}

function convertImage(source: JsonObject, { conversion }: PartOptions): readonly ContentPart[] {
  if (source.type === "base64") {
    return [{ type: "image_url", image_url: { url: dataUrl(source.media_type, source.data) } }];
  }
  if (source.type === "url") return [{ type: "image_url", image_url: { url: String(source.url) } }];
  conversion.refuse("a file id names a file kept at Anthropic; send the image as base64 or url");
  return [{ type: "image_url", image_url: { url: "" } }];
}

function convertDocument(block: Block, options: PartOptions): readonly ContentPart[] {
  const source = block.source as JsonObject;
  const title = typeof block.title === "string" && block.title !== "" ? block.title : null;
  const context = typeof block.context === "string" && block.context !== "" ? [textPart(block.context)] : [];
  switch (source.type) {
    case "text":
      return [...context, textPart(documentText(title, String(source.data ?? "")))];
    case "content":
      return [...context, ...convertInner(source.content, title, options)];
    case "base64": {
      const filename = title ?? "document.pdf";
      return [...context, { type: "file", file: { filename, file_data: dataUrl(source.media_type, source.data) } }];
    }
    case "url":
      options.conversion.refuse("a document given by url is fetched at Anthropic only; send it as base64 or text");
      return context;
    default:
      options.conversion.refuse("a file id names a file kept at Anthropic; send the document as base64 or text");
      return context;
  }
}

function convertInner(content: unknown, title: string | null, options: PartOptions): readonly ContentPart[] {
  if (typeof content === "string") return [textPart(documentText(title, content))];
  const blocks = Array.isArray(content) ? content.filter(isObject) : [];
  const parts = blocks.flatMap((block) => convertBlock(block as Block, options));
  return title === null ? parts : [textPart(`${title}:`), ...parts];
}

function searchResultText({ title, source, content }: Block): string {
  const blocks = Array.isArray(content) ? content.filter(isObject) : [];
  return [title, source, ...blocks.map((block) => block.text)].filter((text) => typeof text === "string").join("\n");
}

function textPart(text: string): ContentPart {
  return { type: "text", text };
}

function documentText(title: string | null, text: string): string {
  return title === null ? text : `${title}:\n${text}`;
}

function dataUrl(mediaType: unknown, data: unknown): string {
  return `data:${String(mediaType)};base64,${String(data)}`;
}
