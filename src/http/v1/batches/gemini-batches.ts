// Gemini's batches, on the queue of all batches.

import { Readable } from "node:stream";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { StoredBatch } from "../../../core/batches/batches.ts";
import { batchHoldId } from "../../../core/batches/holds.ts";
import { GatewayError } from "../../../core/errors.ts";
import { isId } from "../../../core/responses/stored.ts";
import {
  GEMINI_BATCHES,
  readGeminiBatch,
  readGeminiLine,
  writeGeminiAnswers,
  writeGeminiBatch,
} from "../../../formats/gemini/batches.ts";
import { parsedBodyOf } from "../../exchange/body.ts";
import { cutWhenUnread } from "../../exchange/stream.ts";
import * as TEXT from "../../text.ts";
import { callerOf } from "../key-admission.ts";
import { type IdRequest, nameOf, type QueryTexts, readWhole, single } from "../responses/paging.ts";
import { batchNotFound, type CreateContext, type Creating, createBatch, createFromLines } from "./create.ts";

const PAGE = { usual: 10, most: 100 };
const NO_SLOT = { config: { needsNoSlot: true } };
const NO_FIELDS = {};

type ModelRequest = FastifyRequest<{ Params: { model: string } }>;

export function registerGeminiBatches(server: FastifyInstance, edge: CreateContext): void {
  const { store } = edge.batches;
  const find = async (request: IdRequest): Promise<StoredBatch> => {
    const name = nameOf(request, batchNotFound);
    const batch = await store.find("gemini", name);
    if (batch === null) throw batchNotFound(name.id);
    return batch;
  };

  for (const { method, ofLine } of GEMINI_BATCHES) {
    const createAt = { config: { label: `/v1beta/models/{model}:${method}` } };
    server.post(`/v1beta/models/:model(.+)::${method}`, createAt, async (request: ModelRequest, reply) => {
      const endpoint = `/v1beta/models/${encodeURIComponent(request.params.model)}:${ofLine}`;
      return writeGeminiBatch(await create({ request, reply }, endpoint, edge));
    });
  }

  server.get("/v1beta/batches", NO_SLOT, (request: GeminiPageRequest) => list(request, edge));

  server.get("/v1beta/batches/:id", NO_SLOT, async (request: IdRequest, reply) => {
    // An action of a batch, called with another method than its own: 405, because the path is right.
    if (request.params.id.includes(":")) return reply.callNotFound();
    const batch = await find(request);
    const operation = writeGeminiBatch(batch);
    if (batch.endedAtMs === null || batch.content.inputFileId !== null) return operation;
    cutWhenUnread(reply.raw, edge.settings.server.writeStallMs);
    const pieces = writeGeminiAnswers(operation, store.ended(batch));
    reply.type("application/json; charset=utf-8");
    return reply.send(Readable.from(pieces, { objectMode: false, highWaterMark: 1 }));
  });

  const cancelAt = { config: { label: "/v1beta/batches/{id}:cancel", needsNoSlot: true } };
  server.post("/v1beta/batches/:id(.+)::cancel", cancelAt, async (request: IdRequest) => {
    await store.cancel(await find(request), edge.now());
    return NO_FIELDS;
  });

  server.delete("/v1beta/batches/:id", NO_SLOT, async (request: IdRequest, reply) => {
    if (request.params.id.includes(":")) return reply.callNotFound();
    const batch = await find(request);
    if (batch.endedAtMs === null) throw new GatewayError("badRequest", TEXT.batchRuns, { code: "batch_running" });
    await edge.services().ledger.end([{ holdId: batchHoldId(batch.id), accountId: batch.accountId }]);
    await store.remove(batch);
    return NO_FIELDS;
  });
}

async function create(creating: Creating, endpoint: string, edge: CreateContext): Promise<StoredBatch> {
  const { input, displayName, maxCost } = readGeminiBatch((await parsedBodyOf(creating.request)).body);
  const body = { metadata: { displayName }, service_max_cost_usd: maxCost };
  const wanted = { api: "gemini", endpoint, body } as const;
  return input.fileId === null
    ? createBatch(creating, { ...wanted, inputFileId: null, lines: input.lines }, edge)
    : createFromLines(creating, { ...wanted, inputFileId: input.fileId, read: readGeminiLine }, edge);
}

type GeminiPageRequest = FastifyRequest<{ Querystring: QueryTexts }>;

async function list(request: GeminiPageRequest, { batches }: CreateContext) {
  const limit = readWhole(request.query, "pageSize", { min: 0, max: PAGE.most }) || PAGE.usual;
  const after = single(request.query, "pageToken");
  if (after !== null && !isId(after)) throw batchNotFound(after);
  const { accountId } = callerOf(request).key;
  const page = { api: "gemini", after, isNewestFirst: true, limit: limit + 1 } as const;
  const found = await batches.store.list(accountId, page);
  if (found === null) throw batchNotFound(after ?? "");
  const shown = found.slice(0, limit);
  return {
    operations: shown.map(writeGeminiBatch),
    ...(found.length > limit ? { nextPageToken: shown.at(-1)?.id } : {}),
  };
}
