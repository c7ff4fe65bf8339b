// Batches of hosts, as the format of the host has them. Only whole answers are read: what a host refused or did not finish
// is run again, and then has its own error.

import type { JsonObject } from "./json/fields.ts";
import type { Upload } from "./media/upload.ts";

/** A request of a batch, as it would be sent alone. */
export interface NativeRequest {
  readonly key: string;
  readonly body: string;
}

interface SentBatch {
  readonly path: string;
  readonly body: JsonObject | string;
}

interface NativeState {
  readonly isOver: boolean;
  /** Paths of the answers, a line of JSON each. */
  readonly resultPaths: readonly string[];
}

export interface NativeBatches {
  /** Headers of every call. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Most requests, and most bytes of them, in one batch. */
  readonly requestsMax: number;
  readonly bytesMax: number;
  /** A form that is sent before the batch, and whose id the batch names. Absent where the batch has its requests inside. */
  readonly upload?: (
    path: string,
    requests: readonly NativeRequest[],
  ) => { readonly path: string; readonly form: Upload };
  /** `path` is that of all requests. */
  create(
    path: string,
    input: { readonly requests: readonly NativeRequest[]; readonly fileId: string | null },
  ): SentBatch;
  show(id: string): string;
  cancel(id: string): string;
  readState(body: JsonObject): NativeState;
  /** The answer of one line; null where it is none that counts. */
  readResult(line: JsonObject): { readonly key: string; readonly body: string } | null;
}
