// The endpoints that call a model: those of every format in the registry.

import type { FastifyInstance, RouteHandlerMethod } from "fastify";
import { estimateInputTokens } from "../../routing/cost.ts";
import type { CallContext } from "../context.ts";
import { parsedBodyOf } from "../exchange/body.ts";
import { answerIn } from "./completion.ts";
import { compact } from "./responses/compact.ts";
import { answerResponse } from "./responses/create.ts";

export function registerCompletions(server: FastifyInstance, edge: CallContext): void {
  for (const route of edge.formats.routes) {
    const { path, format, counting: count, compactPath } = route;
    const isStream = route.isStream === true;
    post(server, path, (request, reply) => {
      if (format.endpoint === undefined && format.stored !== undefined)
        return answerResponse(format, { request, reply }, edge);
      return answerIn(format, { request, reply, isStream }, edge);
    });
    if (compactPath !== undefined)
      post(server, compactPath, (request, reply) => compact(format, { request, reply }, edge));
    const counting = format.endpoint === undefined ? format.counting : undefined;
    if (count === undefined || counting === undefined) continue;
    // A local estimate, free of charge.
    post(server, count.path, async (request) => {
      const { body } = await parsedBodyOf(request);
      return counting.writeCount(estimateInputTokens(counting.readRequest(body)));
    });
  }
}

/** The router takes no name before a colon unless it has a pattern. Dots in it may be anything but a slash. */
function post(server: FastifyInstance, path: string, handler: RouteHandlerMethod): void {
  server.post(path.replace("{model}:", ":model(.+)::"), { config: { label: path } }, handler);
}
