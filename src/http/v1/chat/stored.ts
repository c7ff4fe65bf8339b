// Stored chat completions: list, read, change metadata, delete, and the messages of their requests.

import type { FastifyInstance, FastifyRequest } from "fastify";
import { GatewayError } from "../../../core/errors.ts";
import type { CompletionMetadata, StoredCompletion } from "../../../core/responses/completions.ts";
import { isId, type JsonItem } from "../../../core/responses/stored.ts";
import { invalid } from "../../../formats/json/fields.ts";
import { writeItemList } from "../../../formats/openai-responses/stored/items.ts";
import type { CallContext } from "../../context.ts";
import { parsedBodyOf } from "../../exchange/body.ts";
import * as TEXT from "../../text.ts";
import { callerOf } from "../key-admission.ts";
import { readMetadata } from "../responses/conversations.ts";
import { type IdRequest, nameOf, pageOf, type QueryTexts, readPage, single } from "../responses/paging.ts";

/** Stored completions are read and deleted even while other requests hold all slots of the key. */
const NO_SLOT = { config: { needsNoSlot: true } };
const PATH = "/v1/chat/completions";

type CompletionsRequest = FastifyRequest<{ Querystring: QueryTexts }>;

export function registerStoredCompletions(server: FastifyInstance, { state }: Pick<CallContext, "state">): void {
  const { completions } = state;

  server.get(PATH, NO_SLOT, async (request: CompletionsRequest) => {
    const { query } = request;
    const { after, isNewestFirst, limit } = readPage({ order: "asc", ...query });
    const page = { model: readModel(query), metadata: readFilter(query), after, isNewestFirst, limit };
    const { completions: found, hasMore } = await completions.list(callerOf(request).key.accountId, page);
    return writeItemList(found.map(shown), { limit, showsEncrypted: true, hasMore });
  });
  server.get(`${PATH}/:id`, NO_SLOT, async (request: IdRequest) => {
    const name = nameOf(request, completionNotFound);
    return shown((await completions.find(name)) ?? missing(name.id));
  });
  server.post(`${PATH}/:id`, NO_SLOT, async (request: IdRequest) => {
    const { body } = await parsedBodyOf(request);
    const name = nameOf(request, completionNotFound);
    return shown((await completions.update(name, readMetadata(body))) ?? missing(name.id));
  });
  server.delete(`${PATH}/:id`, NO_SLOT, async (request: IdRequest) => {
    const name = nameOf(request, completionNotFound);
    if (!(await completions.remove(name))) throw completionNotFound(name.id);
    return { id: name.id, object: "chat.completion.deleted", deleted: true };
  });
  server.get(`${PATH}/:id/messages`, NO_SLOT, async (request: IdRequest) => {
    const page = readPage({ order: "asc", ...request.query });
    const name = nameOf(request, completionNotFound);
    const messages = (await completions.messages(name)) ?? missing(name.id);
    return writeItemList(pageOf(messages, page), { limit: page.limit, showsEncrypted: true });
  });
}

function shown({ completion, metadata }: StoredCompletion): JsonItem {
  return { ...completion, metadata };
}

function missing(id: string): never {
  throw completionNotFound(id);
}

function completionNotFound(id: string): GatewayError {
  return new GatewayError("notFound", TEXT.completionNotFound(id), { code: "completion_not_found" });
}

function readModel(query: QueryTexts): string | null {
  const model = single(query, "model");
  // PostgreSQL fails on some texts.
  if (model !== null && !isId(model)) throw invalid("model", TEXT.unknownFilter("model"));
  return model;
}

/** Clients write `metadata[topic]=birds`. */
function readFilter(query: QueryTexts): CompletionMetadata {
  const pairs = Object.keys(query).flatMap((field) => {
    const name = /^metadata\[(.*)\]$/.exec(field)?.[1];
    return name === undefined ? [] : [[name, single(query, field) ?? ""]];
  });
  return readMetadata({ metadata: Object.fromEntries(pairs) });
}
