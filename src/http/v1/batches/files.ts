// /v1/files: upload, list, read and delete files. Those of another account do not exist.

import { randomBytes } from "node:crypto";
import { Readable } from "node:stream";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { StoredBatch } from "../../../core/batches/batches.ts";
import { FILE_PURPOSES, type FilePage, type StoredFile } from "../../../core/batches/files.ts";
import { GatewayError } from "../../../core/errors.ts";
import { shownName } from "../../../core/names.ts";
import { isId, type OwnedId } from "../../../core/responses/stored.ts";
import { batchOfFile, hasResults, writeResultLine } from "../../../formats/endpoints/batches.ts";
import { writeFile, writeFileList } from "../../../formats/endpoints/files.ts";
import { invalid } from "../../../formats/json/fields.ts";
import { checkFiles, type Upload, type UploadedFile } from "../../../formats/media/upload.ts";
import { requireCredits } from "../../../gateway/reserve.ts";
import type { CallContext } from "../../context.ts";
import { cutWhenUnread } from "../../exchange/stream.ts";
import * as TEXT from "../../text.ts";
import { callerOf } from "../key-admission.ts";
import { type IdRequest, type QueryTexts, readWhole, single } from "../responses/paging.ts";

export const FILES_AT_ONCE = 10_000;
/** Ends that clients may name. */
export const EXPIRY_SECONDS = { min: 3_600, max: 2_592_000 };
const NAME_MAX = 255;
const DAY_MS = 86_400_000;
const NO_SLOT = { config: { needsNoSlot: true }, onRequest: refuseOtherFiles };

export type FilesContext = Pick<CallContext, "batches" | "services" | "settings" | "now">;
type FilePageRequest = FastifyRequest<{ Querystring: QueryTexts }>;

export function registerFiles(server: FastifyInstance, edge: FilesContext): void {
  const { files } = edge.batches;
  const find = async (request: IdRequest): Promise<StoredFile> => {
    const name = fileNameOf(request);
    const file = (await (await resultsOf(name, edge))?.file()) ?? (await files.find(name));
    if (file === null) throw fileNotFound(name.id);
    return file;
  };

  const { uploadLimitBytes } = edge.settings.server;
  server.post("/v1/files", { config: { uploadLimitBytes }, onRequest: refuseOtherFiles }, async (request) => {
    return writeFile(await store(request, edge));
  });

  server.get("/v1/files", NO_SLOT, async (request: FilePageRequest) => {
    const page = readPage(request.query);
    const { accountId } = callerOf(request).key;
    const found = await files.list(accountId, { ...page, limit: page.limit + 1 });
    if (found === null) throw fileNotFound(page.after ?? "");
    return writeFileList(found, page.limit);
  });

  server.get("/v1/files/:id", NO_SLOT, async (request: IdRequest) => writeFile(await find(request)));

  server.get("/v1/files/:id/content", NO_SLOT, async (request: IdRequest, reply) => {
    const results = await resultsOf(fileNameOf(request), edge);
    if (results !== null) return sendLines(reply, results.lines(), edge);
    const file = await find(request);
    reply.type("application/octet-stream").headers(DOWNLOAD).header("content-length", String(file.bytes));
    cutWhenUnread(reply.raw, edge.settings.server.writeStallMs);
    return reply.send(Readable.from(files.read(file), { objectMode: false, highWaterMark: 1 }));
  });

  server.delete("/v1/files/:id", NO_SLOT, async (request: IdRequest) => {
    const name = fileNameOf(request);
    if ((await resultsOf(name, edge)) !== null)
      throw new GatewayError("badRequest", TEXT.resultFile, { code: "file_of_batch" });
    if (!(await files.remove(name))) throw fileNotFound(name.id);
    return { id: name.id, object: "file", deleted: true };
  });
}

