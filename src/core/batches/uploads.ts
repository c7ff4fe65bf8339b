// Uploads in parts, which become files, and the port of their store. An upload takes up the room of its file from its
// beginning.

import type { OwnedId } from "../responses/stored.ts";
import type { FileRoom, StoredFile } from "./files.ts";

export type UploadStatus = "pending" | "completing" | "completed" | "cancelled";

export interface StoredUpload extends OwnedId {
  readonly status: UploadStatus;
  /** The file that it becomes, with the bytes that its client has announced. */
  readonly file: StoredFile;
  /** Time for which the file is kept once it is complete. */
  readonly keptMs: number;
  readonly createdAtMs: number;
  /** Time at which an upload that is not complete is deleted. */
  readonly expiresAtMs: number;
}

export interface UploadPart {
  readonly id: string;
  readonly bytes: number;
}

/** `unknown-part` names a part that the upload does not have, or that is named twice. */
export type UploadCompletion =
  | { readonly state: "completed"; readonly file: StoredFile }
  | { readonly state: "other-md5" | "over" }
  | { readonly state: "unknown-part"; readonly id: string }
  | { readonly state: "other-length"; readonly bytes: number };

export interface CompletedParts {
  /** In the order of the file. */
  readonly partIds: readonly string[];
  /** In hexadecimal; null where nobody named it. */
  readonly md5: string | null;
  readonly nowMs: number;
}

export interface PartContent {
  readonly pieces: AsyncIterable<Buffer>;
  readonly bytesMax: number;
  /** Place of its first byte; null for a part whose place is named at the end. */
  readonly offset: number | null;
}

export interface UploadStore {
  begin(upload: StoredUpload, room: FileRoom): Promise<"begun" | "full" | "taken">;
  find(name: OwnedId): Promise<StoredUpload | null>;
  /** In the order of their offsets, or in that in which they came. */
  parts(name: OwnedId): Promise<readonly UploadPart[]>;
  /**
   * Stores a part. `too-much`: with it, the parts would be longer than `bytesMax`. `over`: the upload takes none any more.
   * `not-next`: other bytes than those before its offset are here.
   */
  addPart(name: OwnedId, part: UploadPart, content: PartContent): Promise<"stored" | "too-much" | "over" | "not-next">;
  /** Makes the file. Doing so again gives the same file. */
  complete(name: OwnedId, parts: CompletedParts): Promise<UploadCompletion>;
  /** False where it is over already. */
  cancel(name: OwnedId): Promise<boolean>;
  /** Deletes at most `limit` uploads that are over at this time. Returns their number. */
  deleteExpired(nowMs: number, limit: number): Promise<number>;
}
