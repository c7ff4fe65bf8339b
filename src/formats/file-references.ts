// Files of the gateway that requests name.

import type { JsonObject } from "./json/fields.ts";
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
  readonly mimeType: string | null;
  readonly base64: string;
}
