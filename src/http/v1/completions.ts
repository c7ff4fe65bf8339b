// The endpoints that call a model: those of every format in the registry.

import type { FastifyInstance, FastifyRequest, RouteHandlerMethod } from "fastify";
import type { ClientFormat } from "../../formats/format.ts";
import type { JsonObject } from "../../formats/json/fields.ts";
import { withCached } from "../../gateway/state/cached.ts";
import { expand } from "../../gateway/state/expand.ts";
import { readState } from "../../gateway/state/read-state.ts";
import { estimateInputTokens } from "../../routing/cost.ts";
import type { CallContext } from "../context.ts";
import { parsedBodyOf } from "../exchange/body.ts";
import { answerChat } from "./chat/create.ts";
import { answerIn } from "./completion.ts";
import { callerOf } from "./key-admission.ts";
import { compact } from "./responses/compact.ts";
import { answerResponse } from "./responses/create.ts";

export function registerCompletions(server: FastifyInstance, edge: CallContext): void {
  for (const route of edge.formats.routes) {
    const { path, format, counting: count, compactPath } = route;
    const isStream = route.isStream === true;
    const { framing } = route;
    const takesUploads = format.endpoint !== undefined && format.takesUploads === true;
    const uploads = takesUploads ? { uploadLimitBytes: edge.settings.server.uploadLimitBytes } : {};
    post(server, { path, ...uploads }, (request, reply) => {
      if (format.endpoint === undefined && format.stored !== undefined)
        return answerResponse(format, { request, reply }, edge);
      if (format.endpoint === undefined && format.completions !== undefined)
        return answerChat(format, { request, reply }, edge);
      return answerIn(format, { request, reply, isStream, framing }, edge);
    });
    if (compactPath !== undefined)
      post(server, { path: compactPath }, (request, reply) => compact(format, { request, reply }, edge));
    if (count === undefined || format.endpoint !== undefined) continue;
    const { counting } = format;
    if (counting === undefined) continue;
    // A local estimate, free of charge.
    post(server, { path: count.path }, async (request) => {
      const body = await countedBody(format, request, edge);
      return counting.writeCount(estimateInputTokens(counting.readRequest(body)));
    });
  }
}

/** The body with the history that it continues. */
async function countedBody(
  { stored, cached }: Pick<ClientFormat, "stored" | "cached">,
  request: FastifyRequest,
  { state }: Pick<CallContext, "state">,
): Promise<JsonObject> {
  const sent = await parsedBodyOf(request);
  const { accountId } = callerOf(request).key;
  if (stored === undefined) return (await withCached(sent, { form: cached, accountId }, state)).body;
  return (await expand(sent, { accountId, fields: readState(sent.body) }, state)).body;
}

/** The router takes no name before a colon unless it has a pattern, in which dots may be anything but a slash. */
function post(
  server: FastifyInstance,
  { path, ...config }: { readonly path: string; readonly uploadLimitBytes?: number },
  handler: RouteHandlerMethod,
): void {
  const pattern = path.replace("{model}:", ":model(.+)::").replace("{model}/", ":model/");
  server.post(pattern, { config: { label: path, ...config } }, handler);
}
