// Gemini's files, in the store of all files: in one request, or piece by piece after a first request that announces them.

import type { IncomingHttpHeaders } from "node:http";
import { Readable } from "node:stream";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { StoredFile } from "../../../core/batches/files.ts";
import type { StoredUpload } from "../../../core/batches/uploads.ts";
import { GatewayError } from "../../../core/errors.ts";
import { isId } from "../../../core/responses/stored.ts";
import { geminiBatchOfFile, writeGeminiResult } from "../../../formats/gemini/batches.ts";
import { writeGeminiFile } from "../../../formats/gemini/files.ts";
import { invalid, isObject, type JsonObject } from "../../../formats/json/fields.ts";
import { parseObject } from "../../../formats/json/parse.ts";
import { parsedBodyOf } from "../../exchange/body.ts";
import { publicOrigin } from "../../exchange/hosts.ts";
import { cutWhenUnread } from "../../exchange/stream.ts";
import * as TEXT from "../../text.ts";
import { callerOf } from "../key-admission.ts";
import { type IdRequest, nameOf, type QueryTexts, readWhole, single } from "../responses/paging.ts";
import { DOWNLOAD, type FilesContext, fileNotFound, keep, newFileId, readExpiry, sendLines } from "./files.ts";
import { beginUpload, newPartId, requireCompleted, storePart, uploadNotFound, uploadOf } from "./uploads.ts";

