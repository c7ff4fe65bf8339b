// New batches: all lines are read, stored and quoted before one of them may run, and the batch holds what they may cost.

import { randomBytes } from "node:crypto";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { BatchApi, BatchError, LineRequest, NewBatch, StoredBatch } from "../../../core/batches/batches.ts";
import { batchHoldId } from "../../../core/batches/holds.ts";
import { GatewayError } from "../../../core/errors.ts";
import { parseUsd } from "../../../core/money.ts";
import { isId } from "../../../core/responses/stored.ts";
import { BATCH_PATHS, MESSAGES_PATH, readMessageLines } from "../../../formats/endpoints/batches.ts";
import { invalid, isObject, type JsonObject } from "../../../formats/json/fields.ts";
import { holdBatch } from "../../../gateway/batches/quote.ts";
import { requireCredits } from "../../../gateway/reserve.ts";
import type { CallContext } from "../../context.ts";
import { parsedBodyOf } from "../../exchange/body.ts";
import * as TEXT from "../../text.ts";
import { callerOf } from "../key-admission.ts";
import { fileNotFound, readExpiry } from "./files.ts";
import { createQuoter, type LineReading, readLines } from "./lines.ts";

const DAY_MS = 86_400_000;
const LINES_AT_ONCE = 200;
const METADATA_CHARS_MAX = 16 * 1024;
const PREFIXES: Readonly<Record<BatchApi, string>> = { openai: "batch_", messages: "msgbatch_", gemini: "" };
const MAX_COST = "service_max_cost_usd";

export type CreateContext = Pick<CallContext, "batches" | "services" | "settings" | "formats" | "state" | "now">;

