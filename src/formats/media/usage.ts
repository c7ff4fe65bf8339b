// Counts of images and sound, as their endpoints write them: tokens by modality, or seconds.

import type { Usage } from "../../core/chat.ts";
import type { TokenBuckets } from "../../core/money.ts";
import { isObject, type JsonObject } from "../json/fields.ts";
import { detail } from "../openai-chat/usage.ts";
import { usageParts } from "../provider/usage-parts.ts";

const NO_TOKENS: TokenBuckets = { input: 0, cacheRead: 0, cacheWrite: 0, output: 0 };
const MS_PER_SECOND = 1_000;
/** No recording is longer. */
const SECONDS_MAX = 10_000_000;

/** Returns null where nothing is counted. */
export function readMediaUsage(usage: unknown): Usage | null {
  if (!isObject(usage)) return null;
  const ms = millisecondsIn(usage.seconds);
  const input = detail(usage, "input_tokens");
  const output = detail(usage, "output_tokens");
  if (input + output === 0) return ms === null ? null : withoutTokens({ parts: { minute: ms } });
  const inputs = detailsIn(usage, "input");
  const outputs = detailsIn(usage, "output");
  const { cached_tokens_details: cached } = inputs;
  const cacheRead = Math.min(detail(inputs, "cached_tokens"), input);
  const audioCacheRead = detail(cached, "audio_tokens");
  const imageCacheRead = detail(cached, "image_tokens");
  return {
    buckets: { input: input - cacheRead, cacheRead, cacheWrite: 0, output },
    longCacheWrite: 0,
    reasoning: 0,
    ...usageParts(
      {
        minute: ms ?? 0,
        audioInput: detail(inputs, "audio_tokens") - audioCacheRead,
        imageInput: detail(inputs, "image_tokens") - imageCacheRead,
        audioCacheRead,
        imageCacheRead,
        audioOutput: detail(outputs, "audio_tokens"),
        imageOutput: detail(outputs, "image_tokens"),
      },
      undefined,
    ),
  };
}

/** Usage that has other units than tokens alone. */
export function withoutTokens(counted: Pick<Usage, "parts" | "images">): Usage {
  return { buckets: NO_TOKENS, longCacheWrite: 0, reasoning: 0, ...counted };
}

/** Milliseconds, rounded up; null for what is no length of a recording. Some hosts write the number as a text. */
export function millisecondsIn(seconds: unknown): number | null {
  const value = typeof seconds === "string" && seconds !== "" ? Number(seconds) : seconds;
  const isTime = typeof value === "number" && value > 0 && value <= SECONDS_MAX;
  return isTime ? Math.ceil(value * MS_PER_SECOND) : null;
}

/** The sum of two counts: a stream counts each of its images. */
export function addedUsage(one: Usage | null, other: Usage): Usage {
  if (one === null) return other;
  const { buckets: a } = one;
  const { buckets: b } = other;
  return {
    ...other,
    buckets: {
      input: a.input + b.input,
      cacheRead: a.cacheRead + b.cacheRead,
      cacheWrite: a.cacheWrite + b.cacheWrite,
      output: a.output + b.output,
    },
    parts: summed(one.parts, other.parts),
    images: summed(one.images, other.images),
  };
}

function summed<Counts extends Readonly<Record<string, number>>>(one?: Counts, other?: Counts): Counts {
  const sum: Record<string, number> = { ...one };
  for (const [name, count] of Object.entries(other ?? {})) sum[name] = (sum[name] ?? 0) + count;
  return sum as Counts;
}

/** Vendors write one name in the singular and in the plural. */
function detailsIn(usage: JsonObject, side: "input" | "output"): JsonObject {
  const details = usage[`${side}_tokens_details`] ?? usage[`${side}_token_details`];
  return isObject(details) ? details : {};
}
