// Requests for speech. The answer is sound, which tells no counts. So a model that is paid by tokens is asked for events,
// which do, and the client gets the sound that is in them.

import type { HostedModel } from "../../core/model.ts";
import type { ClientRequest } from "../format.ts";
import { type JsonObject, readChoice, readString } from "../json/fields.ts";
import type { JsonSource } from "../scan/scan.ts";
import { asked, requiredText } from "./request.ts";
import { lengthOf } from "./sound.ts";
import type { SoundSent } from "./stream.ts";

export const STREAM_FORMATS = ["audio", "sse"] as const;
/** Tokens of usual speech, for where its sound says nothing, and of very slow speech. */
const TOKENS_PER_CHARACTER = 1.4;
const TOKENS_PER_CHARACTER_MAX = 6;
const TOKENS_MIN = 200;

export function readSpeechRequest(source: JsonSource, body: JsonObject): ClientRequest {
  const input = requiredText(body, "input");
  const instructions = readString(body, "instructions") ?? "";
  readChoice(body, "stream_format", STREAM_FORMATS);
  readString(body, "response_format");
  const characters = charactersOf(input);
  return asked("speech", {
    source,
    body,
    texts: [input, instructions],
    isStream: true,
    choiceCount: 1,
    maxOutputTokens: TOKENS_MIN + TOKENS_PER_CHARACTER_MAX * characters,
    media: {
      most: { counted: { characters } },
      // All output is sound.
      counted: { parts: { characters, audioOutput: TOKENS_MIN + TOKENS_PER_CHARACTER_MAX * characters } },
      outputTokens: Math.ceil(TOKENS_PER_CHARACTER * characters),
    },
  });
}

/** OpenAI says that a minute of speech costs 1.5 cents, at 12 USD per million tokens. */
const TOKENS_PER_MINUTE = 1_250;
const MS_PER_MINUTE = 60_000;
/** Samples without a head: 24 kHz with 16 bits. */
const PCM_BYTES_PER_MS = 48;
/** Lossless compression halves speech at most. */
const FLAC_BYTES_PER_MS = PCM_BYTES_PER_MS / 2;

/** Counts the tokens of sound as far as it has come. Nobody bills less than what was sent. */
export function speechTokens({ body }: Pick<ClientRequest, "body">, sound: SoundSent): number {
  const form = String(body.response_format ?? "mp3");
  const { length } = sound;
  const ms =
    form === "pcm" ? length / PCM_BYTES_PER_MS : form === "flac" ? length / FLAC_BYTES_PER_MS : lengthOf(sound).likely;
  return Math.ceil((ms * TOKENS_PER_MINUTE) / MS_PER_MINUTE);
}

/** Vendors count characters, not their halves. */
function charactersOf(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

export function wantsEvents({ body }: Pick<ClientRequest, "body">): boolean {
  return body.stream_format === "sse";
}

export function speechAdded(request: ClientRequest, { price }: HostedModel): JsonObject {
  return wantsEvents(request) || (price?.output ?? 0) === 0 ? {} : { stream_format: "sse" };
}

/** The type of the sound that is asked for. */
export function soundType({ body }: Pick<ClientRequest, "body">): string {
  const form = String(body.response_format ?? "mp3");
  return (Object.hasOwn(SOUND_TYPES, form) && SOUND_TYPES[form]) || "application/octet-stream";
}

export const SOUND_TYPES: Readonly<Record<string, string>> = {
  mp3: "audio/mpeg",
  opus: "audio/ogg",
  aac: "audio/aac",
  flac: "audio/flac",
  wav: "audio/wav",
  pcm: "audio/pcm",
};
