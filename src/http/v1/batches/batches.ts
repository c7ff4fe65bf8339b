// /v1/batches and /v1/messages/batches: create, show, list and cancel batches, and read their results. Those of another
// account do not exist.

import { randomBytes } from "node:crypto";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { BatchApi, BatchError, LineRequest, NewBatch, StoredBatch } from "../../../core/batches/batches.ts";
import { GatewayError } from "../../../core/errors.ts";
import { parseUsd } from "../../../core/money.ts";
import { isId, type OwnedId } from "../../../core/responses/stored.ts";
import {
  BATCH_PATHS,
  LINES_MAX,
  MESSAGE_PAGE,
  MESSAGES_PATH,
  readLine,
  readMessageLines,
  writeBatch,
  writeBatchList,
  writeMessageBatch,
  writeMessageResult,
} from "../../../formats/endpoints/batches.ts";
import { invalid, isObject, type JsonObject } from "../../../formats/json/fields.ts";
import { requireCredits } from "../../../gateway/reserve.ts";
import type { CallContext } from "../../context.ts";
import { parsedBodyOf } from "../../exchange/body.ts";
import { publicOrigin } from "../../exchange/hosts.ts";
import * as TEXT from "../../text.ts";
import { callerOf } from "../key-admission.ts";
import { type IdRequest, type QueryTexts, readWhole, single } from "../responses/paging.ts";
import { fileNotFound, sendLines } from "./files.ts";

const DAY_MS = 86_400_000;
const PAGE_MAX = { openai: 100, messages: 1_000 };
const LINES_AT_ONCE = 200;
const ERRORS_MAX = 100;
const NO_SLOT = { config: { needsNoSlot: true } };

type BatchesContext = Pick<CallContext, "batches" | "services" | "settings" | "now">;
type BatchPageRequest = FastifyRequest<{ Querystring: QueryTexts }>;

export function registerBatches(server: FastifyInstance, edge: BatchesContext): void {
  registerFileBatches(server, edge);
  registerMessageBatches(server, edge);
}

function createFinders(edge: BatchesContext) {
  const { store } = edge.batches;
  const find =
    (api: BatchApi) =>
    async (request: IdRequest): Promise<StoredBatch> => {
      const name = nameOf(request);
      const batch = await store.find(api, name);
      if (batch === null) throw batchNotFound(name.id);
      return batch;
    };
  const cancel =
    (api: BatchApi) =>
    async (request: IdRequest): Promise<StoredBatch> => {
      await find(api)(request);
      await store.cancel(nameOf(request), edge.now());
      return find(api)(request);
    };
  return { store, find, cancel };
}

function registerFileBatches(server: FastifyInstance, edge: BatchesContext): void {
  const { find, cancel } = createFinders(edge);
  server.post("/v1/batches", async (request, reply) => writeBatch(await createFromFile(request, reply, edge)));
  server.get("/v1/batches", NO_SLOT, async (request: BatchPageRequest) => {
    const after = single(request.query, "after");
    return page(request, { api: "openai", after, isNewestFirst: true }, edge, writeBatch);
  });
  server.get("/v1/batches/:id", NO_SLOT, async (request: IdRequest) => writeBatch(await find("openai")(request)));
  server.post("/v1/batches/:id/cancel", NO_SLOT, async (request: IdRequest) => {
    const { status, endedAtMs } = await find("openai")(request);
    if (endedAtMs !== null)
      throw new GatewayError("conflict", TEXT.batchOver(status), { code: "batch_not_cancellable" });
    return writeBatch(await cancel("openai")(request));
  });
}

function registerMessageBatches(server: FastifyInstance, edge: BatchesContext): void {
  const { store, find, cancel } = createFinders(edge);
  const write = (request: FastifyRequest) => (batch: StoredBatch) =>
    writeMessageBatch(batch, `${publicOrigin(request, edge.settings.server)}/v1/messages/batches/${batch.id}/results`);
  server.post("/v1/messages/batches", async (request, reply) =>
    write(request)(await createFromBody(request, reply, edge)),
  );
  server.get("/v1/messages/batches", NO_SLOT, async (request: BatchPageRequest) => {
    const [after, before] = [single(request.query, MESSAGE_PAGE.after), single(request.query, MESSAGE_PAGE.before)];
    return page(
      request,
      { api: "messages", after: after ?? before, isNewestFirst: before === null },
      edge,
      write(request),
    );
  });
  server.get("/v1/messages/batches/:id", NO_SLOT, async (request: IdRequest) =>
    write(request)(await find("messages")(request)),
  );
  server.post("/v1/messages/batches/:id/cancel", NO_SLOT, async (request: IdRequest) =>
    write(request)(await cancel("messages")(request)),
  );
  server.delete("/v1/messages/batches/:id", NO_SLOT, async (request: IdRequest) => {
    const { id, endedAtMs } = await find("messages")(request);
    if (endedAtMs === null) throw new GatewayError("badRequest", TEXT.batchRuns, { code: "batch_running" });
    await store.remove(nameOf(request));
    return { id, type: "message_batch_deleted" };
  });
  server.get("/v1/messages/batches/:id/results", NO_SLOT, async (request: IdRequest, reply) => {
    const batch = await find("messages")(request);
    if (batch.endedAtMs === null) throw new GatewayError("badRequest", TEXT.batchRuns, { code: "batch_running" });
    return sendLines(reply, messageResults(batch, edge), edge);
  });
}

