// /v1/batches and /v1/messages/batches: create, show, list and cancel batches, and read their results. Those of another
// account do not exist.

import type { FastifyInstance, FastifyRequest } from "fastify";
import type { BatchApi, StoredBatch } from "../../../core/batches/batches.ts";
import { batchHoldId } from "../../../core/batches/holds.ts";
import { GatewayError } from "../../../core/errors.ts";
import { isId, type OwnedId } from "../../../core/responses/stored.ts";
import {
  MESSAGE_PAGE,
  writeBatch,
  writeBatchList,
  writeMessageBatch,
  writeMessageResult,
} from "../../../formats/endpoints/batches.ts";
import { publicOrigin } from "../../exchange/hosts.ts";
import * as TEXT from "../../text.ts";
import { callerOf } from "../key-admission.ts";
import { type IdRequest, type QueryTexts, readWhole, single } from "../responses/paging.ts";
import { batchNotFound, type CreateContext, createFromBody, createFromFile } from "./create.ts";
import { sendLines } from "./files.ts";

const PAGE_MAX: Readonly<Record<BatchApi, number>> = { openai: 100, messages: 1_000, gemini: 100 };
const NO_SLOT = { config: { needsNoSlot: true } };

type BatchesContext = CreateContext;
type BatchPageRequest = FastifyRequest<{ Querystring: QueryTexts }>;

export function registerBatches(server: FastifyInstance, edge: BatchesContext): void {
  registerFileBatches(server, edge);
  registerMessageBatches(server, edge);
}

function createFinders(edge: BatchesContext) {
  const { store } = edge.batches;
  const find =
    (api: BatchApi) =>
    async (request: IdRequest): Promise<StoredBatch> => {
      const name = nameOf(request);
      const batch = await store.find(api, name);
      if (batch === null) throw batchNotFound(name.id);
      return batch;
    };
  const cancel =
    (api: BatchApi) =>
    async (request: IdRequest): Promise<StoredBatch> => {
      await find(api)(request);
      await store.cancel(nameOf(request), edge.now());
      return find(api)(request);
    };
  return { store, find, cancel };
}

function registerFileBatches(server: FastifyInstance, edge: BatchesContext): void {
  const { find, cancel } = createFinders(edge);
  server.post("/v1/batches", async (request, reply) => writeBatch(await createFromFile({ request, reply }, edge)));
  server.get("/v1/batches", NO_SLOT, async (request: BatchPageRequest) => {
    const after = single(request.query, "after");
    return page(request, { api: "openai", after, isNewestFirst: true }, edge, writeBatch);
  });
  server.get("/v1/batches/:id", NO_SLOT, async (request: IdRequest) => writeBatch(await find("openai")(request)));
  server.post("/v1/batches/:id/cancel", NO_SLOT, async (request: IdRequest) => {
    const { status, endedAtMs } = await find("openai")(request);
    if (endedAtMs !== null)
      throw new GatewayError("conflict", TEXT.batchOver(status), { code: "batch_not_cancellable" });
    return writeBatch(await cancel("openai")(request));
  });
}

function registerMessageBatches(server: FastifyInstance, edge: BatchesContext): void {
  const { store, find, cancel } = createFinders(edge);
  const write = (request: FastifyRequest) => (batch: StoredBatch) =>
    writeMessageBatch(batch, `${publicOrigin(request, edge.settings.server)}/v1/messages/batches/${batch.id}/results`);
  server.post("/v1/messages/batches", async (request, reply) =>
    write(request)(await createFromBody({ request, reply }, edge)),
  );
  server.get("/v1/messages/batches", NO_SLOT, async (request: BatchPageRequest) => {
    const [after, before] = [single(request.query, MESSAGE_PAGE.after), single(request.query, MESSAGE_PAGE.before)];
    return page(
      request,
      { api: "messages", after: after ?? before, isNewestFirst: before === null },
      edge,
      write(request),
    );
  });
  server.get("/v1/messages/batches/:id", NO_SLOT, async (request: IdRequest) =>
    write(request)(await find("messages")(request)),
  );
  server.post("/v1/messages/batches/:id/cancel", NO_SLOT, async (request: IdRequest) =>
    write(request)(await cancel("messages")(request)),
  );
  server.delete("/v1/messages/batches/:id", NO_SLOT, async (request: IdRequest) => {
    const { id, endedAtMs } = await find("messages")(request);
    if (endedAtMs === null) throw new GatewayError("badRequest", TEXT.batchRuns, { code: "batch_running" });
    const name = nameOf(request);
    await edge.services().ledger.end([{ holdId: batchHoldId(id), accountId: name.accountId }]);
    await store.remove(name);
    return { id, type: "message_batch_deleted" };
  });
  server.get("/v1/messages/batches/:id/results", NO_SLOT, async (request: IdRequest, reply) => {
    const batch = await find("messages")(request);
    if (batch.endedAtMs === null) throw new GatewayError("badRequest", TEXT.batchRuns, { code: "batch_running" });
    return sendLines(reply, messageResults(batch, edge), edge);
  });
}

async function* messageResults(batch: StoredBatch, { batches }: BatchesContext): AsyncGenerator<string> {
  for await (const line of batches.store.ended(batch)) yield writeMessageResult(line);
}

interface WantedPage {
  readonly api: BatchApi;
  readonly after: string | null;
  readonly isNewestFirst: boolean;
}

async function page(
  request: BatchPageRequest,
  wanted: WantedPage,
  { batches }: BatchesContext,
  write: (batch: StoredBatch) => { readonly id: string },
) {
  const limit = readWhole(request.query, "limit", { min: 1, max: PAGE_MAX[wanted.api] }) ?? 20;
  const { after, isNewestFirst } = wanted;
  if (after !== null && !isId(after)) throw batchNotFound(after);
  const { accountId } = callerOf(request).key;
  const found = await batches.store.list(accountId, { ...wanted, limit: limit + 1 });
  if (found === null) throw batchNotFound(after ?? "");
  const shown = isNewestFirst ? found : [...found.slice(0, limit).reverse(), ...found.slice(limit)];
  return writeBatchList(shown, limit, write);
}

function nameOf(request: IdRequest): OwnedId {
  const { id } = request.params;
  if (!isId(id)) throw batchNotFound(id);
  return { accountId: callerOf(request).key.accountId, id };
}
