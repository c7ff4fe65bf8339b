// Parts of chat-completions content as blocks of Converse: texts, images and documents. Both of the latter come as data,
// because Bedrock loads nothing from an address.

import type { ContentPart } from "../../core/chat.ts";
import { readDataUrl } from "../convert/chat-turns.ts";
import type { Conversion } from "../convert/conversion.ts";
import { isObject, type JsonObject, toText } from "../json/fields.ts";
import type { ConverseBlock } from "./blocks.ts";

const PARTS: ReadonlySet<string> = new Set(["text", "refusal", "image_url", "file"]);

export function takesPart(type: string): boolean {
  return PARTS.has(type);
}

const IMAGES: Readonly<Record<string, string>> = {
  "image/png": "png",
  "image/jpeg": "jpeg",
  "image/jpg": "jpeg",
  "image/gif": "gif",
  "image/webp": "webp",
};

const OPEN_XML = "application/vnd.openxmlformats-officedocument";
const DOCUMENTS: Readonly<Record<string, string>> = {
  "application/pdf": "pdf",
  "text/csv": "csv",
  "application/msword": "doc",
  [`${OPEN_XML}.wordprocessingml.document`]: "docx",
  "application/vnd.ms-excel": "xls",
  [`${OPEN_XML}.spreadsheetml.sheet`]: "xlsx",
  "text/html": "html",
  "text/markdown": "md",
};

export function writePart(part: ContentPart, conversion: Conversion, documents: Documents): readonly ConverseBlock[] {
  switch (part.type) {
    case "text":
    case "refusal": {
      const text = part.text ?? toText(part.refusal ?? "");
      return text.trim() === "" ? [] : [{ text }];
    }
    case "image_url":
      return writeImage(isObject(part.image_url) ? part.image_url : {}, conversion);
    case "file":
      return writeFile(isObject(part.file) ? part.file : {}, conversion, documents);
    case "input_audio":
      conversion.refuse("it takes no sound");
      return [];
    default:
      conversion.refuse(`it takes no content of the type '${part.type}'`);
      return [];
  }
}

function writeImage({ url }: JsonObject, conversion: Conversion): readonly ConverseBlock[] {
  const inline = readDataUrl(toText(url));
  const format = inline === null ? undefined : IMAGES[inline.mediaType];
  if (inline !== null && format !== undefined) return [{ image: { format, source: { bytes: inline.base64 } } }];
  conversion.refuse(
    inline === null
      ? "it loads no images from an address; send the image as a data URL"
      : `it takes images as jpeg, png, gif or webp, not ${inline.mediaType}`,
  );
  return [];
}

function writeFile(
  { file_data: data, filename }: JsonObject,
  conversion: Conversion,
  documents: Documents,
): readonly ConverseBlock[] {
  if (typeof data !== "string") {
    conversion.refuse("a file id names a file kept at another provider; send the file's data");
    return [];
  }
  const { mediaType, base64 } = readDataUrl(data) ?? { mediaType: "application/pdf", base64: data };
  const image = IMAGES[mediaType];
  if (image !== undefined) return [{ image: { format: image, source: { bytes: base64 } } }];
  const isText = mediaType.startsWith("text/") || mediaType === "application/json";
  const format = DOCUMENTS[mediaType] ?? (isText ? "txt" : undefined);
  if (format === undefined) {
    conversion.refuse(`it takes files as pdf, text or an office document, not ${mediaType}`);
    return [];
  }
  return [{ document: { format, name: documents.nameOf(filename), source: { bytes: base64 } } }];
}

/** Bedrock takes few characters in the name of a document, and each name once. */
export class Documents {
  readonly #names = new Set<string>();
  /** The last number behind a name: to count from the first one each time takes long for many documents. */
  readonly #counts = new Map<string, number>();

  nameOf(filename: unknown): string {
    const plain = typeof filename === "string" ? filename.replace(/\.\w{1,5}$/, "") : "";
    const safe =
      plain
        .replace(/[^A-Za-z0-9()[\]-]+/g, " ")
        .trim()
        .slice(0, NAME_LENGTH_MAX) || "document";
    let count = this.#counts.get(safe) ?? 1;
    let name = safe;
    for (; this.#names.has(name); name = `${safe} (${count})`) count += 1;
    this.#counts.set(safe, count);
    this.#names.add(name);
    return name;
  }
}

const NAME_LENGTH_MAX = 180;
