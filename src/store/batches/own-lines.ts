// The lines that this process runs or sends now. A line that is marked as its own without being one of them is given back:
// its end could not be written.

import type { ClaimedLine } from "../../core/batches/batches.ts";
import type { OwnedId } from "../../core/responses/stored.ts";

/** Names a line by its batch and its place. */
export interface LineName {
  readonly batch: OwnedId;
  readonly position: number;
}

export class OwnLines {
  readonly #names = new Set<string>();
  #claims = 0;

  /** During a claim, rows may be marked whose lines are still being read. So nothing counts as given up meanwhile. */
  async claim(take: () => Promise<readonly ClaimedLine[]>): Promise<readonly ClaimedLine[]> {
    this.#claims += 1;
    try {
      const lines = await take();
      for (const line of lines) this.#names.add(textOf(line));
      return lines;
    } finally {
      this.#claims -= 1;
    }
  }

  /** Lets go of lines once their end is written, or cannot be written. */
  async end(lines: readonly LineName[], writing: Promise<unknown>): Promise<void> {
    try {
      await writing;
    } finally {
      for (const line of lines) this.#names.delete(textOf(line));
    }
  }

  isGivenUp(line: LineName): boolean {
    return this.#claims === 0 && !this.#names.has(textOf(line));
  }
}

function textOf({ batch: { accountId, id }, position }: LineName): string {
  return JSON.stringify([accountId, id, position]);
}
