// The endpoints that call a model, one row per format. A format in the registry and a row here are open to clients.

import type { FastifyInstance, FastifyRequest, RouteHandlerMethod } from "fastify";
import type { RequestTarget } from "../../formats/format.ts";
import { estimateInputTokens } from "../../routing/cost.ts";
import type { CallContext } from "../context.ts";
import { parsedBodyOf } from "../exchange/body.ts";
import type { CompletionRoute } from "../exchange/request-format.ts";
import { answerIn } from "./completion.ts";
import { compact } from "./responses/compact.ts";
import { answerResponse } from "./responses/create.ts";

export const COMPLETION_ROUTES: readonly CompletionRoute[] = [
  { path: "/v1/chat/completions", format: "openai-chat" },
  { path: "/v1/completions", format: "openai-completions" },
  {
    path: "/v1/responses",
    format: "openai-responses",
    isStateful: true,
    compactPath: "/v1/responses/compact",
  },
  { path: "/v1/messages", format: "anthropic", countPath: "/v1/messages/count_tokens" },
  { path: "/v1/embeddings", format: "embeddings" },
  { path: "/v1/rerank", format: "rerank" },
  { path: "/v1/moderations", format: "moderations" },
  {
    path: "/v1beta/models/{model}:generateContent",
    format: "gemini",
    base: "/v1beta",
    countPath: "/v1beta/models/{model}:countTokens",
  },
  { path: "/v1beta/models/{model}:streamGenerateContent", format: "gemini", base: "/v1beta", isStream: true },
];

export function registerCompletions(server: FastifyInstance, edge: CallContext): void {
  for (const route of edge.formats.routes) {
    const { path, format: name, countPath, compactPath } = route;
    const format = edge.formats.named(name);
    const isStream = route.isStream === true;
    post(server, path, (request, reply) => {
      if (route.isStateful === true) return answerResponse(format, { request, reply }, edge);
      return answerIn(format, { request, reply, target: targetOf(request, isStream) }, edge);
    });
    if (compactPath !== undefined)
      post(server, compactPath, (request, reply) => compact(format, { request, reply }, edge));
    const counting = format.endpoint === undefined ? format.counting : undefined;
    if (countPath === undefined || counting === undefined) continue;
    // A local estimate, free of charge.
    post(server, countPath, async (request) => {
      const { body } = await parsedBodyOf(request);
      return counting.writeCount(estimateInputTokens(counting.readRequest(body)));
    });
  }
}

/** The router takes no name before a colon unless it has a pattern. Dots in it may be anything but a slash. */
function post(server: FastifyInstance, path: string, handler: RouteHandlerMethod): void {
  server.post(path.replace("{model}:", ":model(.+)::"), { config: { label: path } }, handler);
}

/** What the path says, where it names the model. */
function targetOf({ params, query }: FastifyRequest, isStream: boolean): RequestTarget | undefined {
  const { model } = params as { readonly model?: string };
  if (model === undefined) return undefined;
  const { alt } = query as { readonly alt?: unknown };
  return { model, isStream, framing: alt === "sse" ? "sse" : "json-array" };
}
