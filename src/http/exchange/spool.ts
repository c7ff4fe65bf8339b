// The files of one upload: a short one stays in memory, a long one lies in a file without a name, which the system removes
// when it is closed, whatever becomes of this process.

import { randomUUID } from "node:crypto";
import { type FileHandle, open, unlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** So much of an upload stays in memory. */
export const MEMORY_BYTES = 256 * 1024;
const READ_BYTES = 64 * 1024;

export class Spool {
  #pieces: Buffer[] = [];
  #length = 0;
  #file: FileHandle | null = null;
  #isClosed = false;

  get length(): number {
    return this.#length;
  }

  async write(piece: Buffer): Promise<void> {
    if (this.#file === null && this.#length + piece.length <= MEMORY_BYTES) {
      // A piece may be a part of a larger buffer.
      this.#pieces.push(Buffer.from(piece));
      this.#length += piece.length;
      return;
    }
    this.#file ??= await this.#spill();
    await writeAll(this.#file, piece, this.#length);
    this.#length += piece.length;
  }

  async *read(start: number, end: number): AsyncGenerator<Buffer> {
    if (this.#file === null) {
      yield Buffer.concat(this.#pieces).subarray(start, end);
      return;
    }
    for (let at = start; at < end; ) {
      const buffer = Buffer.allocUnsafe(Math.min(READ_BYTES, end - at));
      const { bytesRead } = await this.#file.read(buffer, 0, buffer.length, at);
      if (bytesRead === 0) throw new Error("an uploaded file is shorter than it was");
      at += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  }

  close(): void {
    this.#isClosed = true;
    this.#pieces = [];
    void this.#file?.close().catch(() => undefined);
  }

  async #spill(): Promise<FileHandle> {
    const path = join(tmpdir(), `switchyard-upload-${randomUUID()}`);
    const file = await open(path, "wx+", 0o600);
    try {
      await unlink(path);
      await writeAll(file, Buffer.concat(this.#pieces), 0);
      if (this.#isClosed) throw new Error("the upload was dropped");
    } catch (error) {
      await file.close();
      throw error;
    }
    this.#pieces = [];
    return file;
  }
}

/** Bytes of all uploads that are kept at this moment. One key may use half of the room, so that it is never full for all. */
export class UploadRoom {
  readonly #usedBy = new Map<string, number>();
  #used = 0;

  /** Returns false, and takes nothing, where that would be more than the room. */
  tryTake(owner: string, bytes: number, room: number): boolean {
    const own = (this.#usedBy.get(owner) ?? 0) + bytes;
    if (this.#used + bytes > room || own > room / 2) return false;
    this.#usedBy.set(owner, own);
    this.#used += bytes;
    return true;
  }

  release(owner: string, bytes: number): void {
    const own = (this.#usedBy.get(owner) ?? 0) - bytes;
    if (own > 0) this.#usedBy.set(owner, own);
    else this.#usedBy.delete(owner);
    this.#used -= bytes;
  }
}

async function writeAll(file: FileHandle, bytes: Buffer, position: number): Promise<void> {
  for (let at = 0; at < bytes.length; ) {
    const { bytesWritten } = await file.write(bytes, at, bytes.length - at, position + at);
    at += bytesWritten;
  }
}
