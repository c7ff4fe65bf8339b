// /api/requests: the request log, one request as a whole, its histogram and exports, and feedback on wrong tiers.

import type { FastifyRequest } from "fastify";
import { Type } from "typebox";
import type { MarkedRequest, StoredRequest } from "../../../core/requests/log.ts";
import type { OperatorContext } from "../../context.ts";
import { query, textContent } from "../../openapi/operation.ts";
import { Integer, listed, named, optional, page, strict, TierName, Time } from "../../openapi/schema.ts";
import { accountOf, caughtUp, isoTime, listPage, missing, oneOf, pageOf, paging, queryOf } from "../exchange.ts";
import { csvRow, sendFile, textPages } from "../export.ts";
import { type ApiRoute, get, post, sentAs } from "../route.ts";
import { checkRange, DEFAULT_RANGE_MS, filterOf, filters, narrowingOf, timeOf } from "./filter.ts";
import {
  MarkedRequestSchema,
  RecordedRequestSchema,
  RequestLineSchema,
  type WrittenLine,
  writeFeedback,
  writeStored,
  writeSummary,
} from "./record.ts";

const NDJSON = "application/x-ndjson";
const FORMATS = ["ndjson", "csv"] as const;
/** NDJSON for programs, CSV for spreadsheets. */
const FILE_TYPES = {
  ndjson: `${NDJSON}; charset=utf-8`,
  csv: "text/csv; charset=utf-8; header=present",
} as const;

const STEPS = ["hour", "day"] as const;
export const HistogramSchema = named("RequestHistogram", {
  data: Type.Array(Type.Object({ start: Time, requests: Integer, errors: Integer })),
  next: Type.Null(),
  from: Time,
  to: Time,
  by: listed(STEPS),
});

/** A sentence or two; the note is for people. */
const NOTE_MAX = 1000;
const NewFeedbackSchema = strict("NewFeedback", {
  tier: TierName,
  // Several lines are fine here; PostgreSQL cannot store a NUL.
  note: optional(Type.String({ maxLength: NOTE_MAX, pattern: "^[^\\u0000]*$" })),
});

