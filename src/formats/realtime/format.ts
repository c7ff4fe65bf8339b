// Realtime sessions, as OpenAI and its likes have them. Their messages pass as they are; only those are read that say what a
// response used.

import { OUTPUT_TOKENS_MAX } from "../../core/chat.ts";
import { NO_CONTROLS } from "../../core/decision.ts";
import type { ClientRequest, PassThrough } from "../format.ts";
import { sourceOf } from "../json/splice.ts";
import { transcriptions } from "../media/codec.ts";
import { openaiChat } from "../openai-chat/codec.ts";
import { unreadable } from "../provider/faults.ts";

/** The path of sessions, at the gateway and at providers. */
export const REALTIME_PATH = "/v1/realtime";
/** Reservations count text as one token for so many bytes. */
const BYTES_PER_TOKEN = 2;

const { habits, models, writeError, paths } = openaiChat;

/** Nothing of it goes over HTTP: a response of a session is reserved and charged in it like a request. */
export const realtime: PassThrough = {
  name: "realtime",
  endpoint: "realtime",
  idempotencyScope: "realtime",
  outputCapField: "model",
  paths: { ...paths, routes: [] },
  habits,
  keepsNone: true,
  readRequest: () => realtimeRequest({ model: null, inputTokens: 0 }),
  mayCacheLong: () => false,
  readResponse: () => unreadable("the answer is no session"),
  passResponse: ({ native }) => native.source.bytes,
  writeError,
  models,
};

/** Text of what was heard, by a model beside that of the session. */
export const heard: PassThrough = { ...transcriptions, paths: { ...paths, routes: [] } };

interface ResponseBounds {
  readonly model: string | null;
  /** The most that a response can read. */
  readonly inputTokens: number;
  /** The most that it can write; the model's own where left out. */
  readonly outputTokens?: number;
  /** Time of sound, for models that are paid by the minute. */
  readonly milliseconds?: number;
}

/** A response of a session in the shape that every request has. The conversation itself is known to the provider alone. */
export function realtimeRequest(bounds: ResponseBounds): ClientRequest {
  const { model, inputTokens, outputTokens = OUTPUT_TOKENS_MAX, milliseconds = 0 } = bounds;
  const body = { model };
  const source = sourceOf(body);
  const counted = milliseconds === 0 ? {} : { counted: { minute: milliseconds } };
  return {
    format: "realtime",
    source,
    body,
    chat: {
      messages: [],
      tools: [],
      toolChoice: null,
      wantsUsage: false,
      isStream: true,
      choiceCount: 1,
      maxOutputTokens: outputTokens,
    },
    controls: { ...NO_CONTROLS, profile: "direct", model },
    media: { most: counted, counted: {}, outputTokens: 0 },
    batch: { bytes: inputTokens * BYTES_PER_TOKEN, tokenIds: 0 },
  };
}
