// Uploads of clients: forms with files, read piece by piece as they arrive. Plain fields stay in memory, files go to a
// spool. Everything is bounded: one upload, the fields, the parts, and all uploads together.

import type { IncomingHttpHeaders } from "node:http";
import type { FastifyInstance, FastifyRequest, RequestPayload } from "fastify";
import { GatewayError } from "../../core/errors.ts";
import {
  boundaryOf,
  createRelatedHeads,
  FormReader,
  invalidForm,
  mediaTypeOf,
  type PartHead,
} from "../../formats/media/multipart.ts";
import type { Upload, UploadedFile } from "../../formats/media/upload.ts";
import * as TEXT from "../text.ts";
import { MEMORY_BYTES, Spool, UploadRoom } from "./spool.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** The largest form with files that the route takes; absent where it takes none. */
    uploadLimitBytes?: number;
    /** Tells whether a body is a bare file. Absent where the route takes forms only. */
    takesBareFile?: (headers: IncomingHttpHeaders) => boolean;
  }
  interface FastifyRequest {
    /** The form that was uploaded; null for any other body. */
    upload: Upload | null;
    /** Removes what is kept of an upload; null where nothing is. Calling it twice does no harm. */
    dropUpload: (() => void) | null;
  }
}

const FIELDS_BYTES_MAX = 1024 * 1024;
const PARTS_MAX = 100;
/** Bytes at the start of a file that are kept to tell what it is. */
const START_BYTES = 4 * 1024;
/** All uploads together may be so many times as large as one. */
const ALL_AT_ONCE = 4;
const MULTIPART = "multipart/form-data";
const RELATED = "multipart/related";

export function isUpload(request: FastifyRequest): boolean {
  return request.routeOptions.config.uploadLimitBytes !== undefined && formOf(request) !== null;
}

type Form = "form" | "related" | "bare";

/** The form of an upload; null for any other body. */
function formOf({ headers, routeOptions: { config } }: FastifyRequest): Form | null {
  const type = (headers["content-type"] ?? "").toLowerCase();
  if (type.startsWith(MULTIPART)) return "form";
  if (config.takesBareFile === undefined) return null;
  if (type.startsWith(RELATED)) return "related";
  return config.takesBareFile(headers) ? "bare" : null;
}

/** The most of an upload that is taken, and the most of it that is kept in memory. */
export function uploadBounds({ routeOptions }: FastifyRequest): { readonly limit: number; readonly kept: number } {
  return { limit: routeOptions.config.uploadLimitBytes ?? 0, kept: MEMORY_BYTES };
}

type ParseBody = (request: FastifyRequest, payload: RequestPayload, done: (error: Error | null) => void) => void;

/** Takes forms, and bare files, on the routes that want them. A bare file may have any type, that of JSON too. */
export function readUploads(server: FastifyInstance): ParseBody {
  const room = new UploadRoom();
  server.decorateRequest("upload", null);
  server.decorateRequest("dropUpload", null);
  const parse: ParseBody = (request, payload, done) => {
    if (request.is404) done(null);
    else if (!isUpload(request)) done(new GatewayError("wrongMediaType", TEXT.sendJson));
    else receive(request, payload, room).then(() => done(null), done);
  };
  server.addContentTypeParser([MULTIPART, RELATED, "*"], parse);
  return parse;
}

async function receive(request: FastifyRequest, payload: RequestPayload, room: UploadRoom): Promise<void> {
  const { limit } = uploadBounds(request);
  const form = new FormParts();
  const owner = request.caller?.key.id ?? "";
  let length = 0;
  let isDropped = false;
  request.dropUpload = () => {
    form.spool.close();
    if (!isDropped) room.release(owner, length);
    isDropped = true;
  };
  try {
    const reader = readerOf(request, form);
    // Destroyed with its reader, the connection could not carry the response that refuses the rest.
    for await (const piece of payload.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      if (isDropped) throw dropped();
      if (length + piece.length > limit) throw new GatewayError("tooLarge", TEXT.uploadTooLarge(limit), CLOSES);
      if (!room.tryTake(owner, piece.length, ALL_AT_ONCE * limit)) throw full();
      length += piece.length;
      reader.push(piece);
      await form.store();
    }
    if (isDropped) throw dropped();
    reader.end();
    request.upload = form.upload();
  } catch (error) {
    request.dropUpload();
    throw error instanceof GatewayError ? error : failed(error);
  }
}

