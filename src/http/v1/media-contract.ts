// The contract of images and sound: what their codecs read, and what is answered.

import { Type } from "typebox";
import { IMAGES_MAX, PARTIAL_IMAGES_MAX } from "../../formats/media/images.ts";
import { SOUND_TYPES, STREAM_FORMATS } from "../../formats/media/speech.ts";
import { eventStream, json, textContent } from "../openapi/operation.ts";
import { AnyObject, AnyText, ErrorSchema, Flag, named, optional } from "../openapi/schema.ts";
import type { CallDetail } from "./contract.ts";

const open = { additionalProperties: true };
const some = Type.String({ minLength: 1 });

const File = Type.Unsafe<string>({ type: "string", format: "binary" });

const ImagesSchema = named("Images", {
  data: Type.Array(AnyObject, { minItems: 1 }),
  usage: optional(AnyObject),
});

const EVENTS = eventStream(Type.Union([Type.Object({ type: AnyText }), ErrorSchema]));

const imageFields = {
  model: AnyText,
  prompt: some,
  n: optional(Type.Integer({ minimum: 1, maximum: IMAGES_MAX })),
  size: optional(AnyText),
  quality: optional(AnyText),
  stream: optional(Flag),
  partial_images: optional(Type.Integer({ minimum: 0, maximum: PARTIAL_IMAGES_MAX })),
};
const ImageRequestSchema = named("ImageRequest", imageFields, open);
const EditRequestSchema = named(
  "EditRequest",
  { ...imageFields, images: Type.Array(AnyObject, { minItems: 1 }) },
  open,
);
const EditFormSchema = named(
  "EditForm",
  { ...imageFields, image: Type.Union([File, Type.Array(File)]), mask: Type.Optional(File) },
  open,
);

const TranscriptionFormSchema = named(
  "TranscriptionForm",
  {
    model: AnyText,
    file: File,
    response_format: optional(AnyText),
    prompt: optional(AnyText),
    stream: optional(Flag),
  },
  open,
);
const TranscriptionSchema = named("Transcription", { text: AnyText, usage: optional(AnyObject) });
const TRANSCRIPTION: CallDetail = {
  request: TranscriptionFormSchema,
  example: {},
  body: { "multipart/form-data": { schema: TranscriptionFormSchema } },
  response: { ...json(TranscriptionSchema), ...textContent("text/plain", "text/vtt"), ...EVENTS },
};

const SpeechRequestSchema = named(
  "SpeechRequest",
  {
    model: AnyText,
    input: some,
    voice: optional(Type.Union([AnyText, AnyObject])),
    instructions: optional(AnyText),
    response_format: optional(AnyText),
    stream_format: optional(Type.Enum([...STREAM_FORMATS])),
  },
  open,
);

const SOUND = Object.fromEntries(
  [...Object.values(SOUND_TYPES), "application/octet-stream"].map((type) => [type, { schema: File }]),
);

const EDIT = {
  model: "gpt-image-2.5-flare",
  prompt: "Add a moon",
  images: [{ image_url: "https://example.com/lighthouse.png" }],
};

export const MEDIA_DETAILS: Readonly<Record<string, CallDetail>> = {
  createImage: {
    request: ImageRequestSchema,
    example: { model: "gpt-image-2.5-flare", prompt: "A lighthouse at dusk" },
    response: { ...json(ImagesSchema), ...EVENTS },
  },
  editImage: {
    request: EditRequestSchema,
    example: EDIT,
    body: { ...json(EditRequestSchema, EDIT), "multipart/form-data": { schema: EditFormSchema } },
    response: { ...json(ImagesSchema), ...EVENTS },
  },
  createTranscription: TRANSCRIPTION,
  createTranslation: TRANSCRIPTION,
  createSpeech: {
    request: SpeechRequestSchema,
    example: { model: "gpt-4o-mini-tts", input: "Good morning", voice: "alloy" },
    response: { ...SOUND, ...EVENTS },
  },
};