/** A request for a batch, and the response that it gets. */
export interface Creating {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

export async function createFromBody(creating: Creating, edge: CreateContext): Promise<StoredBatch> {
  const { body } = await parsedBodyOf(creating.request);
  const lines = readMessageLines(body.requests);
  return createBatch(creating, { api: "messages", endpoint: MESSAGES_PATH, inputFileId: null, body, lines }, edge);
}

export async function createFromFile(creating: Creating, edge: CreateContext): Promise<StoredBatch> {
  const { body } = await parsedBodyOf(creating.request);
  const endpoint = BATCH_PATHS.find((path) => path === body.endpoint);
  if (endpoint === undefined) throw invalid("endpoint", TEXT.notOneOf("endpoint", BATCH_PATHS.join(", ")));
  if (body.completion_window !== "24h") throw invalid("completion_window", TEXT.notOneOf("completion_window", "24h"));
  const inputFileId = body.input_file_id;
  if (!isId(inputFileId)) throw invalid("input_file_id", TEXT.inputFileRequired);
  return createFromLines(creating, { api: "openai", endpoint, inputFileId, body }, edge);
}

interface WantedFile extends Omit<WantedBatch, "lines"> {
  readonly inputFileId: string;
  readonly read?: LineReading["read"];
}

/** From a file of lines. What is wrong with one of them fails the batch. */
export async function createFromLines(
  creating: Creating,
  { read, ...wanted }: WantedFile,
  edge: CreateContext,
): Promise<StoredBatch> {
  const { accountId } = callerOf(creating.request).key;
  const { inputFileId: id, endpoint } = wanted;
  const file = await edge.batches.files.find({ accountId, id });
  if (file === null) throw fileNotFound(id);
  if (wanted.api === "openai" && file.purpose !== "batch") throw invalid("input_file_id", TEXT.inputFilePurpose);
  const errors: BatchError[] = [];
  const reading = { endpoint, errors, lineBytes: edge.settings.server.bodyLimitBytes };
  const lines = readLines(edge.batches.files.read(file), read === undefined ? reading : { ...reading, read });
  return createBatch(creating, { ...wanted, lines, errors }, edge);
}

interface WantedBatch {
  readonly api: BatchApi;
  readonly endpoint: string;
  readonly inputFileId: string | null;
  readonly body: JsonObject;
  readonly lines: AsyncIterable<LineRequest> | Iterable<LineRequest>;
  /** Filled while the lines are read. */
  readonly errors?: readonly BatchError[];
}

/**
 * Stores the lines and lets them run, unless one of them is wrong, the credits do not cover them, or the client has left:
 * it knows no id to ask for.
 */
export async function createBatch(
  { request, reply }: Creating,
  wanted: WantedBatch,
  edge: CreateContext,
): Promise<StoredBatch> {
  const { store, bytesPerAccount } = edge.batches;
  const batch = newBatch(request, wanted, edge);
  const { accountId, keyId } = batch;
  await requireMoney(accountId, edge);
  const quoter = createQuoter(wanted.endpoint, callerOf(request), edge);
  const hold = { id: batchHoldId(batch.id), accountId, keyId };
  await store.begin(batch);
  try {
    let waiting: LineRequest[] = [];
    let first = 0;
    const add = async (): Promise<void> => {
      const bytes = await store.addLines(batch, first, waiting);
      if (bytes > bytesPerAccount) throw batchesFull(bytesPerAccount);
      first += waiting.length;
      waiting = [];
      if (reply.raw.destroyed) throw new GatewayError("badRequest", TEXT.bodyInterrupted);
    };
    for await (const line of wanted.lines) {
      await quoter.add(line);
      waiting.push(line);
      if (waiting.length >= LINES_AT_ONCE) await add();
    }
    await add();
    const { errors = [] } = wanted;
    if (errors.length > 0) await store.fail({ ...batch, content: { ...batch.content, errors } });
    else {
      const isCovered = await holdBatch({ ...hold, quote: quoter.sum, maxCost: batch.maxCost }, edge.services());
      const { nativeFrom } = edge.batches;
      await store.release(batch, isCovered && nativeFrom > 0 && first >= nativeFrom);
    }
  } catch (error) {
    // Without the store, the batch fails by itself after an hour, and its hold ends then.
    await edge.services().ledger.end([{ holdId: hold.id, accountId, keyId }]);
    await store.remove(batch);
    throw error;
  }
  const made = await store.find(batch.api, batch);
  if (made === null) throw batchNotFound(batch.id);
  return made;
}

function newBatch(
  request: FastifyRequest,
  { api, endpoint, inputFileId, body }: WantedBatch,
  edge: CreateContext,
): NewBatch {
  const { accountId, id: keyId } = callerOf(request).key;
  const { metadata = null } = body;
  if (metadata !== null && !isObject(metadata)) throw invalid("metadata", TEXT.metadataObject);
  // Lists show it whole.
  if (JSON.stringify(metadata).length > METADATA_CHARS_MAX)
    throw invalid("metadata", TEXT.metadataTooLong(METADATA_CHARS_MAX));
  const createdAtMs = edge.now();
  const expiresAtMs = createdAtMs + DAY_MS;
  const expiry = outputExpiry(body, edge);
  const longestMs = edge.batches.retentionDays * DAY_MS;
  return {
    accountId,
    id: `${PREFIXES[api]}${createdAtMs.toString(16).padStart(12, "0")}${randomBytes(10).toString("hex")}`,
    ...{ api, keyId },
    content: { endpoint, inputFileId, metadata, errors: [], ...expiry },
    maxCost: readMaxCost(body[MAX_COST] ?? metadata?.[MAX_COST] ?? null),
    createdAtMs,
    expiresAtMs,
    // From the last moment at which a line may begin: what was paid for is never deleted before it can be read.
    deletedAtMs: expiresAtMs + Math.min(longestMs, DAY_MS + (expiry.outputKeptMs ?? longestMs)),
  };
}

function outputExpiry(
  { output_expires_after: given = null }: JsonObject,
  { batches }: CreateContext,
): Pick<StoredBatch["content"], "outputKeptMs"> {
  if (given === null) return {};
  if (!isObject(given)) throw invalid("output_expires_after", TEXT.notExpiry);
  return { outputKeptMs: readExpiry(given, batches, "output_expires_after") };
}

/** A number, or the text of one: metadata has nothing but texts. */
function readMaxCost(given: unknown): bigint | null {
  if (given === null) return null;
  const most = typeof given === "string" && /^\d{1,7}(\.\d{1,9})?$/.test(given) ? Number(given) : given;
  if (!(typeof most === "number" && most >= 0 && most <= 1e6)) throw invalid(MAX_COST, TEXT.maxCost);
  return typeof given === "string" ? parseUsd(given) : parseUsd(most.toFixed(9));
}

async function requireMoney(accountId: string, { batches, services }: CreateContext): Promise<void> {
  if (batches.concurrency === 0) throw new GatewayError("badRequest", TEXT.batchesOff, { code: "batches_off" });
  if (services().billingModeOf(accountId) !== "metered") await requireCredits(accountId, services());
}

function batchesFull(bytes: number): GatewayError {
  return new GatewayError("badRequest", TEXT.batchesFull(bytes), { code: "batches_full" });
}

export function batchNotFound(id: string): GatewayError {
  return new GatewayError("notFound", TEXT.batchNotFound(id), { code: "batch_not_found" });
}
