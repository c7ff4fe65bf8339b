// POST /v1/chat/completions.

import type { FastifyInstance } from "fastify";
import { openaiChat } from "../../formats/openai-chat/codec.ts";
import type { CallContext } from "../context.ts";
import { answerIn } from "./completion.ts";

export function registerChat(server: FastifyInstance, edge: CallContext): void {
  server.post("/v1/chat/completions", (request, reply) => answerIn(openaiChat, { request, reply }, edge));
}
