// Parts of chat-completions content as Gemini's parts: text, images, sounds and files.

import type { ContentPart } from "../../../core/chat.ts";
import { readDataUrl } from "../../convert/chat-turns.ts";
import type { Conversion } from "../../convert/conversion.ts";
import { isObject, type JsonObject, toText } from "../../json/fields.ts";
import type { Part } from "../shape.ts";

/** By the end of a file's name, for data and addresses that do not say what they are. */
const MEDIA_TYPES: Readonly<Record<string, string>> = {
  pdf: "application/pdf",
  txt: "text/plain",
  md: "text/markdown",
  csv: "text/csv",
  html: "text/html",
  json: "application/json",
  jpg: "image/jpeg",
  jpeg: "image/jpeg",
  png: "image/png",
  gif: "image/gif",
  webp: "image/webp",
  heic: "image/heic",
  wav: "audio/wav",
  mp3: "audio/mp3",
  mp4: "video/mp4",
  mov: "video/mov",
  webm: "video/webm",
};

/** The content of a message. Blank text is no part: Gemini refuses it. */
export function writeParts(content: unknown, conversion: Conversion): readonly Part[] {
  if (typeof content === "string") return textPart(content);
  return Array.isArray(content)
    ? (content as readonly ContentPart[]).flatMap((part) => writePart(part, conversion))
    : [];
}

export function textPart(text: unknown): readonly Part[] {
  return typeof text === "string" && text.trim() !== "" ? [{ text }] : [];
}

const PARTS: ReadonlySet<string> = new Set(["text", "refusal", "image_url", "video_url", "input_audio", "file"]);

export function takesPart(type: string): boolean {
  return PARTS.has(type);
}

function writePart(part: ContentPart, conversion: Conversion): readonly Part[] {
  switch (part.type) {
    case "text":
      return textPart(part.text);
    case "refusal":
      return textPart(part.refusal);
    case "image_url":
    case "video_url":
      return writeMedia(addressOf(part[part.type]), conversion);
    case "input_audio":
      return writeAudio(isObject(part.input_audio) ? part.input_audio : {});
    case "file":
      return writeFile(isObject(part.file) ? part.file : {}, conversion);
    default:
      conversion.refuse(`it takes no content of the type '${part.type}'`);
      return [];
  }
}

/** Reads an address: clients send an object or the bare text. */
function addressOf(value: unknown): string {
  return toText(isObject(value) ? value.url : value);
}

function writeMedia(address: string, conversion: Conversion): readonly Part[] {
  if (!address.startsWith("data:")) return [fileData(address)];
  const data = readDataUrl(address);
  if (data !== null && data.mediaType !== "") return [inlineData(data.mediaType, data.base64)];
  conversion.refuse("it takes inline data in base64 with a media type, not this data URL");
  return [];
}

function writeAudio({ data, format }: JsonObject): readonly Part[] {
  const name = toText(format ?? "wav");
  return [inlineData(MEDIA_TYPES[name] ?? `audio/${name}`, toText(data ?? ""))];
}

/** A file id is of use only where it is an address, as Google's file ids are. */
function writeFile({ file_data: data, file_id: id, filename }: JsonObject, conversion: Conversion): readonly Part[] {
  if (typeof data === "string") {
    const known = readDataUrl(data);
    const mediaType = known?.mediaType || mediaTypeOf(toText(filename ?? "")) || "application/pdf";
    return [inlineData(mediaType, known?.base64 ?? data)];
  }
  if (typeof id === "string" && /^(https?|gs):\/\//.test(id)) return [fileData(id)];
  conversion.refuse("a file id names a file kept at another provider; send the file's data");
  return [];
}

function inlineData(mimeType: string, data: string): Part {
  return { inlineData: { mimeType, data } };
}

function fileData(fileUri: string): Part {
  const mimeType = mediaTypeOf(fileUri);
  return { fileData: mimeType === undefined ? { fileUri } : { mimeType, fileUri } };
}

function mediaTypeOf(name: string): string | undefined {
  const end = /\.([a-z0-9]+)(?:[?#].*)?$/i.exec(name)?.[1];
  return end === undefined ? undefined : MEDIA_TYPES[end.toLowerCase()];
}