/** Clients whose vendor has other files at these paths would misread ours. */
export async function refuseOtherFiles({
  clientFormat,
  url,
}: Pick<FastifyRequest, "clientFormat" | "url">): Promise<void> {
  const path = url.replace(/\?.*/s, "");
  const other = clientFormat?.paths.notServed?.find(([pattern]) => pattern.test(path));
  if (other !== undefined) throw new GatewayError("notFound", TEXT.unknownPath(path, other[1]));
}

interface Results {
  file(): Promise<StoredFile>;
  lines(): AsyncGenerator<string, void, void>;
}

/** The results of a batch as a file, which is written while it is read. Null where the id names none. */
async function resultsOf(
  { accountId, id }: OwnedId,
  { batches: { store }, now }: FilesContext,
): Promise<Results | null> {
  const named = batchOfFile(id);
  const batch = named === null ? null : await store.find("openai", { accountId, id: named.id });
  if (named === null || batch === null || !hasResults(batch, named.part)) return null;
  const createdAtMs = batch.endedAtMs ?? 0;
  const expiresAtMs = Math.min(
    batch.deletedAtMs,
    createdAtMs + (batch.content.outputKeptMs ?? Number.POSITIVE_INFINITY),
  );
  if (expiresAtMs <= now()) return null;
  const { part } = named;
  async function* lines(): AsyncGenerator<string, void, void> {
    for await (const line of store.ended(batch as StoredBatch))
      yield writeResultLine(line, part, batch as StoredBatch) ?? "";
  }
  async function file(): Promise<StoredFile> {
    let bytes = 0;
    for await (const line of lines()) bytes += Buffer.byteLength(line);
    return {
      accountId,
      id,
      purpose: "batch_output",
      name: `${named?.id}_${part}.jsonl`,
      mimeType: "application/x-jsonl",
      bytes,
      ...{ createdAtMs, expiresAtMs },
    };
  }
  return { lines, file };
}

/** A browser that is shown a file takes it for nothing that could run. */
export const DOWNLOAD = { "content-disposition": "attachment", "x-content-type-options": "nosniff" };

async function store(request: FastifyRequest, edge: FilesContext): Promise<StoredFile> {
  const { upload } = request;
  if (upload === null) throw new GatewayError("wrongMediaType", TEXT.sendForm);
  const { file, purpose, expiresInMs } = readForm(upload, edge);
  const { fileName, type } = file;
  return keep(request, { file, purpose, name: fileName ?? "", mimeType: type === "" ? null : type, expiresInMs }, edge);
}

export interface GivenFile extends Pick<StoredFile, "purpose" | "name" | "mimeType"> {
  readonly file: Pick<UploadedFile, "length" | "read">;
  readonly expiresInMs: number;
  /** The id that the client chose; absent for one of ours. */
  readonly id?: string | undefined;
}

/** Stores a file of a client with credits. */
export async function keep(
  request: FastifyRequest,
  { file, purpose, name, mimeType, expiresInMs, id }: GivenFile,
  edge: FilesContext,
): Promise<StoredFile> {
  const { accountId } = callerOf(request).key;
  await requireStoring(accountId, edge);
  const createdAtMs = edge.now();
  const stored: StoredFile = {
    ...{ accountId, id: id ?? newFileId(createdAtMs), purpose, name: plainName(name), mimeType },
    ...{ bytes: file.length, createdAtMs, expiresAtMs: createdAtMs + expiresInMs },
  };
  const { files, room } = edge.batches;
  refuseUnkept(await files.create(stored, file.read(), room), edge);
  return stored;
}

export async function requireStoring(accountId: string, { services }: Pick<FilesContext, "services">): Promise<void> {
  if (services().billingModeOf(accountId) !== "metered") await requireCredits(accountId, services());
}

/** Refuses a file for which there is no room, or whose name another one has. */
export function refuseUnkept(outcome: string, { batches: { room } }: Pick<FilesContext, "batches">): void {
  if (outcome === "full") throw new GatewayError("badRequest", TEXT.filesFull(room), { code: "files_full" });
  if (outcome === "taken") throw new GatewayError("conflict", TEXT.fileExists, { code: "file_exists" });
}