/** The live view is in events.ts. */
export const REQUEST_ROUTES: readonly ApiRoute[] = [
  // Reads wait a moment for pending writes: people look right after they have sent something.
  get("listRequests", "/api/requests", {
    summary: "Recorded requests, newest first",
    parameters: [...filters, ...paging],
    response: page(RequestLineSchema),
    async handle({ request }, edge) {
      const filter = { ...filterOf(request), accountId: await accountOf(request, edge) };
      const wanted = pageOf(request);
      await caughtUp(edge.records);
      return listPage(wanted, (each) => edge.records.requests.list(filter, each), writeSummary);
    },
  }),
  get("exportRequests", "/api/requests/export", {
    summary: "All matching requests, streamed",
    parameters: [query("format", Type.Enum([...FORMATS], { default: "ndjson" })), ...filters],
    response: sentAs(textContent(NDJSON, "text/csv")),
    async handle({ request, reply }, edge) {
      const format = oneOf("format", queryOf(request, "format") ?? "ndjson", FORMATS);
      const filter = { ...filterOf(request), accountId: await accountOf(request, edge) };
      const { recorder, requests } = edge.records;
      await recorder.flush();
      const pages = textPages((each) => requests.list(filter, each), {
        idOf: ({ id }) => id,
        write: (row) => (format === "csv" ? writeCsvLine(writeSummary(row)) : writeJsonLine(writeSummary(row))),
        ...(format === "csv" ? { opening: csvRow(COLUMNS.map(([name]) => name)) } : {}),
      });
      return sendFile(reply, { name: `requests.${format}`, type: FILE_TYPES[format] }, pages);
    },
  }),
  // The bars above the list, under the same filters.
  get("getRequestHistogram", "/api/requests/histogram", {
    summary: "Number of matching requests by hour or day; hours and days are whole and in UTC",
    parameters: [query("by", Type.Enum([...STEPS], { default: "hour" })), ...filters],
    response: HistogramSchema,
    async handle({ request }, edge) {
      const step = oneOf("by", queryOf(request, "by") ?? "hour", STEPS);
      const toMs = timeOf(request, "to") ?? edge.now();
      const span = { step, toMs, fromMs: timeOf(request, "from") ?? toMs - DEFAULT_RANGE_MS[step] };
      checkRange(span);
      const filter = { ...narrowingOf(request), accountId: await accountOf(request, edge) };
      await caughtUp(edge.records);
      const { bars, fromMs, toMs: endMs } = await edge.records.requests.histogram(filter, span);
      const data = bars.map(({ startMs, requests, errors }) => ({ start: isoTime(startMs), requests, errors }));
      return { data, next: null, from: isoTime(fromMs), to: isoTime(endMs), by: step };
    },
  }),
  get("getRequest", "/api/requests/:id", {
    summary: "One request as a whole, by its own id or its X-Request-Id",
    response: RecordedRequestSchema,
    handle: async ({ request }, edge) => writeStored(await storedOf(request, edge)),
  }),
  // Feedback outlives the request, because the router learns from it later.
  post("markRequest", "/api/requests/:id/feedback", {
    summary: "Report the correct tier of a request; a second report replaces the first",
    body: NewFeedbackSchema,
    example: { tier: "COMPLEX", note: "a proof" },
    response: MarkedRequestSchema,
    async handle({ request, body }, edge) {
      const { tier, note = null } = body();
      const { summary } = await storedOf(request, edge);
      const feedback = { tier, note, atMs: edge.now() };
      await edge.records.requests.mark(await accountOf(request, edge), summary.id, feedback);
      return { id: summary.id, requestId: summary.requestId, decidedTier: summary.tier, ...writeFeedback(feedback) };
    },
  }),
  get("exportFeedback", "/api/requests/feedback", {
    summary: "All tier feedback with the numbers the router can learn from, for operators; no text",
    // All accounts share the weights, so the feedback that trains them is that of all accounts.
    access: "operator",
    response: sentAs(textContent(NDJSON)),
    handle({ reply }, { records }) {
      const pages = textPages((each) => records.requests.marks(each), { idOf: ({ id }) => id, write: writeMark });
      return sendFile(reply, { name: "feedback.ndjson", type: FILE_TYPES.ndjson }, pages);
    },
  }),
];

/** A caller chooses X-Request-Id, so more characters are allowed than in our own ids. */
export const REQUEST_ID = /^[\w.=-]{1,200}$/;

/** A request of another account gets the error for one that does not exist. */
async function storedOf(request: FastifyRequest, edge: OperatorContext): Promise<StoredRequest> {
  const { id } = request.params as { id: string };
  const accountId = await accountOf(request, edge);
  if (!REQUEST_ID.test(id)) throw missing("request", id);
  await caughtUp(edge.records);
  const stored = await edge.records.requests.find(accountId, id);
  if (stored === null) throw missing("request", id);
  return stored;
}

function writeJsonLine(value: object): string {
  return `${JSON.stringify(value)}\n`;
}

/** Feedback as `npm run train` reads it. Notes are left out: people quote prompts in them. */
function writeMark({ atMs, ...mark }: MarkedRequest): string {
  return writeJsonLine({ ...mark, createdAt: isoTime(atMs) });
}

/** A column of the CSV file. */
type Column = readonly [name: string, read: (line: WrittenLine) => unknown];

/** The order of the file; new columns go to the end, because spreadsheets count them. */
const COLUMNS: readonly Column[] = [
  ...plain("id", "requestId", "createdAt", "route", "status", "error", "errorCode", "stream", "key", "tier"),
  ...plain("classifiedTier", "category", "profile", "keyProfile", "toolScenario", "model", "provider"),
  ...plain("fallback", "adjusted", "attempts"),
  ...(["input", "cacheRead", "cacheWrite", "output"] as const).map(
    (bucket): Column => [`${bucket}Tokens`, ({ tokens }) => tokens?.[bucket]],
  ),
  ...plain("usageEstimated", "chargeUsd", "baselineUsd", "savedUsd", "latencyMs", "firstContentMs", "ending"),
];

function plain(...names: readonly (keyof WrittenLine)[]): readonly Column[] {
  return names.map((name) => [name, (line) => line[name]]);
}

function writeCsvLine(line: WrittenLine): string {
  return csvRow(COLUMNS.map(([, read]) => read(line)));
}