/** Cuts an upload into its parts. A bare file is one part. */
function readerOf(request: FastifyRequest, form: FormParts): Pick<FormReader, "push" | "end"> {
  const kind = formOf(request);
  const type = request.headers["content-type"] ?? "";
  if (kind === "bare") {
    form.part({ name: "data", fileName: "data", type: mediaTypeOf(type) });
    return { push: (piece) => form.bytes(piece), end: () => undefined };
  }
  const boundary = boundaryOf(type);
  if (boundary === null) throw invalidForm(TEXT.noBoundary);
  return kind === "related" ? new FormReader(boundary, form, createRelatedHeads()) : new FormReader(boundary, form);
}

const CLOSES = { headers: { connection: "close" } };

/** A disk that is full or cannot be written is no fault of the client. */
function failed(cause: unknown): GatewayError {
  const { syscall } = cause as NodeJS.ErrnoException;
  if (syscall === "open" || syscall === "write") return full(cause);
  return dropped(cause);
}

function dropped(cause?: unknown): GatewayError {
  return new GatewayError("badRequest", TEXT.bodyInterrupted, { ...CLOSES, cause });
}

function full(cause?: unknown): GatewayError {
  const details = { ...CLOSES, code: "uploads_full", operator: TEXT.uploadFolder, retryAfterSeconds: RETRY_SECONDS };
  return new GatewayError("unavailable", TEXT.uploadsFull, cause === undefined ? details : { ...details, cause });
}

const RETRY_SECONDS = 5;

interface FormPart {
  readonly head: PartHead;
  readonly begin: number;
  end: number;
  /** The value of a field, and the first bytes of a file. */
  readonly kept: Buffer[];
  keptBytes: number;
}

/** The parts of a form as they come. */
class FormParts {
  readonly spool = new Spool();
  readonly #parts: FormPart[] = [];
  #unstored: Buffer[] = [];
  #fieldBytes = 0;
  #fileBytes = 0;

  part(head: PartHead): void {
    if (this.#parts.length >= PARTS_MAX) throw invalidForm(TEXT.tooManyParts(PARTS_MAX));
    this.#parts.push({ head, begin: this.#fileBytes, end: this.#fileBytes, kept: [], keptBytes: 0 });
  }

  bytes(piece: Buffer): void {
    const part = this.#parts.at(-1) as FormPart;
    const isFile = part.head.fileName !== null;
    const room = isFile ? START_BYTES - part.keptBytes : piece.length;
    if (room > 0) {
      const kept = Buffer.from(piece.subarray(0, room));
      part.kept.push(kept);
      part.keptBytes += kept.length;
    }
    if (isFile) {
      this.#unstored.push(piece);
      this.#fileBytes += piece.length;
      part.end = this.#fileBytes;
      return;
    }
    this.#fieldBytes += piece.length;
    if (this.#fieldBytes > FIELDS_BYTES_MAX) throw new GatewayError("tooLarge", TEXT.fieldsTooLarge, CLOSES);
  }

  async store(): Promise<void> {
    const pieces = this.#unstored;
    this.#unstored = [];
    for (const piece of pieces) await this.spool.write(piece);
  }

  upload(): Upload {
    const ofKind = (isFile: boolean): readonly FormPart[] =>
      this.#parts.filter(({ head }) => (head.fileName !== null) === isFile);
    return {
      fields: ofKind(false).map(({ head, kept }) => [head.name, Buffer.concat(kept).toString("utf8")]),
      files: ofKind(true).map(
        ({ head, begin, end, kept }): UploadedFile => ({
          ...head,
          length: end - begin,
          start: Buffer.concat(kept),
          read: () => this.spool.read(begin, end),
        }),
      ),
    };
  }
}