interface FileForm {
  readonly file: UploadedFile;
  readonly purpose: StoredFile["purpose"];
  readonly expiresInMs: number;
}

function readForm(upload: Upload, { batches }: Pick<FilesContext, "batches">): FileForm {
  checkFiles(upload, ["file"]);
  const [file, second] = upload.files;
  if (file === undefined || second !== undefined) throw invalid("file", TEXT.oneFile);
  const fields = new Map(upload.fields);
  const purpose = FILE_PURPOSES.find((name) => name === fields.get("purpose"));
  if (purpose === undefined) throw invalid("purpose", TEXT.notOneOf("purpose", FILE_PURPOSES.join(", ")));
  const anchor = fields.get("expires_after[anchor]");
  const seconds = fields.get("expires_after[seconds]");
  const wanted = /^\d{1,9}$/.test(seconds ?? "") ? Number(seconds) : seconds;
  return { file, purpose, expiresInMs: readExpiry({ anchor, seconds: wanted }, batches) };
}

/** Time for which a file is kept. */
export function readExpiry(
  { anchor, seconds }: { readonly anchor?: unknown; readonly seconds?: unknown },
  { retentionDays }: Pick<FilesContext["batches"], "retentionDays">,
  name = "expires_after",
): number {
  const longestMs = retentionDays * DAY_MS;
  if (anchor === undefined && seconds === undefined) return longestMs;
  if (anchor !== "created_at") throw invalid(`${name}.anchor`, TEXT.notOneOf(`${name}.anchor`, "created_at"));
  const { min, max } = EXPIRY_SECONDS;
  if (!(typeof seconds === "number" && seconds >= min && seconds <= max)) {
    throw invalid(`${name}.seconds`, TEXT.notInRange(`${name}.seconds`, min, max));
  }
  return Math.min(seconds * 1000, longestMs);
}

/** The last part of a path, without characters that cannot be seen. */
export function plainName(given: string): string {
  const name = shownName(given.split(/[/\\]/).at(-1) ?? "")
    .slice(0, NAME_MAX)
    .toWellFormed();
  return name === "" ? "file" : name;
}

function readPage(query: QueryTexts): FilePage {
  const order = single(query, "order") ?? "desc";
  if (order !== "asc" && order !== "desc") throw invalid("order", TEXT.invalidOrder);
  const limit = readWhole(query, "limit", { min: 1, max: FILES_AT_ONCE }) ?? FILES_AT_ONCE;
  const after = single(query, "after");
  if (after !== null && !isId(after)) throw fileNotFound(after);
  const purpose = single(query, "purpose");
  // PostgreSQL fails on some texts.
  if (purpose !== null && !isId(purpose)) throw invalid("purpose", TEXT.notOneOf("purpose", FILE_PURPOSES.join(", ")));
  return { purpose, after, isNewestFirst: order === "desc", limit };
}

/** Begins with the time, so that the store appends in one place. */
export function newFileId(nowMs: number): string {
  return `file-${nowMs.toString(16).padStart(12, "0")}${randomBytes(10).toString("hex")}`;
}

function fileNameOf(request: IdRequest): OwnedId {
  const { id } = request.params;
  if (!isId(id)) throw fileNotFound(id);
  return { accountId: callerOf(request).key.accountId, id };
}

export function fileNotFound(id: string): GatewayError {
  return new GatewayError("notFound", TEXT.fileNotFound(id), { code: "file_not_found" });
}

/** Lines of JSON, at the pace of their reader. */
export function sendLines(
  reply: FastifyReply,
  lines: AsyncIterable<string>,
  { settings }: Pick<FilesContext, "settings">,
): FastifyReply {
  reply.type("application/x-jsonl");
  cutWhenUnread(reply.raw, settings.server.writeStallMs);
  return reply.send(Readable.from(lines, { objectMode: false, highWaterMark: 1 }));
}
