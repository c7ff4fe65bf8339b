// Files of the gateway that requests name.

import { isObject, type JsonObject } from "./json/fields.ts";
import type { JsonSource } from "./scan/scan.ts";

/** The part of a format that knows how requests name files of the gateway. */
export interface FileReferences {
  /** False where no file can be named, which needs no parsing. */
  mayHave(source: JsonSource): boolean;
  /** The id of a file at each place that `write` would change. Some may belong to others than the gateway. */
  find(body: JsonObject): readonly string[];
  /** Fields of the body, as JSON, with the content of files in the place of their names. */
  write(body: JsonObject, files: ReadonlyMap<string, NamedFile>): ReadonlyMap<string, string>;
}

export interface NamedFile {
  readonly name: string;
  readonly mimeType: string | null;
  readonly base64: string;
}

/** Tells how the parts of a format name a file, and how they hold its content instead. */
export interface ReferenceForm {
  /** The field of the body that has the conversation. */
  readonly field: string;
  /** The id that a part names; anything else for parts without one. */
  idOf(part: JsonObject): unknown;
  replaced(part: JsonObject, file: NamedFile): JsonObject;
}

/** For formats whose parts name files as `file_id`. */
export function referencesById({ field, idOf, replaced }: ReferenceForm): FileReferences {
  const inField = (body: JsonObject, change: (part: JsonObject) => JsonObject): string =>
    JSON.stringify(body[field], (_name, value: unknown) => (isObject(value) ? change(value) : value));
  return {
    mayHave: ({ bytes }) => bytes.includes('"file_id"'),
    find(body) {
      const found: string[] = [];
      inField(body, (part) => {
        const id = idOf(part);
        if (typeof id === "string") found.push(id);
        return part;
      });
      return found;
    },
    write(body, files) {
      const change = (part: JsonObject): JsonObject => {
        const file = files.get(String(idOf(part)));
        return file === undefined ? part : replaced(part, file);
      };
      return new Map([[field, inField(body, change)]]);
    },
  };
}

/** The type of a file; by the end of its name where the client told none. */
export function typeOf({ mimeType, name }: NamedFile): string {
  if (mimeType !== null && mimeType !== UNKNOWN_TYPE) return mimeType;
  return TYPES[/\.([a-z0-9]{1,5})$/i.exec(name)?.[1]?.toLowerCase() ?? ""] ?? UNKNOWN_TYPE;
}

export function dataUrlOf(file: NamedFile): string {
  return `data:${typeOf(file)};base64,${file.base64}`;
}

export const UNKNOWN_TYPE = "application/octet-stream";

const TYPES: Readonly<Record<string, string>> = {
  ...{ pdf: "application/pdf", json: "application/json" },
  ...{ txt: "text/plain", md: "text/markdown", csv: "text/csv", html: "text/html" },
  ...{ png: "image/png", jpg: "image/jpeg", jpeg: "image/jpeg", gif: "image/gif", webp: "image/webp" },
};