async function* messageResults(batch: StoredBatch, { batches }: BatchesContext): AsyncGenerator<string> {
  for await (const line of batches.store.ended(batch)) yield writeMessageResult(line);
}

interface WantedPage {
  readonly api: BatchApi;
  readonly after: string | null;
  readonly isNewestFirst: boolean;
}

async function page(
  request: BatchPageRequest,
  wanted: WantedPage,
  { batches }: BatchesContext,
  write: (batch: StoredBatch) => { readonly id: string },
) {
  const limit = readWhole(request.query, "limit", { min: 1, max: PAGE_MAX[wanted.api] }) ?? 20;
  const { after, isNewestFirst } = wanted;
  if (after !== null && !isId(after)) throw batchNotFound(after);
  const { accountId } = callerOf(request).key;
  const found = await batches.store.list(accountId, { ...wanted, limit: limit + 1 });
  if (found === null) throw batchNotFound(after ?? "");
  const shown = isNewestFirst ? found : [...found.slice(0, limit).reverse(), ...found.slice(limit)];
  return writeBatchList(shown, limit, write);
}

async function createFromBody(
  request: FastifyRequest,
  reply: FastifyReply,
  edge: BatchesContext,
): Promise<StoredBatch> {
  const { body } = await parsedBodyOf(request);
  const lines = readMessageLines(body.requests);
  const batch = newBatch(request, { api: "messages", endpoint: MESSAGES_PATH, inputFileId: null, body }, edge);
  await requireMoney(batch, edge);
  async function* all(): AsyncGenerator<LineRequest> {
    yield* lines;
  }
  return run(batch, all(), reply, edge);
}

async function createFromFile(
  request: FastifyRequest,
  reply: FastifyReply,
  edge: BatchesContext,
): Promise<StoredBatch> {
  const { body } = await parsedBodyOf(request);
  const endpoint = BATCH_PATHS.find((path) => path === body.endpoint);
  if (endpoint === undefined) throw invalid("endpoint", TEXT.notOneOf("endpoint", BATCH_PATHS.join(", ")));
  if (body.completion_window !== "24h") throw invalid("completion_window", TEXT.notOneOf("completion_window", "24h"));
  const fileId = body.input_file_id;
  if (!isId(fileId)) throw invalid("input_file_id", TEXT.inputFileRequired);
  const { accountId } = callerOf(request).key;
  const file = await edge.batches.files.find({ accountId, id: fileId });
  if (file === null) throw fileNotFound(fileId);
  if (file.purpose !== "batch") throw invalid("input_file_id", TEXT.inputFilePurpose);
  const batch = newBatch(request, { api: "openai", endpoint, inputFileId: fileId, body }, edge);
  await requireMoney(batch, edge);
  const errors: BatchError[] = [];
  const lines = readLines(edge.batches.files.read(file), {
    endpoint,
    errors,
    lineBytes: edge.settings.server.bodyLimitBytes,
  });
  return run(batch, lines, reply, edge, errors);
}

interface LineReading {
  readonly endpoint: string;
  readonly errors: BatchError[];
  readonly lineBytes: number;
}

/** The requests of a file. What is wrong with a line becomes an error. */
async function* readLines(
  file: AsyncIterable<Buffer>,
  { endpoint, errors, lineBytes }: LineReading,
): AsyncGenerator<LineRequest> {
  const known = new Set<string>();
  let number = 0;
  for await (const bytes of linesOf(file, lineBytes)) {
    number += 1;
    if (bytes !== null && bytes.toString("latin1").trim() === "") continue;
    const read = bytes === null ? TOO_LONG : readLine(bytes, endpoint);
    if (known.size >= LINES_MAX) {
      errors.push({ code: "too_many_lines", message: TEXT.tooManyLines(LINES_MAX), line: number, param: null });
      return;
    }
    if (!("customId" in read)) errors.push({ ...read, line: number });
    else if (known.has(read.customId)) errors.push({ ...DUPLICATE, line: number });
    else {
      known.add(read.customId);
      if (errors.length === 0) yield read;
    }
    if (errors.length >= ERRORS_MAX || bytes === null) return;
  }
  if (known.size === 0 && errors.length === 0)
    errors.push({ code: "empty_file", message: TEXT.emptyFile, line: null, param: null });
}

