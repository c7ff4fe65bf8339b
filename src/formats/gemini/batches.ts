// Batches as Gemini's clients read them: operations with their requests inside, or in a file of lines.

import type { BatchError, EndedLine, LineRequest, LineState, StoredBatch } from "../../core/batches/batches.ts";
import { usdNumber } from "../../core/money.ts";
import { invalid, isObject, type JsonObject } from "../json/fields.ts";
import { parseObject, scanBody } from "../json/parse.ts";

const LINES_MAX = 50_000;
const TYPE = "type.googleapis.com/google.ai.generativelanguage.v1beta.GenerateContentBatch";
/** `google.rpc.Code` of lines that were never answered. */
const CODES: Readonly<Partial<Record<LineState, { readonly code: number; readonly message: string }>>> = {
  expired: { code: 4, message: "This request was not begun within 24 hours. It was not charged." },
  cancelled: { code: 1, message: "The batch was cancelled before this request. It was not charged." },
  stopped: { code: 8, message: "The batch had reached its service_max_cost_usd. This request was not charged." },
};
const LOST = { code: 13, message: "The result cannot be read any more." };

const iso = (ms: number): string => new Date(ms).toISOString();

/** The requests of a batch: those inside, or the id of the file that has them. */
type GeminiInput = { readonly fileId: string } | { readonly lines: readonly LineRequest[]; readonly fileId: null };

export interface GeminiBatch {
  readonly input: GeminiInput;
  readonly displayName: string;
  readonly maxCost: unknown;
}

