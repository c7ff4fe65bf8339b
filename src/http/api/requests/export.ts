// GET /api/requests/export: every line of the log that the filter lets through, as fast as the client reads it.

import { Readable } from "node:stream";
import type { FastifyInstance } from "fastify";
import type { RequestFilter, RequestLog, RequestSummary } from "../../../core/requests/log.ts";
import type { Edge } from "../../context.ts";
import { csvCell } from "../csv.ts";
import { filterOf, oneOf } from "./filter.ts";
import { accountOf, queryOf } from "./one.ts";
import { writeSummary } from "./shape.ts";

const PAGE_ROWS = 500;
const FORMATS = ["ndjson", "csv"] as const;
type ExportFormat = (typeof FORMATS)[number];

const TYPES: Readonly<Record<ExportFormat, string>> = {
  ndjson: "application/x-ndjson; charset=utf-8",
  csv: "text/csv; charset=utf-8; header=present",
};

export function registerExport(api: FastifyInstance, edge: Edge): void {
  api.get("/api/requests/export", async (request, reply) => {
    const format = oneOf("format", queryOf(request, "format") ?? "ndjson", FORMATS);
    const filter = { ...filterOf(request), accountId: await accountOf(request, edge) };
    await edge.records.recorder.flush();
    // One page at a time: the next is read when the client has taken this one.
    const pages = Readable.from(exportPages(edge.records.requests, filter, format), { highWaterMark: 1 });
    return reply
      .type(TYPES[format])
      .header("content-disposition", `attachment; filename="requests.${format}"`)
      .send(pages);
  });
}

export async function* exportPages(
  log: RequestLog,
  filter: RequestFilter,
  format: ExportFormat,
): AsyncGenerator<string, void, void> {
  const write = format === "csv" ? writeCsvRow : writeJsonLine;
  if (format === "csv") yield `${COLUMNS.map(([name]) => name).join(",")}\r\n`;
  let after: string | null = null;
  do {
    const rows: readonly RequestSummary[] = await log.list(filter, { limit: PAGE_ROWS, after });
    if (rows.length > 0) yield rows.map(write).join("");
    after = rows.length < PAGE_ROWS ? null : (rows.at(-1)?.id ?? null);
  } while (after !== null);
}

function writeJsonLine(row: RequestSummary): string {
  return `${JSON.stringify(writeSummary(row))}\n`;
}

type Line = Record<string, unknown>;

const COLUMNS: readonly (readonly [string, (line: Line) => unknown])[] = [
  ...plain("id", "requestId", "createdAt", "route", "status", "error", "errorCode", "stream", "key", "tier"),
  ...plain("classifiedTier", "category", "profile", "keyProfile", "toolScenario", "model", "provider"),
  ...plain("fallback", "adjusted", "attempts"),
  ...(["input", "cacheRead", "cacheWrite", "output"] as const).map(
    (bucket) => [`${bucket}Tokens`, ({ tokens }: Line) => (tokens as Line | null)?.[bucket]] as const,
  ),
  ...plain("usageEstimated", "chargeUsd", "baselineUsd", "savedUsd", "latencyMs", "firstContentMs", "ending"),
];

function plain(...names: readonly string[]): readonly (readonly [string, (line: Line) => unknown])[] {
  return names.map((name) => [name, (line: Line) => line[name]] as const);
}

function writeCsvRow(row: RequestSummary): string {
  const line = writeSummary(row);
  return `${COLUMNS.map(([, read]) => csvCell(read(line))).join(",")}\r\n`;
}