const TOO_LONG = { code: "line_too_long", message: "This line is longer than a request may be.", param: null };
const DUPLICATE = { code: "duplicate_custom_id", message: "Two lines have the same 'custom_id'.", param: "custom_id" };

/** Yields null for a line that is too long, behind which nothing more is read. */
async function* linesOf(file: AsyncIterable<Buffer>, most: number): AsyncGenerator<Buffer | null> {
  let kept: Buffer[] = [];
  let length = 0;
  for await (const piece of file) {
    let from = 0;
    for (let end = piece.indexOf(10); end >= 0; end = piece.indexOf(10, from)) {
      yield Buffer.concat([...kept, piece.subarray(from, end)]);
      kept = [];
      length = 0;
      from = end + 1;
    }
    kept.push(piece.subarray(from));
    length += piece.length - from;
    if (length > most) {
      yield null;
      return;
    }
  }
  if (length > 0) yield Buffer.concat(kept);
}

/** Stores the lines and lets them run, unless one of them is wrong or the client has left: it knows no id to ask for. */
async function run(
  batch: NewBatch,
  lines: AsyncIterable<LineRequest>,
  reply: FastifyReply,
  edge: BatchesContext,
  errors: readonly BatchError[] = [],
): Promise<StoredBatch> {
  const { store } = edge.batches;
  await store.begin(batch);
  try {
    let waiting: LineRequest[] = [];
    let first = 0;
    const add = async (): Promise<void> => {
      await store.addLines(batch, first, waiting);
      first += waiting.length;
      waiting = [];
      if (reply.raw.destroyed) throw new GatewayError("badRequest", TEXT.bodyInterrupted);
    };
    for await (const line of lines) {
      waiting.push(line);
      if (waiting.length >= LINES_AT_ONCE) await add();
    }
    await add();
    if (errors.length > 0) await store.fail({ ...batch, content: { ...batch.content, errors } });
    else await store.release(batch);
  } catch (error) {
    await store.remove(batch);
    throw error;
  }
  const made = await store.find(batch.api, batch);
  if (made === null) throw batchNotFound(batch.id);
  return made;
}

interface WantedBatch {
  readonly api: BatchApi;
  readonly endpoint: string;
  readonly inputFileId: string | null;
  readonly body: JsonObject;
}

function newBatch(
  request: FastifyRequest,
  { api, endpoint, inputFileId, body }: WantedBatch,
  edge: BatchesContext,
): NewBatch {
  const { accountId, id: keyId } = callerOf(request).key;
  const { metadata = null, service_max_cost_usd: most = null } = body;
  if (metadata !== null && !isObject(metadata)) throw invalid("metadata", TEXT.metadataObject);
  if (most !== null && !(typeof most === "number" && most >= 0 && most <= 1e6))
    throw invalid("service_max_cost_usd", TEXT.maxCost);
  const createdAtMs = edge.now();
  const prefix = api === "openai" ? "batch_" : "msgbatch_";
  return {
    ...{
      accountId,
      id: `${prefix}${createdAtMs.toString(16).padStart(12, "0")}${randomBytes(10).toString("hex")}`,
      api,
      keyId,
    },
    content: { endpoint, inputFileId, metadata, errors: [] },
    maxCost: most === null ? null : parseUsd(most.toFixed(9)),
    createdAtMs,
    expiresAtMs: createdAtMs + DAY_MS,
    deletedAtMs: createdAtMs + edge.batches.retentionDays * DAY_MS,
  };
}

async function requireMoney({ accountId }: NewBatch, { batches, services }: BatchesContext): Promise<void> {
  if (batches.concurrency === 0) throw new GatewayError("badRequest", TEXT.batchesOff, { code: "batches_off" });
  if (services().billingModeOf(accountId) !== "metered") await requireCredits(accountId, services());
}

function nameOf(request: IdRequest): OwnedId {
  const { id } = request.params;
  if (!isId(id)) throw batchNotFound(id);
  return { accountId: callerOf(request).key.accountId, id };
}

function batchNotFound(id: string): GatewayError {
  return new GatewayError("notFound", TEXT.batchNotFound(id), { code: "batch_not_found" });
}
