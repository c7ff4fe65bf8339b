// Parts of chat-completions content as content blocks.

import type { ContentPart } from "../../../core/chat.ts";
import type { Conversion } from "../../wire/conversion.ts";
import { isObject, type JsonObject } from "../../wire/fields.ts";
import { type Block, cacheMark, textBlock } from "../blocks.ts";

const DATA_URL = /^data:([^;,]*)[^,]*;base64,/;
const IMAGE_TYPES: ReadonlySet<string> = new Set(["image/jpeg", "image/png", "image/gif", "image/webp"]);

export function writePart(part: ContentPart, conversion: Conversion): readonly Block[] {
  const blocks = convert(part, conversion);
  return blocks.map((block) => ({ ...block, ...cacheMark(part) }));
}

function convert(part: ContentPart, conversion: Conversion): readonly Block[] {
  switch (part.type) {
    case "text":
      return (part.text ?? "").trim() === "" ? [] : [textBlock(part.text ?? "")];
    case "refusal":
      return [textBlock(String(part.refusal ?? ""))];
    case "image_url":
      return writeImage(part.image_url as JsonObject, conversion);
    case "file":
      return writeFile(isObject(part.file) ? part.file : {}, conversion);
    case "input_audio":
      conversion.refuse("it cannot hear");
      return [];
    default:
      conversion.note(`dropped a part '${part.type}': the Messages format has no counterpart`);
      return [];
  }
}

function writeImage({ url }: JsonObject, conversion: Conversion): readonly Block[] {
  const address = String(url);
  if (!address.startsWith("data:")) return [{ type: "image", source: { type: "url", url: address } }];
  const match = DATA_URL.exec(address);
  const mediaType = (match?.[1] ?? "").replace("image/jpg", "image/jpeg");
  if (match === null || !IMAGE_TYPES.has(mediaType)) {
    conversion.refuse(
      `it takes images as jpeg, png, gif or webp, not ${mediaType === "" ? "this data URL" : mediaType}`,
    );
    return [];
  }
  return [{ type: "image", source: { type: "base64", media_type: mediaType, data: address.slice(match[0].length) } }];
}

function writeFile({ file_data: data, filename }: JsonObject, conversion: Conversion): readonly Block[] {
  if (typeof data !== "string") {
    conversion.refuse("a file id names a file kept at another provider; send the file's data");
    return [];
  }
  const title = typeof filename === "string" && filename !== "" ? { title: filename } : {};
  const match = DATA_URL.exec(data);
  const mediaType = match?.[1] ?? "application/pdf";
  const base64 = match === null ? data : data.slice(match[0].length);
  if (mediaType === "application/pdf") {
    return [{ type: "document", source: { type: "base64", media_type: mediaType, data: base64 }, ...title }];
  }
  if (IMAGE_TYPES.has(mediaType)) {
    return [{ type: "image", source: { type: "base64", media_type: mediaType, data: base64 } }];
  }
  if (mediaType.startsWith("text/") || mediaType === "application/json") {
    const text = Buffer.from(base64, "base64").toString("utf8");
    return [{ type: "document", source: { type: "text", media_type: "text/plain", data: text }, ...title }];
  }
  conversion.refuse(`it takes files as pdf or text, not ${mediaType}`);
  return [];
}
