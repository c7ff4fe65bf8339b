// GET /api/requests/histogram: how many requests the filters of the log let through, by hour or by day.

import type { FastifyInstance } from "fastify";
import type { Edge } from "../../context.ts";
import { checkRange, DEFAULT_RANGE_MS } from "../usage.ts";
import { narrowingOf, oneOf, timeOf } from "./filter.ts";
import { accountOf, isoTime, queryOf } from "./one.ts";
import { caughtUp } from "./pending-writes.ts";

export function registerHistogram(api: FastifyInstance, edge: Edge): void {
  const { records } = edge;
  api.get("/api/requests/histogram", async (request) => {
    const step = oneOf("by", queryOf(request, "by") ?? "hour", ["hour", "day"] as const);
    const toMs = timeOf(request, "to") ?? edge.now();
    const span = { step, toMs, fromMs: timeOf(request, "from") ?? toMs - DEFAULT_RANGE_MS[step] };
    checkRange(span);
    const filter = { ...narrowingOf(request), accountId: await accountOf(request, edge) };
    await caughtUp(records);
    const { bars, fromMs, toMs: endMs } = await records.requests.histogram(filter, span);
    return {
      data: bars.map(({ startMs, requests, errors }) => ({ start: isoTime(startMs), requests, errors })),
      next: null,
      from: isoTime(fromMs),
      to: isoTime(endMs),
      by: step,
    };
  });
}
