// A form with files, as a client has uploaded it: its fields, and its files, which may lie on disk. Written again for each
// provider, piece by piece.

import { invalid, type JsonObject } from "../json/fields.ts";
import { type PartHead, writeHead } from "./multipart.ts";

export interface Upload {
  readonly fields: readonly FormField[];
  readonly files: readonly UploadedFile[];
}

type FormField = readonly [name: string, value: string];

export interface UploadedFile extends PartHead {
  readonly length: number;
  /** The first bytes, which tell what it is. */
  readonly start: Buffer;
  /** Can be called again for another attempt. */
  read(): AsyncIterable<Buffer>;
}

/** The fields as the body of a request in JSON would have them. A name with brackets, or twice, makes a list. */
export function bodyOfForm({ fields }: Upload): JsonObject {
  const body: Record<string, unknown> = Object.create(null);
  for (const [written, value] of fields) {
    const name = written.replace(/\[\]$/, "");
    const known = body[name];
    if (Array.isArray(known)) known.push(value);
    else if (known !== undefined) body[name] = [known, value];
    else body[name] = name === written ? value : [value];
  }
  return { ...body };
}

/** Refuses files under names that the endpoint does not take, and fields under those of its files. */
export function checkFiles({ fields, files }: Upload, names: readonly string[]): void {
  const other = files.find(({ name }) => !names.includes(name));
  if (other !== undefined) throw invalid(other.name, `No file is taken as '${other.name}'. Send it as '${names[0]}'.`);
  const [field] = fields.find(([name]) => names.includes(name)) ?? [];
  if (field !== undefined) throw invalid(field, `'${field}' must be a file. Send it with a file name.`);
}

/** A form on its way to a provider, with a boundary that its client cannot know. */
export class FormBody {
  readonly contentType: string;
  readonly length: number;
  readonly #pieces: readonly (Buffer | UploadedFile)[];

  constructor({ fields, files }: Upload) {
    const boundary = `switchyard-${crypto.randomUUID()}`;
    const plain = { fileName: null, type: "" };
    const heads = fields.map(([name, value]) => `${writeHead(boundary, { name, ...plain })}${value}\r\n`);
    this.contentType = `multipart/form-data; boundary=${boundary}`;
    this.#pieces = [
      Buffer.from(heads.join("")),
      ...files.flatMap((file) => [Buffer.from(writeHead(boundary, file)), file, Buffer.from("\r\n")]),
      Buffer.from(`--${boundary}--\r\n`),
    ];
    this.length = this.#pieces.reduce((sum, { length }) => sum + length, 0);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer> {
    for (const piece of this.#pieces) {
      if (Buffer.isBuffer(piece)) yield piece;
      else yield* piece.read();
    }
  }
}
