// GET /api/requests/feedback: every mark of a wrong tier with what is learnt from it, in the form that `npm run train` reads.

import { Readable } from "node:stream";
import type { FastifyInstance } from "fastify";
import type { MarkedRequest, RequestLog } from "../../../core/requests/log.ts";
import type { Edge } from "../../context.ts";
import { operatorOnly } from "../../exchange/session-guard.ts";
import { isoTime } from "./one.ts";

const PAGE_ROWS = 500;

export function registerFeedbackExport(api: FastifyInstance, { records }: Edge): void {
  // The weights are one for all accounts, so are the marks they learn from.
  api.get("/api/requests/feedback", { onRequest: operatorOnly }, (_request, reply) =>
    reply
      .type("application/x-ndjson; charset=utf-8")
      .header("content-disposition", 'attachment; filename="feedback.ndjson"')
      .send(Readable.from(markPages(records.requests), { highWaterMark: 1 })),
  );
}

async function* markPages(log: RequestLog): AsyncGenerator<string, void, void> {
  let after: string | null = null;
  do {
    const marks: readonly MarkedRequest[] = await log.marks({ limit: PAGE_ROWS, after });
    if (marks.length > 0) yield marks.map(writeMark).join("");
    after = marks.length < PAGE_ROWS ? null : (marks.at(-1)?.id ?? null);
  } while (after !== null);
}

/** Notes are left out: people quote prompts in them. */
function writeMark({ atMs, ...mark }: MarkedRequest): string {
  return `${JSON.stringify({ ...mark, createdAt: isoTime(atMs) })}\n`;
}
