// Requests for images and their answers. A request passes with the model's name changed; of an answer, which is long, only
// the counts are parsed.

import { OUTPUT_TOKENS_MAX, type Usage } from "../../core/chat.ts";
import { readField } from "../endpoints/read-response.ts";
import type { ClientRequest, RequestHead } from "../format.ts";
import { invalid, type JsonObject, readString } from "../json/fields.ts";
import type { JsonSource } from "../scan/scan.ts";
import { asked, readCount, readFlag, requiredText } from "./request.ts";
import { checkFiles } from "./upload.ts";
import { readMediaUsage, withoutTokens } from "./usage.ts";

export const IMAGES_MAX = 10;
export const PARTIAL_IMAGES_MAX = 3;
/** Tokens of a square image, by quality, for where a provider counts none. */
const USUAL_TOKENS = new Map([
  ["low", 300],
  ["medium", 1_100],
]);
const DEAREST_TOKENS = 4_200;

export function readImageRequest(source: JsonSource, body: JsonObject): ClientRequest {
  return askedImages({ source, body }, 0);
}

/** Pictures to edit come as files, or in JSON as addresses. */
export function readEditRequest(source: JsonSource, body: JsonObject, { upload }: RequestHead = {}): ClientRequest {
  if (upload !== undefined) checkFiles(upload, EDIT_FILES);
  const named = Array.isArray(body.images) ? body.images.length : 0;
  const pictures = upload === undefined ? named : upload.files.filter(({ length }) => length > 0).length;
  if (pictures === 0) throw invalid("image", upload === undefined ? NO_PICTURES : NO_FILES);
  return askedImages({ source, body, upload }, pictures);
}

const EDIT_FILES = ["image", "image[]", "mask"];
const NO_FILES = "'image' is missing. Send the picture as the part 'image', with a file name.";
const NO_PICTURES = "'images' is missing or empty. Send a form with a file 'image', or 'images' with addresses.";

type GivenImages = Pick<ClientRequest, "source" | "body" | "upload">;

function askedImages({ source, body, upload }: GivenImages, pictures: number): ClientRequest {
  const prompt = requiredText(body, "prompt");
  const count = readCount(body, "n", { min: 1, max: IMAGES_MAX }) ?? 1;
  readCount(body, "partial_images", { min: 0, max: PARTIAL_IMAGES_MAX });
  readString(body, "size");
  const quality = readString(body, "quality") ?? "";
  const images = { [imageKind({}, body)]: count };
  return asked("images", {
    ...{ source, body, upload },
    texts: [prompt],
    isStream: readFlag(body, "stream"),
    choiceCount: count,
    // The most of one image is known by its model.
    maxOutputTokens: OUTPUT_TOKENS_MAX,
    fileTokens: { likely: pictures * PICTURE_TOKENS, most: pictures * PICTURE_TOKENS_MAX },
    media: {
      most: { images },
      // All output is pictures.
      counted: { images, parts: { imageInput: pictures * PICTURE_TOKENS, imageOutput: OUTPUT_TOKENS_MAX } },
      outputTokens: count * (USUAL_TOKENS.get(quality) ?? DEAREST_TOKENS),
    },
  });
}

/** Tokens of a picture that is sent. */
const PICTURE_TOKENS = 1_000;
const PICTURE_TOKENS_MAX = 8_000;

export function imageUsage(source: JsonSource, { body, chat }: Pick<ClientRequest, "body" | "chat">): Usage {
  const told = { size: readField(source, "size"), quality: readField(source, "quality") };
  const usage = readMediaUsage(readField(source, "usage")) ?? withoutTokens({});
  return { ...usage, images: { [imageKind(told, body)]: Math.min(imagesIn(source.bytes), chat.choiceCount) } };
}

/** One image of a stream. */
export function imageEventUsage(event: JsonObject, { body }: Pick<ClientRequest, "body">): Usage {
  return { ...(readMediaUsage(event.usage) ?? withoutTokens({})), images: { [imageKind(event, body)]: 1 } };
}

/** Size and quality as prices name them: what the answer tells outweighs what was asked for. */
function imageKind(told: JsonObject, body: JsonObject): string {
  return [told.size ?? body.size, told.quality ?? body.quality].map((word) => String(word ?? "auto")).join("/");
}

/** Names of fields stand in no picture, so nothing has to be parsed to count them. */
function imagesIn(bytes: Buffer): number {
  return Math.max(1, timesIn(bytes, '"b64_json"'), timesIn(bytes, '"url"'));
}

function timesIn(bytes: Buffer, name: string): number {
  let times = 0;
  for (let at = bytes.indexOf(name); at >= 0; at = bytes.indexOf(name, at + name.length)) times += 1;
  return times;
}
