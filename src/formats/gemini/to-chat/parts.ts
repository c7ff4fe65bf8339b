// Parts of a user's turn, or of a function's result, as chat-completions content. What only Google can open is refused, so
// that another model is tried or the client is told.

import type { ContentPart } from "../../../core/chat.ts";
import type { Conversion } from "../../convert/conversion.ts";
import { isObject, type JsonObject, toText } from "../../json/fields.ts";
import type { Part } from "../shape.ts";

/** Formats of `input_audio` by what stands behind `audio/`. */
const AUDIO_FORMATS: Readonly<Record<string, string>> = {
  mp3: "mp3",
  mpeg: "mp3",
  wav: "wav",
  wave: "wav",
  "x-wav": "wav",
};

/** Files kept at Google and videos that only Google fetches. */
const GOOGLE_FILE = /^gs:|^https?:\/\/([\w-]+\.)*(googleapis\.com|youtube\.com|youtu\.be)\//i;

/** The parts that one becomes: none when it is empty or dropped. */
export function convertPart(part: Part, conversion: Conversion): readonly ContentPart[] {
  if (typeof part.text === "string") return part.text === "" ? [] : [{ type: "text", text: part.text }];
  if (isObject(part.inlineData)) return convertData(part.inlineData, conversion);
  if (isObject(part.fileData)) return convertFile(part.fileData, conversion);
  const code = codeText(part);
  if (code !== null) return [{ type: "text", text: code }];
  for (const name of Object.keys(part)) {
    if (isObject(part[name])) conversion.refuse(`a part '${name}' is read by Google only`);
  }
  return [];
}

/** Code that Google ran, and what came out, as a reader would see it; null for any other part. */
export function codeText({ executableCode: code, codeExecutionResult: result }: Part): string | null {
  if (isObject(code)) return `\`\`\`${toText(code.language ?? "").toLowerCase()}\n${toText(code.code ?? "")}\n\`\`\``;
  return isObject(result) ? `\`\`\`\n${toText(result.output ?? "")}\n\`\`\`` : null;
}

function convertData(data: JsonObject, conversion: Conversion): readonly ContentPart[] {
  const [kind = "", subtype = ""] = toText(data.mimeType).toLowerCase().split(/[/;]/);
  const encoded = toText(data.data);
  if (kind === "text") return [{ type: "text", text: Buffer.from(encoded, "base64").toString("utf8") }];
  if (kind === "audio") {
    const format = AUDIO_FORMATS[subtype];
    if (format === undefined)
      conversion.refuse(`audio of the type '${subtype}' is read by Google only; send mp3 or wav`);
    return [{ type: "input_audio", input_audio: { data: encoded, format: format ?? subtype } }];
  }
  const url = `data:${toText(data.mimeType)};base64,${encoded}`;
  if (kind === "image") return [{ type: "image_url", image_url: { url } }];
  if (kind === "video") conversion.refuse("videos are read by Google only");
  const filename = typeof data.displayName === "string" ? data.displayName : `file.${subtype}`;
  return [{ type: "file", file: { filename, file_data: url } }];
}

function convertFile({ fileUri, mimeType }: JsonObject, conversion: Conversion): readonly ContentPart[] {
  const url = toText(fileUri);
  const isFetched = /^https?:/i.test(url) && !GOOGLE_FILE.test(url) && /^image\//i.test(toText(mimeType ?? "image/"));
  if (!isFetched) conversion.refuse("a file given by its URI is opened by Google only; send it as inlineData");
  return [{ type: "image_url", image_url: { url } }];
}
