// Batches as clients of OpenAI and Anthropic read them: the object, its lines, and the results of the lines.

import type { BatchError, EndedLine, LineRequest, LineState, StoredBatch } from "../../core/batches/batches.ts";
import { usdNumber } from "../../core/money.ts";
import { invalid, isObject, type JsonObject } from "../json/fields.ts";
import { scanBody } from "../json/parse.ts";
import { type JsonSource, rawValue } from "../scan/scan.ts";

/** Paths that a line may ask for. */
export const BATCH_PATHS = [
  "/v1/chat/completions",
  "/v1/responses",
  "/v1/embeddings",
  "/v1/completions",
  "/v1/moderations",
] as const;
export const MESSAGES_PATH = "/v1/messages";
export const LINES_MAX = 50_000;
const MESSAGE_LINES_MAX = 100_000;
/** Query parameters of the list of message batches. */
export const MESSAGE_PAGE = { after: "after_id", before: "before_id" };
/** Headers that clients of the path send with each request. */
export const MESSAGE_HEADERS = { "anthropic-version": "2023-06-01" };
const CUSTOM_ID = /^[^\p{Cc}\p{Cs}]{1,512}$/u;

const seconds = (ms: number | null): number | null => (ms === null ? null : Math.floor(ms / 1000));
const iso = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString());

/** A line of an input file; an error where it is no request that can run. */
export function readLine(bytes: Buffer, endpoint: string): LineRequest | Omit<BatchError, "line"> {
  let source: JsonSource;
  try {
    ({ source } = scanBody(bytes));
    JSON.parse(bytes.toString("utf8"));
  } catch {
    return { code: "invalid_json_line", message: "This line is not a JSON object.", param: null };
  }
  const field = (name: string): unknown => {
    const raw = rawValue(source, name);
    return raw === null ? undefined : JSON.parse(raw.toString("utf8"));
  };
  const customId = field("custom_id");
  if (!isCustomId(customId)) return problem("custom_id", "'custom_id' must be a text of 1 to 512 characters.");
  if (field("method") !== "POST") return problem("method", "'method' must be POST.");
  if (field("url") !== endpoint) return problem("url", `'url' must be ${endpoint}, as the batch says.`);
  const body = field("body");
  if (!isObject(body)) return problem("body", "'body' must be an object.");
  if (body.stream === true) return problem("body.stream", "A batch has no streams. Leave out 'stream'.");
  if (body.background === true)
    return problem("body.background", "A batch is in the background. Leave out 'background'.");
  return { customId, body: (rawValue(source, "body") as Buffer).toString("utf8") };
}

function isCustomId(id: unknown): id is string {
  return typeof id === "string" && CUSTOM_ID.test(id);
}

function problem(param: string, message: string): Omit<BatchError, "line"> {
  return { code: "invalid_request", message, param };
}

/** The requests of a message batch. Throws what is wrong with one. */
export function readMessageLines(requests: unknown): readonly LineRequest[] {
  if (!Array.isArray(requests) || requests.length === 0 || requests.length > MESSAGE_LINES_MAX)
    throw invalid("requests", `'requests' must be a list of 1 to ${MESSAGE_LINES_MAX} requests.`);
  const known = new Set<string>();
  return requests.map((request: unknown, at) => {
    const { custom_id: customId, params } = isObject(request) ? request : ({} as JsonObject);
    const name = `requests.${at}`;
    if (!isCustomId(customId)) throw invalid(`${name}.custom_id`, "'custom_id' must be a text of 1 to 512 characters.");
    if (known.has(customId)) throw invalid(`${name}.custom_id`, "Two requests have the same 'custom_id'.");
    known.add(customId);
    if (!isObject(params)) throw invalid(`${name}.params`, "'params' must be an object.");
    if (params.stream === true) throw invalid(`${name}.params.stream`, "A batch has no streams. Leave out 'stream'.");
    return { customId, body: JSON.stringify(params) };
  });
}

export type ResultPart = "output" | "errors";

/** The ids of the files that a batch has when it is over. */
function resultFilesOf({ id }: Pick<StoredBatch, "id">): Readonly<Record<ResultPart, string>> {
  return { output: `file-${id}-output`, errors: `file-${id}-errors` };
}

/** The batch whose results a file id names; null for the id of an upload. */
export function batchOfFile(id: string): { readonly id: string; readonly part: ResultPart } | null {
  const [, batch, part] = /^file-(batch_[0-9a-f]+)-(output|errors)$/.exec(id) ?? [];
  return batch === undefined ? null : { id: batch, part: part as ResultPart };
}

/** Tells whether a batch has such a file. */
export function hasResults(
  { counts, endedAtMs }: Pick<StoredBatch, "counts" | "endedAtMs">,
  part: ResultPart,
): boolean {
  return endedAtMs !== null && (part === "output" ? counts.succeeded : failedLines(counts)) > 0;
}

