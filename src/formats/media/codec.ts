// Images and sound, as OpenAI and its likes have them. A request names its model and passes to it with that name
// changed; the answer comes back as it is, whole, as events or as sound.

import type { Usage } from "../../core/chat.ts";
import { readAnswer } from "../endpoints/read-response.ts";
import type { PassThrough } from "../format.ts";
import type { JsonObject } from "../json/fields.ts";
import { openaiChat } from "../openai-chat/codec.ts";
import { unreadable } from "../provider/faults.ts";
import { imageEventUsage, imageUsage, readEditRequest, readImageRequest } from "./images.ts";
import { EDIT_PATHS, IMAGE_PATHS, SPEECH_PATHS, TRANSCRIPTION_PATHS, TRANSLATION_PATHS } from "./paths.ts";
import { readSpeechRequest, soundType, speechAdded, speechTokens, wantsEvents } from "./speech.ts";
import { isEventStream, readBytes, readMediaEvents, type SoundSent, writeMedia } from "./stream.ts";
import {
  readTranscription,
  readTranscriptionRequest,
  transcriptionAdded,
  transcriptionType,
  writeTranscription,
} from "./transcription.ts";
import { readMediaUsage } from "./usage.ts";

const { habits, models, writeError } = openaiChat;
const mayCacheLong = (): boolean => false;
/** Types of an error or a page with a status of success, which a host or a proxy before it sends in place of sound. */
const NO_SOUND = /^(?:text\/|application\/(?:[\w.+-]+[+])?(?:json|xml)\b)/i;

export const images: PassThrough = {
  name: "images",
  endpoint: "images",
  idempotencyScope: "images",
  outputCapField: "n",
  paths: IMAGE_PATHS,
  habits,
  readRequest: readImageRequest,
  mayCacheLong,
  readResponse: (bytes, request) => readAnswer(bytes, "images", ["data"], (source) => imageUsage(source, request)),
  passResponse: ({ native }) => native.source.bytes,
  streaming: {
    // A host that does not stream images answers with all of them.
    reader: (answer, request) =>
      isEventStream(answer) ? readMediaEvents(answer, { request, usageOf: imageEventUsage }) : null,
    writer: writeMedia,
  },
  writeError,
  models,
};

export const imageEdits: PassThrough = {
  ...images,
  name: "image-edits",
  idempotencyScope: "image-edits",
  paths: EDIT_PATHS,
  providerPath: "/images/edits",
  takesUploads: true,
  keepsNone: true,
  readRequest: readEditRequest,
};

export const speech: PassThrough = {
  name: "speech",
  endpoint: "speech",
  idempotencyScope: "speech",
  outputCapField: "input",
  paths: SPEECH_PATHS,
  habits,
  headers: { accept: "*/*" },
  keepsNone: true,
  readRequest: readSpeechRequest,
  mayCacheLong,
  added: speechAdded,
  readResponse: () => unreadable("the answer is no sound"),
  passResponse: ({ native }) => native.source.bytes,
  streaming: {
    reader(answer, request) {
      if (!isEventStream(answer) && NO_SOUND.test(answer.contentType)) return null;
      const tokensOf = (sound: SoundSent): number => speechTokens(request, sound);
      if (!isEventStream(answer)) return readBytes(answer, { request, tokensOf });
      const type = wantsEvents(request) ? undefined : soundType(request);
      const usageOf = ({ usage }: JsonObject): Usage | null => readMediaUsage(usage);
      return readMediaEvents(answer, { request, usageOf, soundType: type, tokensOf });
    },
    writer: writeMedia,
  },
  writeError,
  models,
};

export const transcriptions: PassThrough = {
  name: "transcriptions",
  endpoint: "transcription",
  idempotencyScope: "transcriptions",
  outputCapField: "file",
  paths: TRANSCRIPTION_PATHS,
  habits,
  takesUploads: true,
  keepsNone: true,
  readRequest: readTranscriptionRequest,
  mayCacheLong,
  added: transcriptionAdded,
  wholeType: transcriptionType,
  readResponse: readTranscription,
  passResponse: (response, { request }) => writeTranscription(response, request),
  streaming: {
    // A model that cannot stream answers whole.
    reader: (answer, request) =>
      isEventStream(answer)
        ? readMediaEvents(answer, { request, usageOf: ({ usage }) => readMediaUsage(usage) })
        : null,
    writer: writeMedia,
  },
  writeError,
  models,
};

export const translations: PassThrough = {
  ...transcriptions,
  name: "translations",
  idempotencyScope: "translations",
  paths: TRANSLATION_PATHS,
  providerPath: "/audio/translations",
};