const PAGE = { usual: 10, most: 100 };
const UPLOAD_PATH = "/upload/v1beta/files";
const COMMAND = "x-goog-upload-command";
const STATUS = "x-goog-upload-status";
/** A name that a client may choose for a file. */
const CHOSEN_ID = /^[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?$/;
const NO_SLOT = { config: { needsNoSlot: true } };
const PURPOSE = "user_data";

type UploadRequest = FastifyRequest<{ Querystring: QueryTexts }>;

export function registerGeminiFiles(server: FastifyInstance, edge: FilesContext): void {
  const write = (request: FastifyRequest, file: StoredFile): JsonObject =>
    writeGeminiFile(file, publicOrigin(request, edge.settings.server));
  const { files, store } = edge.batches;
  const find = async (request: IdRequest): Promise<StoredFile> => {
    const name = nameOf(request, fileNotFound);
    const file = await files.find(name);
    if (file === null) throw fileNotFound(name.id);
    return file;
  };

  const { uploadLimitBytes } = edge.settings.server;
  const takesFiles = { config: { uploadLimitBytes, takesBareFile: isPiece } };
  server.post(UPLOAD_PATH, takesFiles, async (request: UploadRequest, reply) => {
    const commands = commandsOf(request.headers);
    if (commands.includes("start")) return start(request, reply, edge);
    if (commands.length > 0) return goOn({ request, reply, commands }, edge, write);
    return { file: write(request, await keepWhole(request, edge)) };
  });

  server.get("/v1beta/files", NO_SLOT, async (request: UploadRequest) => {
    const limit = readWhole(request.query, "pageSize", { min: 0, max: PAGE.most }) || PAGE.usual;
    const after = single(request.query, "pageToken");
    if (after !== null && !isId(after)) throw fileNotFound(after);
    const page = { purpose: null, after, isNewestFirst: true, limit: limit + 1 };
    const found = await files.list(callerOf(request).key.accountId, page);
    if (found === null) throw fileNotFound(after ?? "");
    const shown = found.slice(0, limit);
    const next = found.length > limit ? { nextPageToken: shown.at(-1)?.id } : {};
    return { files: shown.map((file) => write(request, file)), ...next };
  });

  server.get("/v1beta/files/:id", NO_SLOT, async (request: IdRequest, reply) => {
    // An action of a file, called with another method than its own: 405, because the path is right.
    if (request.params.id.includes(":")) return reply.callNotFound();
    return write(request, await find(request));
  });

  const downloadAt = { config: { label: "/v1beta/files/{id}:download", needsNoSlot: true } };
  server.get("/v1beta/files/:id(.+)::download", downloadAt, async (request: IdRequest, reply) => {
    const { accountId, id } = nameOf(request, fileNotFound);
    const batchId = geminiBatchOfFile(id);
    const batch = batchId === null ? null : await store.find("gemini", { accountId, id: batchId });
    if (batch !== null && batch.endedAtMs !== null) return sendLines(reply, results(store.ended(batch)), edge);
    const file = await find(request);
    reply.type("application/octet-stream").headers(DOWNLOAD).header("content-length", String(file.bytes));
    cutWhenUnread(reply.raw, edge.settings.server.writeStallMs);
    return reply.send(Readable.from(files.read(file), { objectMode: false, highWaterMark: 1 }));
  });

  server.delete("/v1beta/files/:id", NO_SLOT, async (request: IdRequest, reply) => {
    if (request.params.id.includes(":")) return reply.callNotFound();
    const name = nameOf(request, fileNotFound);
    if (!(await files.remove(name))) throw fileNotFound(name.id);
    return {};
  });
}

async function* results(lines: AsyncIterable<Parameters<typeof writeGeminiResult>[0]>): AsyncGenerator<string> {
  for await (const line of lines) yield writeGeminiResult(line);
}

function commandsOf(headers: IncomingHttpHeaders): readonly string[] {
  return String(headers[COMMAND] ?? "")
    .split(",")
    .map((word) => word.trim().toLowerCase())
    .filter((word) => word !== "");
}

/** A piece of an upload may have any content type. */
function isPiece(headers: IncomingHttpHeaders): boolean {
  const commands = commandsOf(headers);
  return commands.length > 0 && !commands.includes("start");
}

interface AboutFile {
  readonly id: string | undefined;
  readonly name: string;
  readonly mimeType: string | null;
  readonly bytes: unknown;
}

/** Google's client finds no dash in the address of a file. */
function newGeminiId(nowMs: number): string {
  return newFileId(nowMs).replace("-", "");
}

/** Reads what a client says about a file, beside its bytes. */
function readAbout(body: JsonObject): AboutFile {
  const { file = {} } = body;
  if (!isObject(file)) throw invalid("file", TEXT.notFileObject);
  const { name, displayName, display_name: snakeName, mimeType, mime_type: snakeType, sizeBytes } = file;
  const id = typeof name === "string" ? name.replace(/^files\//, "") : undefined;
  if (name !== undefined && !(id !== undefined && CHOSEN_ID.test(id))) throw invalid("file.name", TEXT.notFileId);
  const type = mimeType ?? snakeType ?? null;
  return {
    id,
    name: String(displayName ?? snakeName ?? ""),
    mimeType: typeof type === "string" ? type.slice(0, 200) : null,
    bytes: sizeBytes,
  };
}

/** Announces a file. Its length is checked before any of its bytes are sent. */
async function start(request: UploadRequest, reply: FastifyReply, edge: FilesContext): Promise<JsonObject> {
  const { headers } = request;
  const { id, name, mimeType, bytes } = readAbout((await parsedBodyOf(request)).body);
  const told = headers["x-goog-upload-header-content-length"] ?? bytes;
  const length = /^\d{1,15}$/.test(String(told)) ? Number(told) : 0;
  if (length === 0) throw invalid("x-goog-upload-header-content-length", TEXT.notBytes("content-length"));
  const type = mimeType ?? String(headers["x-goog-upload-header-content-type"] ?? "application/octet-stream");
  const wanted = {
    purpose: PURPOSE,
    name: name || String(headers["x-goog-upload-file-name"] ?? ""),
    mimeType: type,
  } as const;
  const kept = { bytes: length, keptMs: readExpiry({}, edge.batches), fileId: id ?? newGeminiId(edge.now()) };
  const upload = uploadOf(request, { ...wanted, ...kept }, edge);
  await beginUpload(upload, edge);
  const origin = publicOrigin(request, edge.settings.server);
  reply.headers({
    [STATUS]: "active",
    "x-goog-upload-url": `${origin}${UPLOAD_PATH}?upload_id=${upload.id}&upload_protocol=resumable`,
    "x-goog-upload-chunk-granularity": "1",
  });
  return {};
}

interface Going {
  readonly request: UploadRequest;
  readonly reply: FastifyReply;
  readonly commands: readonly string[];
}

/** Stores a piece, or says how much is here, or ends the upload. */
async function goOn(
  { request, reply, commands }: Going,
  edge: FilesContext,
  write: (request: FastifyRequest, file: StoredFile) => JsonObject,
): Promise<JsonObject> {
  const { uploads } = edge.batches;
  const upload = await uploadOfRequest(request, edge);
  if (commands.includes("cancel")) {
    await uploads.cancel(upload);
    reply.header(STATUS, "cancelled");
    return {};
  }
  if (commands.includes("upload")) await storePiece(request, upload, edge);
  const parts = await uploads.parts(upload);
  if (!commands.includes("finalize")) {
    const size = parts.reduce((sum, { bytes }) => sum + bytes, 0);
    reply.headers({
      [STATUS]: upload.status === "completed" ? "final" : "active",
      "x-goog-upload-size-received": size,
    });
    return {};
  }
  const partIds = parts.map(({ id }) => id);
  const completion = await uploads.complete(upload, { partIds, md5: null, nowMs: edge.now() });
  requireCompleted(completion, upload);
  reply.header(STATUS, "final");
  return { file: write(request, completion.file) };
}

async function uploadOfRequest(request: UploadRequest, { batches }: FilesContext): Promise<StoredUpload> {
  const id = single(request.query, "upload_id") ?? "";
  const { accountId } = callerOf(request).key;
  const upload = isId(id) ? await batches.uploads.find({ accountId, id }) : null;
  if (upload === null) throw uploadNotFound(id);
  return upload;
}

/** A piece that was stored before its answer was lost is not stored again. */
async function storePiece(request: UploadRequest, upload: StoredUpload, edge: FilesContext): Promise<void> {
  const [file] = request.upload?.files ?? [];
  const offset = Number(request.headers["x-goog-upload-offset"] ?? 0);
  let size = 0;
  for (const { bytes } of await edge.batches.uploads.parts(upload)) {
    if (size === offset && bytes === (file?.length ?? 0)) return;
    size += bytes;
  }
  if (upload.status === "completed" && offset + (file?.length ?? 0) === upload.file.bytes) return;
  if (offset !== size) {
    const headers = { "x-goog-upload-size-received": String(size), [STATUS]: "active" };
    throw new GatewayError("badRequest", TEXT.otherOffset(size), { code: "other_offset", headers });
  }
  if (file === undefined || file.length === 0) return;
  // The same piece, sent at the same time, may have been faster.
  if (!(await storePart(upload, { id: newPartId(edge.now()), file, offset }, edge)))
    await storePiece(request, upload, edge);
}

/** A file with what is said about it, in one request. */
async function keepWhole(request: UploadRequest, edge: FilesContext): Promise<StoredFile> {
  const { upload } = request;
  const [file, second] = upload?.files ?? [];
  if (upload === null || file === undefined || second !== undefined)
    throw new GatewayError("wrongMediaType", TEXT.sendFilePieces);
  const [, text = "{}"] = upload.fields.find(([name]) => name === "about" || name === "metadata") ?? [];
  const about = parseObject(text);
  if (about === null) throw invalid("file", TEXT.notFileObject);
  const { id, name, mimeType } = readAbout(about);
  const given = { purpose: PURPOSE, name: name || (file.fileName ?? ""), mimeType: mimeType ?? file.type } as const;
  return keep(
    request,
    { file, ...given, id: id ?? newGeminiId(edge.now()), expiresInMs: readExpiry({}, edge.batches) },
    edge,
  );
}
