// /api/requests: the request log, one request as a whole, its histogram and exports, and feedback on wrong tiers.

import type { FastifyRequest } from "fastify";
import { Type } from "typebox";
import { baselineNamed } from "../../../catalog/catalog.ts";
import type { Page } from "../../../core/accounts.ts";
import { formatUsd } from "../../../core/money.ts";
import { type MarkedRequest, REQUEST_SORTS, type StoredRequest } from "../../../core/requests/log.ts";
import type { OperatorContext } from "../../context.ts";
import { ownAccountOf, ownMemberOf } from "../../exchange/identity.ts";
import { REQUEST_ID } from "../../exchange/request-head.ts";
import { query, textContent } from "../../openapi/operation.ts";
import {
  AnyText,
  baselineFields,
  Integer,
  listed,
  named,
  optional,
  page,
  strict,
  TierName,
  Time,
} from "../../openapi/schema.ts";
import { caughtUp } from "../../v1/record.ts";
import { accountOf, isoTime, listPage, missing, oneOf, pageOf, paging, queryOf } from "../exchange.ts";
import { fileName, sendFile, textPages } from "../export.ts";
import { type ApiRoute, get, post, sentAs } from "../route.ts";
import { checkRange, DEFAULT_RANGE_MS, filterOf, filters, timeOf } from "./filter.ts";
import { CSV_HEADER, namesOf, RequestLineSchema, writeCsvLine, writeSummary } from "./line.ts";
import { MarkedRequestSchema, RecordedRequestSchema, writeFeedback, writeStored } from "./record.ts";

const NDJSON = "application/x-ndjson";
const FORMATS = ["ndjson", "csv"] as const;
const ORDERS = ["desc", "asc"] as const;
/** NDJSON for programs, CSV for spreadsheets. */
const FILE_TYPES = {
  ndjson: `${NDJSON}; charset=utf-8`,
  csv: "text/csv; charset=utf-8; header=present",
} as const;

/** Sums over requests. A failed request counts with its charge as baseline, because it saved nothing. */
export const TotalsSchema = named("RequestTotals", {
  requests: Integer,
  errors: Integer,
  tokens: Integer,
  chargeUsd: AnyText,
  baselineUsd: AnyText,
  savedUsd: AnyText,
  ...baselineFields,
});

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
    summary: "Recorded requests, newest first unless sorted otherwise",
    access: "readRequests",
    parameters: [
      query("sort", Type.Enum([...REQUEST_SORTS], { default: "time" })),
      query("order", Type.Enum([...ORDERS], { default: "desc" }), "`desc`: the largest or newest first."),
      ...filters,
      ...paging,
    ],
    response: page(RequestLineSchema),
    async handle({ request }, edge) {
      const sort = oneOf("sort", queryOf(request, "sort") ?? "time", REQUEST_SORTS);
      const isAscending = oneOf("order", queryOf(request, "order") ?? "desc", ORDERS) === "asc";
      const wanted = pageOf(request);
      await caughtUp(edge.records);
      const filter = await filterOf(request, edge);
      const names = namesOf(edge, filter.accountId);
      const list = (each: Page) => edge.records.requests.list(filter, { ...each, sort, isAscending });
      return listPage(wanted, list, (line) => writeSummary(line, names));
    },
  }),
  get("getRequestTotals", "/api/requests/totals", {
    summary: "How many requests match, and what they come to",
    access: "readRequests",
    parameters: filters,
    response: TotalsSchema,
    async handle({ request }, edge) {
      await caughtUp(edge.records);
      const { charge, baseline, ...counts } = await edge.records.requests.sums(await filterOf(request, edge));
      return {
        ...counts,
        chargeUsd: formatUsd(charge),
        baselineUsd: formatUsd(baseline),
        savedUsd: formatUsd(baseline - charge),
        ...baselineNamed(edge.services().catalog),
      };
    },
  }),
  get("exportRequests", "/api/requests/export", {
    summary: "All matching requests, streamed",
    access: "readRequests",
    parameters: [query("format", Type.Enum([...FORMATS], { default: "ndjson" })), ...filters],
    response: sentAs(textContent(NDJSON, "text/csv")),
    async handle({ request, reply }, edge) {
      const format = oneOf("format", queryOf(request, "format") ?? "ndjson", FORMATS);
      const { recorder, requests } = edge.records;
      await recorder.flush();
      const filter = await filterOf(request, edge);
      const names = namesOf(edge, filter.accountId);
      const pages = textPages((each) => requests.list(filter, each), {
        idOf: ({ id }) => id,
        write: (row) => (format === "csv" ? writeCsvLine : writeJsonLine)(writeSummary(row, names)),
        ...(format === "csv" ? { opening: CSV_HEADER } : {}),
      });
      const name = `${fileName("requests", { ...filter, nowMs: edge.now() })}.${format}`;
      return sendFile(reply, { name, type: FILE_TYPES[format] }, pages);
    },
  }),
  // The bars above the list, under the same filters.
  get("getRequestHistogram", "/api/requests/histogram", {
    summary: "Number of matching requests by hour or day; hours and days are whole and in UTC",
    access: "readRequests",
    parameters: [query("by", Type.Enum([...STEPS], { default: "hour" })), ...filters],
    response: HistogramSchema,
    async handle({ request }, edge) {
      const step = oneOf("by", queryOf(request, "by") ?? "hour", STEPS);
      const toMs = timeOf(request, "to") ?? edge.now();
      const span = { step, toMs, fromMs: timeOf(request, "from") ?? toMs - DEFAULT_RANGE_MS[step] };
      checkRange(span);
      await caughtUp(edge.records);
      const filter = await filterOf(request, edge);
      const { bars, fromMs, toMs: endMs } = await edge.records.requests.histogram(filter, span);
      const data = bars.map(({ startMs, requests, errors }) => ({ start: isoTime(startMs), requests, errors }));
      return { data, next: null, from: isoTime(fromMs), to: isoTime(endMs), by: step };
    },
  }),
  get("getRequest", "/api/requests/:id", {
    summary: "One request as a whole, by its own id or its X-Request-Id",
    access: "readRequests",
    response: RecordedRequestSchema,
    async handle({ request }, edge) {
      const names = namesOf(edge, await accountOf(request, edge));
      return writeStored(await storedOf(request, edge), names, ownAccountOf(request) === null);
    },
  }),
  // Feedback outlives the request, because the router learns from it later.
  post("markRequest", "/api/requests/:id/feedback", {
    // The request keeps who said what.
    isAudited: false,
    summary: "Report the correct tier of a request; a second report replaces the first",
    access: "manage",
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

/** A request of another account gets the error for one that does not exist. */
async function storedOf(request: FastifyRequest, edge: OperatorContext): Promise<StoredRequest> {
  const { id } = request.params as { id: string };
  const accountId = await accountOf(request, edge);
  if (!REQUEST_ID.test(id)) throw missing("request", id);
  await caughtUp(edge.records);
  const stored = await edge.records.requests.find(accountId, id);
  const own = ownMemberOf(request);
  const isReached = own === null || stored?.summary.memberId === own.id;
  if (stored === null || !isReached) throw missing("request", id);
  return stored;
}

function writeJsonLine(value: object): string {
  return `${JSON.stringify(value)}\n`;
}

/** Feedback as `npm run train` reads it. Notes are left out: people quote prompts in them. */
function writeMark({ atMs, ...mark }: MarkedRequest): string {
  return writeJsonLine({ ...mark, createdAt: isoTime(atMs) });
}
