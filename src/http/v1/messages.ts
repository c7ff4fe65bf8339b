// POST /v1/messages, and the free local estimate of its input tokens. SPEC 1.4.

import type { FastifyInstance } from "fastify";
import { anthropicMessages } from "../../formats/anthropic/codec.ts";
import { readCountRequest, writeCount } from "../../formats/anthropic/read-request.ts";
import { estimateInputTokens } from "../../routing/cost.ts";
import type { CallContext } from "../context.ts";
import { parsedBodyOf } from "../exchange/body.ts";
import { answerIn } from "./completion.ts";

export function registerMessages(server: FastifyInstance, edge: CallContext): void {
  server.post("/v1/messages", (request, reply) => answerIn(anthropicMessages, { request, reply }, edge));
  server.post("/v1/messages/count_tokens", async (request) => {
    const { body } = await parsedBodyOf(request);
    return writeCount(estimateInputTokens(readCountRequest(body)));
  });
}
