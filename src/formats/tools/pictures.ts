// Pictures that a tool of a model asks for: the request for one, and what the answer has of it.

import type { ImageAsk, PartialPicture, Picture } from "../../core/search/web-search.ts";
import type { ChatChunk, ClientRequest, PassThrough, WholeResponse } from "../format.ts";
import { isObject, type JsonObject, objectsIn, textOrEmpty } from "../json/fields.ts";
import { sourceOf } from "../json/splice.ts";
import { images } from "../media/codec.ts";

/** The format in which pictures are asked for. */
export const pictureFormat: PassThrough = images;

/** The description of one picture, and who is to make it. */
export interface PictureWish {
  readonly prompt: string;
  readonly ask: Pick<ImageAsk, "options" | "partials">;
  /** Stays out while only the price is asked for. */
  readonly model?: string;
  /** Says that beginnings of the picture can be shown. */
  readonly isShown?: boolean;
}

export function pictureRequest({ prompt, ask, model, isShown = false }: PictureWish): ClientRequest {
  const shown = isShown && ask.partials > 0 ? { stream: true, partial_images: ask.partials } : {};
  const body = { ...ask.options, ...(model === undefined ? {} : { model }), ...shown, prompt };
  return images.readRequest(sourceOf(body), body);
}

/** The picture of a whole answer; null where it has none. */
export function wholePicture({ native }: Pick<WholeResponse, "native">, wish: PictureWish): Picture | null {
  const told: unknown = JSON.parse(native.source.bytes.toString("utf8"));
  if (!isObject(told)) return null;
  const [first] = objectsIn(told.data);
  return pictureIn({ ...told, ...first }, wish);
}

/** Reads a chunk of a stream: a beginning, the picture, or neither. */
export function streamedPicture(
  { native }: ChatChunk,
  wish: PictureWish,
): { readonly partial: PartialPicture | null; readonly picture: Picture | null } {
  const told: unknown = native === undefined || !native.data.startsWith("{") ? null : JSON.parse(native.data);
  if (!isObject(told)) return { partial: null, picture: null };
  if (!textOrEmpty(told.type).endsWith(".partial_image")) return { partial: null, picture: pictureIn(told, wish) };
  const { b64_json: data, partial_image_index: index } = told;
  return { partial: { index: typeof index === "number" ? index : 0, base64: textOrEmpty(data) }, picture: null };
}

const FACTS = ["background", "output_format", "quality", "size"];

/** An address instead of bytes is of no use to the client: it asked for the picture itself. */
function pictureIn(told: JsonObject, { ask, prompt }: PictureWish): Picture | null {
  const base64 = textOrEmpty(told.b64_json);
  if (base64 === "") return null;
  const facts = FACTS.flatMap((name) => {
    const value = told[name] ?? ask.options[name];
    return typeof value === "string" ? [[name, value] as const] : [];
  });
  return { base64, prompt: textOrEmpty(told.revised_prompt) || prompt, facts: Object.fromEntries(facts) };
}
