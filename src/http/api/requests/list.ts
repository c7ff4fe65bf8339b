// /api/requests: the log, one request as a whole, and marks of wrong tiers.

import type { FastifyInstance, FastifyRequest } from "fastify";
import { Type } from "typebox";
import type { StoredRequest } from "../../../core/requests/log.ts";
import { TIERS } from "../../../core/tiers.ts";
import type { Edge } from "../../context.ts";
import { registerExport } from "./export.ts";
import { registerFeedbackExport } from "./feedback-export.ts";
import { filterOf } from "./filter.ts";
import { registerHistogram } from "./histogram.ts";
import { accountOf, bodyReader, listPage, missing, pageOf } from "./one.ts";
import { caughtUp } from "./pending-writes.ts";
import { writeFeedback, writeStored, writeSummary } from "./shape.ts";

const Mark = Type.Object(
  {
    tier: Type.Enum([...TIERS]),
    note: Type.Optional(Type.Union([Type.String({ maxLength: 1000, pattern: "^[^\\u0000]*$" }), Type.Null()])),
  },
  { additionalProperties: false },
);

export function registerRequests(api: FastifyInstance, edge: Edge): void {
  const { records } = edge;
  const readMark = bodyReader(Mark);
  api.get("/api/requests", async (request) => {
    const filter = { ...filterOf(request), accountId: await accountOf(request, edge) };
    const page = pageOf(request);
    await caughtUp(records);
    return listPage(page, (each) => records.requests.list(filter, each), writeSummary);
  });
  registerExport(api, edge);
  registerFeedbackExport(api, edge);
  registerHistogram(api, edge);
  api.get("/api/requests/:id", async (request) => writeStored(await storedOf(request, edge)));
  api.post("/api/requests/:id/feedback", async (request) => {
    const { tier, note = null } = readMark(request);
    const { summary } = await storedOf(request, edge);
    const feedback = { tier, note, atMs: edge.now() };
    await records.requests.mark(await accountOf(request, edge), summary.id, feedback);
    return { id: summary.id, requestId: summary.requestId, decidedTier: summary.tier, ...writeFeedback(feedback) };
  });
}

const ID = /^[\w.=-]{1,200}$/;

/** Of another account, it is answered like one that is not there. */
async function storedOf(request: FastifyRequest, edge: Edge): Promise<StoredRequest> {
  const { id } = request.params as { id: string };
  const account = await accountOf(request, edge);
  if (!ID.test(id)) throw missing("request", id);
  await caughtUp(edge.records);
  const stored = await edge.records.requests.find(account, id);
  if (stored === null) throw missing("request", id);
  return stored;
}
