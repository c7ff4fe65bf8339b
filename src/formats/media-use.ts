// Words of the contract of a format for other endpoints than chat: what a request uses, and an answer that is streamed.

import type { UsageParts } from "../core/chat.ts";
import type { Reach } from "../core/price.ts";
import type { SseReader } from "./sse/reader.ts";

/** The size of all inputs of one request. */
export interface InputBatch {
  /** An upper bound of what is read, all inputs together: some hosts read one text once for each of the others. */
  readonly bytes: number;
  /** Input that came as token ids, or is a file. */
  readonly tokenIds: number;
}

/** Units that a request for images or sound uses. */
export interface MediaUse {
  /** The most that the hold has to cover. */
  readonly most: Pick<Reach, "images" | "counted">;
  /** Counts of our own, for where the provider tells none. */
  readonly counted: { readonly parts?: UsageParts; readonly images?: Readonly<Record<string, number>> };
  /** An estimate of the output tokens, for the same. */
  readonly outputTokens: number;
}

export interface StreamedAnswer {
  readonly contentType: string;
  readonly events: SseReader;
  /** Tells at its end whether the body broke. */
  readonly body: { readonly failure: object | null };
}
