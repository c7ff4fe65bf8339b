// Paths of images and sound.

import { pathsOf } from "../endpoints/paths-of.ts";

export const IMAGE_PATHS = pathsOf({
  path: "/v1/images/generations",
  operation: "createImage",
  summary: "Images from a prompt, by the model that is named, whole or as a stream with partial images",
  example: { prompt: "YOUR_PROMPT" },
});

export const SPEECH_PATHS = pathsOf({
  path: "/v1/audio/speech",
  operation: "createSpeech",
  summary: "Speech from a text, by the model that is named, as bytes or as events",
  example: { input: "YOUR_TEXT", voice: "alloy" },
});

export const EDIT_PATHS = pathsOf({
  path: "/v1/images/edits",
  operation: "editImage",
  summary: "Images from pictures and a prompt, by the model that is named, whole or as a stream with partial images",
  example: { prompt: "YOUR_PROMPT", images: [{ image_url: "YOUR_URL" }] },
});

export const TRANSCRIPTION_PATHS = pathsOf({
  path: "/v1/audio/transcriptions",
  operation: "createTranscription",
  summary: "The text of a recording, by the model that is named",
  example: { file: "YOUR_FILE" },
});

export const TRANSLATION_PATHS = pathsOf({
  path: "/v1/audio/translations",
  operation: "createTranslation",
  summary: "The text of a recording in English, by the model that is named",
  example: { file: "YOUR_FILE" },
});
