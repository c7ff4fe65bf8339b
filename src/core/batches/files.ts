// Files of clients, and the port of their store. The store seals names and bytes. Whatever belongs to another account does
// not exist.

import type { OwnedId } from "../responses/stored.ts";

export const FILE_PURPOSES = ["batch", "user_data", "assistants", "vision", "evals", "fine-tune"] as const;
export type FilePurpose = (typeof FILE_PURPOSES)[number] | "batch_output";

export interface StoredFile extends OwnedId {
  readonly purpose: FilePurpose;
  readonly name: string;
  /** Stays null where the client named none. */
  readonly mimeType: string | null;
  readonly bytes: number;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
}

/** Room that the files of one account may take up. */
export interface FileRoom {
  readonly bytes: number;
  readonly files: number;
}

/** A part of a list: after which file, in which order, and how many. */
export interface FilePage {
  readonly purpose: string | null;
  readonly after: string | null;
  readonly isNewestFirst: boolean;
  readonly limit: number;
}

export interface FileStore {
  /** Stores a file piece by piece. Where the account has no room for it, or `pieces` fails, nothing is kept. `taken`: another one has its id. */
  create(file: StoredFile, pieces: AsyncIterable<Buffer>, room: FileRoom): Promise<"stored" | "full" | "taken">;
  find(name: OwnedId): Promise<StoredFile | null>;
  /** Returns null when the file to begin after does not exist. */
  list(accountId: string, page: FilePage): Promise<readonly StoredFile[] | null>;
  /** The bytes of a file that exists. Throws where a part is missing or cannot be opened. */
  read(name: OwnedId): AsyncGenerator<Buffer, void, void>;
  /** False when it does not exist. */
  remove(name: OwnedId): Promise<boolean>;
  /** Deletes at most `limit` files that are over at this time, and uploads whose process died. Returns their number. */
  deleteExpired(nowMs: number, limit: number): Promise<number>;
}
