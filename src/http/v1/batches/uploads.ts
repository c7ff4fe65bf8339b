// /v1/uploads: a file in parts, for clients whose files are too long for one request, or whose connections are bad.

import { randomBytes } from "node:crypto";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { FILE_PURPOSES } from "../../../core/batches/files.ts";
import type { StoredUpload, UploadCompletion } from "../../../core/batches/uploads.ts";
import { GatewayError } from "../../../core/errors.ts";
import { isId } from "../../../core/responses/stored.ts";
import { writeUpload } from "../../../formats/endpoints/files.ts";
import { invalid, isObject, type JsonObject } from "../../../formats/json/fields.ts";
import { checkFiles, type UploadedFile } from "../../../formats/media/upload.ts";
import { parsedBodyOf } from "../../exchange/body.ts";
import * as TEXT from "../../text.ts";
import { callerOf } from "../key-admission.ts";
import { type IdRequest, nameOf } from "../responses/paging.ts";
import {
  type FilesContext,
  newFileId,
  plainName,
  readExpiry,
  refuseOtherFiles,
  refuseUnkept,
  requireStoring,
} from "./files.ts";

/** An upload that is not complete after this long is deleted, as at OpenAI. */
const UPLOAD_MS = 60 * 60 * 1000;
const PART_BYTES_MAX = 64 * 1024 * 1024;
/** The rest of a form beside its file. */
const FORM_BYTES = 1024 * 1024;
/** Parts that were sent again lie there until the upload is over. */
const STORED_FACTOR = 2;
const MIME = /^[\w!#$&^.+-]{1,100}\/[\w!#$&^.+-]{1,100}$/;
const MD5 = /^[0-9a-f]{32}$/i;

export function registerUploads(server: FastifyInstance, edge: FilesContext): void {
  const { uploads } = edge.batches;
  const { uploadLimitBytes } = edge.settings.server;
  const find = async (request: IdRequest): Promise<StoredUpload> => {
    const name = nameOf(request, uploadNotFound);
    const upload = await uploads.find(name);
    if (upload === null) throw uploadNotFound(name.id);
    return upload;
  };

  server.post("/v1/uploads", { onRequest: refuseOtherFiles }, async (request) => {
    const upload = newUpload(request, (await parsedBodyOf(request)).body, edge);
    await beginUpload(upload, edge);
    return writeUpload(upload);
  });

  const formLimit = Math.min(uploadLimitBytes, PART_BYTES_MAX + FORM_BYTES);
  const takesForms = { config: { uploadLimitBytes: formLimit }, onRequest: refuseOtherFiles };
  server.post("/v1/uploads/:id/parts", takesForms, async (request: IdRequest) => {
    const upload = await find(request);
    const file = partOf(request);
    const id = newPartId(edge.now());
    await storePart(upload, { id, file, offset: null }, edge);
    return { id, object: "upload.part", created_at: Math.floor(edge.now() / 1000), upload_id: upload.id };
  });

  server.post("/v1/uploads/:id/complete", { onRequest: refuseOtherFiles }, async (request: IdRequest) => {
    const upload = await find(request);
    const { body } = await parsedBodyOf(request);
    const completion = await uploads.complete(upload, { ...readCompletion(body), nowMs: edge.now() });
    requireCompleted(completion, upload);
    return writeUpload(await find(request));
  });

  server.post("/v1/uploads/:id/cancel", { onRequest: refuseOtherFiles }, async (request: IdRequest) => {
    const upload = await find(request);
    if (!(await uploads.cancel(upload))) throw uploadOver(upload);
    return writeUpload({ ...upload, status: "cancelled" });
  });
}

/** Takes the room of a file, so that one without room is refused before its first part is sent. */
export async function beginUpload(upload: StoredUpload, edge: FilesContext): Promise<void> {
  await requireStoring(upload.accountId, edge);
  refuseUnkept(await edge.batches.uploads.begin(upload, edge.batches.room), edge);
}

export interface NewPart {
  readonly id: string;
  readonly file: Pick<UploadedFile, "length" | "read">;
  /** Place of its first byte; null for a part whose place is named at the end. */
  readonly offset: number | null;
}

/** Resolves to false for a part that is not the next one. */
export async function storePart(
  upload: StoredUpload,
  { id, file, offset }: NewPart,
  { batches }: Pick<FilesContext, "batches">,
): Promise<boolean> {
  if (file.length > PART_BYTES_MAX) throw new GatewayError("tooLarge", TEXT.uploadTooLarge(PART_BYTES_MAX));
  const content = { pieces: file.read(), bytesMax: upload.file.bytes * STORED_FACTOR, offset };
  const outcome = await batches.uploads.addPart(upload, { id, bytes: file.length }, content);
  if (outcome === "over") throw uploadOver(upload);
  if (outcome === "too-much") throw invalid("data", TEXT.uploadTooLong(upload.file.bytes));
  return outcome === "stored";
}

export function requireCompleted(
  completion: UploadCompletion,
  upload: StoredUpload,
): asserts completion is Extract<UploadCompletion, { readonly state: "completed" }> {
  if (completion.state === "over") throw uploadOver(upload);
  if (completion.state === "other-md5") throw invalid("md5", TEXT.otherMd5);
  if (completion.state === "unknown-part") throw invalid("part_ids", TEXT.unknownPart(completion.id));
  if (completion.state === "other-length")
    throw invalid("part_ids", TEXT.otherLength(completion.bytes, upload.file.bytes));
}

export function newPartId(nowMs: number): string {
  return newFileId(nowMs).replace("file-", "part_");
}

function newUpload(request: FastifyRequest, body: JsonObject, edge: FilesContext): StoredUpload {
  const { filename, bytes, mime_type: mimeType, expires_after: expiry } = body;
  if (typeof filename !== "string" || filename === "") throw invalid("filename", TEXT.notFileName);
  const purpose = FILE_PURPOSES.find((name) => name === body.purpose);
  if (purpose === undefined) throw invalid("purpose", TEXT.notOneOf("purpose", FILE_PURPOSES.join(", ")));
  if (!(Number.isSafeInteger(bytes) && (bytes as number) > 0)) throw invalid("bytes", TEXT.notBytes("bytes"));
  if (typeof mimeType !== "string" || !MIME.test(mimeType)) throw invalid("mime_type", TEXT.notMimeType);
  if (expiry !== undefined && expiry !== null && !isObject(expiry)) throw invalid("expires_after", TEXT.notExpiry);
  const wanted = { purpose, name: filename, mimeType, bytes: bytes as number };
  return uploadOf(request, { ...wanted, keptMs: readExpiry(expiry ?? {}, edge.batches) }, edge);
}

export interface WantedUpload extends Pick<StoredUpload["file"], "purpose" | "name" | "mimeType" | "bytes"> {
  readonly keptMs: number;
  /** The id of the file that the client chose; absent for one of ours. */
  readonly fileId?: string | undefined;
}

export function uploadOf(
  request: FastifyRequest,
  { purpose, name, mimeType, bytes, keptMs, fileId }: WantedUpload,
  edge: FilesContext,
): StoredUpload {
  const { accountId } = callerOf(request).key;
  const createdAtMs = edge.now();
  const times = { createdAtMs, expiresAtMs: createdAtMs + UPLOAD_MS };
  const id = `upload_${createdAtMs.toString(16).padStart(12, "0")}${randomBytes(16).toString("hex")}`;
  const file = { accountId, id: fileId ?? newFileId(createdAtMs), purpose, name: plainName(name), mimeType, bytes };
  return { accountId, id, status: "pending", file: { ...file, ...times }, keptMs, ...times };
}

function partOf({ upload }: FastifyRequest): UploadedFile {
  if (upload === null) throw new GatewayError("wrongMediaType", TEXT.sendPart);
  checkFiles(upload, ["data"]);
  const [file, second] = upload.files;
  if (file === undefined || second !== undefined) throw invalid("data", TEXT.onePart);
  return file;
}

function readCompletion({ part_ids: partIds, md5 = null }: JsonObject) {
  if (!Array.isArray(partIds) || partIds.length === 0 || !partIds.every(isId))
    throw invalid("part_ids", TEXT.notPartIds);
  if (md5 !== null && !(typeof md5 === "string" && MD5.test(md5))) throw invalid("md5", TEXT.notMd5);
  return { partIds: partIds as readonly string[], md5: md5 === null ? null : md5.toLowerCase() };
}

function uploadOver({ status }: StoredUpload): GatewayError {
  return new GatewayError("badRequest", TEXT.uploadOver(status), { code: "upload_over" });
}

export function uploadNotFound(id: string): GatewayError {
  return new GatewayError("notFound", TEXT.uploadNotFound(id), { code: "upload_not_found" });
}