export function readGeminiBatch(body: JsonObject): GeminiBatch {
  const { batch } = body;
  if (!isObject(batch)) throw invalid("batch", "'batch' must be an object.");
  const config = batch.inputConfig ?? batch.input_config;
  if (!isObject(config)) throw invalid("batch.inputConfig", "'inputConfig' must be an object.");
  const displayName = batch.displayName ?? batch.display_name ?? "";
  if (typeof displayName !== "string") throw invalid("batch.displayName", "'displayName' must be a text.");
  const maxCost = batch.service_max_cost_usd ?? body.service_max_cost_usd ?? null;
  const fileName = config.fileName ?? config.file_name;
  if (typeof fileName === "string") {
    const id = fileName.replace(/^files\//, "");
    return { input: { fileId: id }, displayName, maxCost };
  }
  const given = isObject(config.requests) ? config.requests.requests : config.requests;
  if (!Array.isArray(given) || given.length === 0 || given.length > LINES_MAX)
    throw invalid("batch.inputConfig.requests", `Send a file, or a list of 1 to ${LINES_MAX} requests.`);
  return { input: { lines: given.map(readInlined), fileId: null }, displayName, maxCost };
}

function readInlined(given: unknown, at: number): LineRequest {
  const { request, metadata } = isObject(given) ? given : ({} as JsonObject);
  const name = `batch.inputConfig.requests.${at}`;
  if (!isObject(request)) throw invalid(`${name}.request`, "'request' must be an object.");
  if (metadata !== undefined && !isObject(metadata)) throw invalid(`${name}.metadata`, "'metadata' must be an object.");
  const line = { customId: String(at), body: JSON.stringify(request) };
  return metadata === undefined ? line : { ...line, metadata };
}

/** A line of an input file; an error where it is no request that can run. */
export function readGeminiLine(bytes: Buffer): LineRequest | Omit<BatchError, "line"> {
  const line = isReadable(bytes) ? parseObject(bytes) : null;
  if (line === null) return { code: "invalid_json_line", message: "This line is not a JSON object.", param: null };
  const { key, request } = line;
  if (typeof key !== "string" || !/^[^\p{Cc}\p{Cs}]{1,512}$/u.test(key))
    return { code: "invalid_request", message: "'key' must be a text of 1 to 512 characters.", param: "key" };
  if (!isObject(request)) return { code: "invalid_request", message: "'request' must be an object.", param: "request" };
  return { customId: key, body: JSON.stringify(request) };
}

/** False for what is nested too deep to be written again. */
function isReadable(bytes: Buffer): boolean {
  try {
    scanBody(bytes);
    return true;
  } catch {
    return false;
  }
}

function geminiResultsFile({ id }: Pick<StoredBatch, "id">): string {
  return `batch${id}`;
}

/** The batch whose results a file has; null for the id of an upload. */
export function geminiBatchOfFile(id: string): string | null {
  return /^batch([0-9a-f]{32})$/.exec(id)?.[1] ?? null;
}

const STATES: Readonly<Record<StoredBatch["status"], string>> = {
  validating: "BATCH_STATE_PENDING",
  in_progress: "BATCH_STATE_RUNNING",
  cancelling: "BATCH_STATE_RUNNING",
  completed: "BATCH_STATE_SUCCEEDED",
  failed: "BATCH_STATE_FAILED",
  expired: "BATCH_STATE_EXPIRED",
  cancelled: "BATCH_STATE_CANCELLED",
};

/** The operation without its answers; those of requests inside come with `writeGeminiAnswers`. */
export function writeGeminiBatch(batch: StoredBatch): JsonObject {
  const { id, content, status, counts, createdAtMs, endedAtMs, maxCost, cost, cancelledAtMs } = batch;
  const name = `batches/${id}`;
  const failed = counts.errored + counts.expired + counts.stopped + counts.cancelled;
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const isDone = endedAtMs !== null;
  const file =
    isDone && status !== "failed" && content.inputFileId !== null
      ? { responsesFile: `files/${geminiResultsFile(batch)}` }
      : null;
  const metadata = {
    "@type": TYPE,
    name,
    model: modelIn(content.endpoint),
    displayName: content.metadata?.displayName ?? "",
    ...(file === null ? {} : { output: file }),
    createTime: iso(createdAtMs),
    ...(isDone ? { endTime: iso(endedAtMs) } : {}),
    updateTime: iso(endedAtMs ?? cancelledAtMs ?? createdAtMs),
    batchStats: {
      requestCount: String(total),
      successfulRequestCount: String(counts.succeeded),
      failedRequestCount: String(failed),
      pendingRequestCount: String(total - counts.succeeded - failed),
    },
    state: STATES[status],
    service: { cost_usd: usdNumber(cost), max_cost_usd: maxCost === null ? null : usdNumber(maxCost) },
  };
  const [problem] = content.errors;
  const end =
    problem === undefined
      ? file === null
        ? {}
        : { response: { "@type": TYPE.replace("Batch", "BatchOutput"), ...file } }
      : { error: { code: 3, message: `${problem.line === null ? "" : `Line ${problem.line}: `}${problem.message}` } };
  return { name, metadata, done: isDone, ...end };
}

function modelIn(endpoint: string): string {
  const [, model = ""] = /^\/v1beta\/(models\/.+):generateContent$/.exec(endpoint) ?? [];
  return decodeURIComponent(model);
}

/** A line of the file of results. */
export function writeGeminiResult(line: EndedLine): string {
  return `${JSON.stringify({ key: line.customId, ...answerOf(line) })}\n`;
}

/** The operation with the answers to its requests inside, piece by piece. */
export async function* writeGeminiAnswers(
  operation: JsonObject,
  lines: AsyncIterable<EndedLine>,
): AsyncGenerator<string, void, void> {
  const { metadata, ...rest } = operation;
  const head = JSON.stringify({ ...rest, metadata });
  // The closing brackets of the metadata and of the operation.
  yield `${head.slice(0, -2)},"output":{"inlinedResponses":{"inlinedResponses":[`;
  let before = "";
  for await (const line of lines) {
    const metadataOf = line.metadata === undefined ? {} : { metadata: line.metadata };
    yield `${before}${JSON.stringify({ ...answerOf(line), ...metadataOf })}`;
    before = ",";
  }
  yield "]}}}}";
}

function answerOf({ state, result }: EndedLine): JsonObject {
  if (state === "succeeded" && result !== null) return { response: result.body };
  const error = isObject(result?.body) && isObject(result.body.error) ? result.body.error : (CODES[state] ?? LOST);
  return { error };
}