export function writeBatch(batch: StoredBatch) {
  const { id, content, status, counts, createdAtMs, expiresAtMs, cancelledAtMs, endedAtMs } = batch;
  const ended = seconds(endedAtMs);
  const at = (name: StoredBatch["status"]): number | null => (status === name ? ended : null);
  const files = resultFilesOf(batch);
  const failed = failedLines(counts);
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
  return {
    id,
    object: "batch",
    endpoint: content.endpoint,
    errors: content.errors.length === 0 ? null : { object: "list", data: content.errors },
    input_file_id: content.inputFileId ?? "",
    completion_window: "24h",
    status,
    output_file_id: hasResults(batch, "output") ? files.output : null,
    error_file_id: hasResults(batch, "errors") ? files.errors : null,
    created_at: seconds(createdAtMs),
    in_progress_at: status === "failed" ? null : seconds(createdAtMs),
    expires_at: seconds(expiresAtMs),
    finalizing_at: null,
    completed_at: at("completed"),
    failed_at: at("failed"),
    expired_at: at("expired"),
    cancelling_at: seconds(cancelledAtMs),
    cancelled_at: at("cancelled"),
    request_counts: { total, completed: counts.succeeded, failed },
    metadata: content.metadata,
    service: {
      cost_usd: usdNumber(batch.cost),
      max_cost_usd: batch.maxCost === null ? null : usdNumber(batch.maxCost),
    },
  };
}

function failedLines(counts: StoredBatch["counts"]): number {
  return counts.errored + counts.expired + counts.stopped;
}

/** `found` has one more than the page where there are more. */
export function writeBatchList(
  found: readonly StoredBatch[],
  limit: number,
  write: (batch: StoredBatch) => { readonly id: string },
) {
  const data = found.slice(0, limit).map(write);
  const [first, last] = [data[0]?.id ?? null, data.at(-1)?.id ?? null];
  return { object: "list", data, first_id: first, last_id: last, has_more: found.length > limit };
}

const ENDS: Readonly<Partial<Record<LineState, { readonly code: string; readonly message: string }>>> = {
  expired: { code: "batch_expired", message: "This request was not begun within 24 hours. It was not charged." },
  stopped: {
    code: "max_cost_reached",
    message: "The batch had reached its service_max_cost_usd. This request was not charged.",
  },
};

/** A line of the file of results, or of that of errors; null where it is in the other one. */
export function writeResultLine(line: EndedLine, part: ResultPart, { id }: Pick<StoredBatch, "id">): string | null {
  const { state, customId, position, result } = line;
  const isOutput = state === "succeeded";
  const end = ENDS[state] ?? null;
  if (isOutput !== (part === "output") || (!isOutput && state !== "errored" && end === null)) return null;
  const response =
    result === null ? null : { status_code: result.status, request_id: result.requestId, body: result.body };
  const error =
    end ?? (result === null ? { code: "result_lost", message: "The result cannot be read any more." } : null);
  return `${JSON.stringify({ id: `batch_req_${id}_${position}`, custom_id: customId, response, error })}\n`;
}

export function writeMessageBatch(batch: StoredBatch, resultsUrl: string) {
  const { id, counts, createdAtMs, expiresAtMs, endedAtMs, cancelledAtMs } = batch;
  const open = endedAtMs === null ? counts : { ...counts, new: 0 };
  return {
    id,
    type: "message_batch",
    processing_status: endedAtMs !== null ? "ended" : cancelledAtMs === null ? "in_progress" : "canceling",
    request_counts: {
      processing: open.new + counts.waiting + counts.running,
      succeeded: counts.succeeded,
      errored: counts.errored + counts.stopped,
      canceled: counts.cancelled,
      expired: counts.expired,
    },
    created_at: iso(createdAtMs),
    expires_at: iso(expiresAtMs),
    ended_at: iso(endedAtMs),
    archived_at: null,
    cancel_initiated_at: iso(cancelledAtMs),
    results_url: endedAtMs === null ? null : resultsUrl,
    service: {
      cost_usd: usdNumber(batch.cost),
      max_cost_usd: batch.maxCost === null ? null : usdNumber(batch.maxCost),
    },
  };
}

export function writeMessageResult({ state, customId, result }: EndedLine): string {
  return `${JSON.stringify({ custom_id: customId, result: messageResult(state, result) })}\n`;
}

function messageResult(state: LineState, result: EndedLine["result"]) {
  if (state === "expired") return { type: "expired" };
  if (state === "cancelled") return { type: "canceled" };
  if (state === "succeeded" && result !== null) return { type: "succeeded", message: result.body };
  if (state === "errored" && result !== null) return { type: "errored", error: result.body };
  const message = ENDS[state]?.message ?? "The result cannot be read any more.";
  return { type: "errored", error: { type: "error", error: { type: "api_error", message }, request_id: null } };
}
