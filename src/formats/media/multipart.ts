// Bodies of forms (multipart/form-data), read piece by piece and written again. A part is never held as a whole: its bytes
// are handed on as they come. What a client may write into the head of a part is bounded and taken apart here.

import { GatewayError } from "../../core/errors.ts";

/** The head of a part, without anything that could be read in another way than here. `fileName` is null for a field. */
export interface PartHead {
  readonly name: string;
  readonly fileName: string | null;
  readonly type: string;
}

/** Told what a form has, in order. */
export interface FormListener {
  part(head: PartHead): void;
  /** A piece of the part that was begun last. */
  bytes(piece: Buffer): void;
}

const HEAD_BYTES_MAX = 8 * 1024;
/** The letters that RFC 2046 allows, but for the space. */
const BOUNDARY = /;\s*boundary=(?:"([\w'()+,./:=?-]{1,70})"|([\w'()+,./:=?-]{1,70}))\s*(?:;|$)/i;
const CRLF_BYTES = 2;

/** The boundary that a content type names; null where it names none that is allowed. */
export function boundaryOf(contentType: string): string | null {
  const [, quoted, plain] = BOUNDARY.exec(contentType) ?? [];
  return quoted ?? plain ?? null;
}

type State = "delimiter" | "head" | "body" | "over";

/** Cuts the bytes of a form into its parts, wherever the pieces are cut. */
export class FormReader {
  readonly #delimiter: Buffer;
  readonly #listener: FormListener;
  readonly #readHead: ReadHead;
  #rest: Buffer = Buffer.from("\r\n");
  #state: State = "body";
  #isInPart = false;
  /** Bytes of the line break that ends a head: a delimiter may begin with it. */
  #breakLeft = 0;

  constructor(boundary: string, listener: FormListener, readPart: ReadHead = readHead) {
    this.#readHead = readPart;
    this.#delimiter = Buffer.from(`\r\n--${boundary}`);
    this.#listener = listener;
  }

  push(piece: Buffer): void {
    this.#rest = this.#rest.length === 0 ? piece : Buffer.concat([this.#rest, piece]);
    while (this.#step());
  }

  /** Throws where the last part has no end. */
  end(): void {
    if (this.#state !== "over") throw invalidForm("The form ends in the middle of a part.");
  }

  #step(): boolean {
    if (this.#state === "body") return this.#readBody();
    if (this.#state === "delimiter") return this.#readDelimiter();
    if (this.#state === "head") return this.#takeHead();
    this.#rest = EMPTY;
    return false;
  }

  #readBody(): boolean {
    const end = this.#rest.indexOf(this.#delimiter);
    if (end >= 0) {
      this.#pass(end);
      this.#rest = this.#rest.subarray(this.#delimiter.length);
      this.#state = "delimiter";
      return true;
    }
    // The beginning of a delimiter may be at the end of these bytes.
    const known = this.#rest.length - this.#delimiter.length;
    if (known > 0) this.#pass(known);
    return false;
  }

  #pass(length: number): void {
    const begin = Math.min(this.#breakLeft, length);
    this.#breakLeft -= begin;
    if (this.#isInPart && length > begin) this.#listener.bytes(this.#rest.subarray(begin, length));
    this.#rest = this.#rest.subarray(length);
  }

  #readDelimiter(): boolean {
    const end = this.#rest.indexOf("\r\n");
    if (this.#rest.length >= CRLF_BYTES && this.#rest.toString("latin1", 0, CRLF_BYTES) === "--") {
      this.#state = "over";
      return true;
    }
    if (end < 0) return this.#waitForHead();
    this.#rest = this.#rest.subarray(end + CRLF_BYTES);
    this.#state = "head";
    return true;
  }

  #takeHead(): boolean {
    const end = this.#rest.indexOf("\r\n\r\n");
    if (end < 0 || end > HEAD_BYTES_MAX) return this.#waitForHead();
    this.#listener.part(this.#readHead(this.#rest.toString("utf8", 0, end)));
    this.#rest = this.#rest.subarray(end + CRLF_BYTES);
    this.#breakLeft = CRLF_BYTES;
    this.#isInPart = true;
    this.#state = "body";
    return true;
  }

  #waitForHead(): false {
    if (this.#rest.length > HEAD_BYTES_MAX) throw invalidForm("A part of the form has no head that can be read.");
    return false;
  }
}

const EMPTY = Buffer.alloc(0);

export function invalidForm(message: string): GatewayError {
  return new GatewayError("badRequest", message, { code: "invalid_form" });
}

type ReadHead = (head: string) => PartHead;

/** Reads the parts of a `multipart/related` body: what is said about a file, and then the file. They have no names. */
export function createRelatedHeads(): ReadHead {
  let place = 0;
  return (head) => {
    place += 1;
    const type = mediaTypeOf(headerOf(head, "content-type"));
    if (place > 2) throw invalidForm("A body of this type has two parts.");
    return place === 1 ? { name: "about", fileName: null, type } : { name: "data", fileName: "data", type };
  };
}

function headerOf(head: string, name: string): string {
  const line = head.split("\r\n").find((each) => each.toLowerCase().startsWith(`${name}:`));
  return line === undefined ? "" : line.slice(name.length + 1).trim();
}

export function mediaTypeOf(type: string): string {
  return MEDIA_TYPE.test(type) ? type : "application/octet-stream";
}

function readHead(head: string): PartHead {
  const disposition = headerOf(head, "content-disposition");
  const name = parameterOf(disposition, "name");
  if (name === null || name === "") throw invalidForm("A part of the form has no name.");
  if (NO_NAME.test(name)) throw invalidForm("The name of a part has a quote, a backslash or a control character.");
  return {
    name,
    // Without a name it is a field: for many readers it is one.
    fileName: parameterOf(disposition, "filename")?.replace(NO_NAMES, "") || null,
    type: mediaTypeOf(headerOf(head, "content-type")),
  };
}

/** Letters that readers of forms take in different ways. */
const NO_NAME = /["\\\p{Cc}]/u;
const NO_NAMES = new RegExp(NO_NAME, "gu");

/** A media type without anything that could begin another header. */
const MEDIA_TYPE = /^[\w.+-]{1,64}\/[\w.+-]{1,64}(?:;[\w \t.+=-]{0,64})?$/;

function parameterOf(header: string, name: string): string | null {
  const [, quoted, plain] = new RegExp(`;\\s*${name}=(?:"((?:[^"\\\\]|\\\\.)*)"|([^\\s;"]+))`, "i").exec(header) ?? [];
  return quoted?.replace(/\\(["\\])/g, "$1") ?? plain ?? null;
}

/** The head of a part, and what stands before it, for a form of ours. */
export function writeHead(boundary: string, { name, fileName, type }: PartHead): string {
  const file = fileName === null ? "" : `; filename="${fileName}"\r\nContent-Type: ${type}`;
  return `--${boundary}\r\nContent-Disposition: form-data; name="${name}"${file}\r\n\r\n`;
}
