// The completion endpoints, one row per format. A format in the registry and a row here are open to clients.

import type { FastifyInstance } from "fastify";
import { estimateInputTokens } from "../../routing/cost.ts";
import type { CallContext } from "../context.ts";
import { parsedBodyOf } from "../exchange/body.ts";
import type { CompletionRoute } from "../exchange/request-format.ts";
import { answerIn } from "./completion.ts";

export const COMPLETION_ROUTES: readonly CompletionRoute[] = [
  { path: "/v1/chat/completions", format: "openai-chat" },
  { path: "/v1/completions", format: "openai-completions" },
  { path: "/v1/messages", format: "anthropic", countPath: "/v1/messages/count_tokens" },
];

export function registerCompletions(server: FastifyInstance, edge: CallContext): void {
  for (const { path, format: name, countPath } of edge.formats.routes) {
    const format = edge.formats.named(name);
    server.post(path, (request, reply) => answerIn(format, { request, reply }, edge));
    const { counting } = format;
    if (countPath === undefined || counting === undefined) continue;
    // A local estimate, free of charge.
    server.post(countPath, async (request) => {
      const { body } = await parsedBodyOf(request);
      return counting.writeCount(estimateInputTokens(counting.readRequest(body)));
    });
  }
}
