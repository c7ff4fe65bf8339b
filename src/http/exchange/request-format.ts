// Which wire format a request speaks, told by its path (and, for the models list, by a header that only Anthropic's
// clients send). Errors are written in the same format.

import type { FastifyRequest } from "fastify";
import { anthropicMessages } from "../../formats/anthropic/codec.ts";
import type { ClientFormat, ClientHeaders } from "../../formats/format.ts";
import { openaiChat } from "../../formats/openai-chat/codec.ts";

const V1 = /^\/+v1(?:[/?]|$)/;
const MESSAGES = /^\/+v1\/+messages(?:[/?]|$)/;
const MODELS = /^\/+v1\/+models(?:[/?]|$)/;

export function isV1(url: string): boolean {
  return V1.test(url);
}

export function formatOf(request: Pick<FastifyRequest, "url" | "headers">): ClientFormat {
  return speaksAnthropic(request) ? anthropicMessages : openaiChat;
}

/** The format of whoever sends these headers to a path that all formats share. */
export function senderFormat(headers: ClientHeaders): ClientFormat {
  return anthropicMessages.habits.isSentBy(headers) ? anthropicMessages : openaiChat;
}

export function speaksAnthropic({ url, headers }: Pick<FastifyRequest, "url" | "headers">): boolean {
  return MESSAGES.test(url) || (MODELS.test(url) && headers["anthropic-version"] !== undefined);
}
