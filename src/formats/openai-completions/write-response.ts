// Writes a legacy completion for a client, whole or as a stream: the text of each choice, without the reasoning.

import { type ChatMessage, contentText, type Usage } from "../../core/chat.ts";
import type {
  ChatChunk,
  ResponseAdditions,
  ResponseContext,
  ServiceObject,
  StreamOptions,
  StreamWriter,
  WholeResponse,
} from "../format.ts";
import { isObject, type JsonObject, objectsIn, textOrEmpty } from "../json/fields.ts";
import { writeOpenaiError } from "../openai-chat/errors.ts";
import { writeUsage } from "../openai-chat/usage.ts";
import { echoOf } from "./read-request.ts";

type TextChunk = Record<string, unknown>;

export function writeCompletion(
  { completion, usage: counted }: WholeResponse,
  context: ResponseContext,
  { service, usage }: ResponseAdditions,
): Buffer {
  const echo = echoIn(context);
  const choices = objectsIn(completion.choices).map((choice, position) => {
    const { index = position, message, finish_reason: finish } = choice;
    return textChoice(index, echo + textOf(message), finish ?? "stop");
  });
  const used = usage ?? counted;
  const body = { ...head(context), choices, ...(used === null ? {} : { usage: writeUsage(used) }), service };
  return Buffer.from(JSON.stringify(body));
}

/** The finishing chunk is kept back until the usage is known, as in chat-completions. */
export function createCompletionStreamWriter(context: ResponseContext, options: StreamOptions): StreamWriter {
  const echo = echoIn(context);
  const begun = new Set<unknown>();
  let isFirst = true;
  let held: TextChunk | null = null;

  function complete(choices: readonly TextChunk[]): TextChunk {
    const chunk: TextChunk = { ...head(context), choices };
    if (options.wantsUsage) chunk.usage = null;
    if (isFirst) chunk.service = options.service;
    isFirst = false;
    return chunk;
  }

  function release(): string {
    const text = held === null ? "" : writeEvent(held);
    held = null;
    return text;
  }

  /** Writes a choice; null where it says nothing: a role, or a thought. */
  function pieceOf({ index = 0, delta, finish_reason: finish = null }: JsonObject): TextChunk | null {
    const text = (begun.has(index) ? "" : echo) + textOf(delta);
    if (text === "" && finish === null) return null;
    begun.add(index);
    return textChoice(index, text, finish);
  }

  return {
    ping: ": keep-alive\n\n",
    write(chunks: readonly ChatChunk[]) {
      let text = "";
      for (const { json, isFinish } of chunks) {
        const choices = objectsIn(json.choices)
          .map(pieceOf)
          .filter((piece) => piece !== null);
        if (choices.length === 0) continue;
        text += release();
        const chunk = complete(choices);
        if (isFinish) held = chunk;
        else text += writeEvent(chunk);
      }
      return text;
    },
    end(service: ServiceObject, usage: Usage) {
      if (!options.wantsUsage && held !== null) held.service = service;
      const last = { ...head(context), choices: [], usage: writeUsage(usage), service };
      return `${release()}${options.wantsUsage ? writeEvent(last) : ""}data: [DONE]\n\n`;
    },
    fail(error) {
      held = null;
      return writeEvent(writeOpenaiError(error, context.requestId));
    },
  };
}

function head({ requestId, createdAtSeconds, modelId }: ResponseContext): TextChunk {
  return { id: `cmpl-${requestId}`, object: "text_completion", created: createdAtSeconds, model: modelId };
}

function echoIn({ request }: ResponseContext): string {
  return request === undefined ? "" : echoOf(request);
}

/** The two other reasons that the legacy format has; any other is an ordinary end. */
const CUT_FINISHES: ReadonlySet<unknown> = new Set(["length", "content_filter"]);

function textChoice(index: unknown, text: string, finish: unknown): TextChunk {
  const reason = finish === null || CUT_FINISHES.has(finish) ? finish : "stop";
  return { text, index, logprobs: null, finish_reason: reason };
}

/** A refusal is text as well: there is no other place for it. */
function textOf(said: unknown): string {
  if (!isObject(said)) return "";
  const refusal = textOrEmpty(said.refusal);
  return contentText(said.content as ChatMessage["content"]) + refusal;
}

function writeEvent(json: object): string {
  return `data: ${JSON.stringify(json)}\n\n`;
}
