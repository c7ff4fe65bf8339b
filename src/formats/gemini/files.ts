// Files as Gemini's clients read them, and references to them in requests.

import type { StoredFile } from "../../core/batches/files.ts";
import type { FileReferences } from "../file-references.ts";
import { isObject, type JsonObject } from "../json/fields.ts";

const iso = (ms: number): string => new Date(ms).toISOString();
const UNKNOWN_TYPE = "application/octet-stream";
const FILE_URI = /(?:^|\/)files\/([a-z0-9_-]{1,100})$/;

/** `origin` is the address under which the client reaches the gateway. */
export function writeGeminiFile(
  { id, name, mimeType, bytes, createdAtMs, expiresAtMs }: StoredFile,
  origin: string,
): JsonObject {
  const uri = `${origin}/v1beta/files/${id}`;
  return {
    name: `files/${id}`,
    displayName: name,
    mimeType: mimeType ?? UNKNOWN_TYPE,
    sizeBytes: String(bytes),
    createTime: iso(createdAtMs),
    updateTime: iso(createdAtMs),
    expirationTime: iso(expiresAtMs),
    uri,
    downloadUri: `${uri}:download?alt=media`,
    state: "ACTIVE",
    source: "UPLOADED",
  };
}

/** The files that the parts of a request name by their address, and the request with their content in their place. */
export const geminiFileReferences: FileReferences = {
  mayHave: ({ bytes }) => bytes.includes("files/"),
  find(body) {
    const found: string[] = [];
    written(body, (value) => {
      const id = idIn(value);
      if (id !== null) found.push(id);
      return value;
    });
    return found;
  },
  write: (body, files) => written(body, (value) => replaced(value, files)),
};

const FIELDS = ["contents", "systemInstruction", "system_instruction"];

/** The fields as JSON, with every object in them as `change` gives it back. */
function written(body: JsonObject, change: (value: JsonObject) => JsonObject): ReadonlyMap<string, string> {
  const fields = new Map<string, string>();
  for (const name of FIELDS) {
    if (body[name] === undefined) continue;
    const text = JSON.stringify(body[name], (_name, value: unknown) => (isObject(value) ? change(value) : value));
    fields.set(name, text);
  }
  return fields;
}

/** The id of a file that a part names; null for any other part. */
function idIn(part: JsonObject): string | null {
  const data = part.fileData ?? part.file_data;
  const uri = isObject(data) ? (data.fileUri ?? data.file_uri) : null;
  return typeof uri === "string" ? (FILE_URI.exec(uri)?.[1] ?? null) : null;
}

type Contents = Parameters<FileReferences["write"]>[1];

function replaced(value: JsonObject, files: Contents): JsonObject {
  const id = idIn(value);
  const file = id === null ? undefined : files.get(id);
  if (file === undefined) return value;
  const { fileData: _camel, file_data: _snake, ...rest } = value;
  return { ...rest, inlineData: { mimeType: file.mimeType ?? UNKNOWN_TYPE, data: file.base64 } };
}
