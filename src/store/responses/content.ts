// JSON at rest, sealed for its row. A row that cannot be opened counts as missing and is reported to the operator.

import type { OwnedId } from "../../core/responses/stored.ts";
import type { Sealer } from "../secret/seal.ts";

type Table =
  | "responses"
  | "conversations"
  | "conversation_items"
  | "chat_completions"
  | "chat_completion_messages"
  | "cached_prompts"
  | "cached_prompt_contents";

/** Sealed content. `bytes` is its size in the store or, opened, in memory, whichever is larger. */
interface WrittenContent {
  readonly text: string;
  readonly bytes: number;
}

export interface SealedContent {
  write(table: Table, name: OwnedId, value: unknown): Promise<WrittenContent>;
  /** Opens content. Returns null if another secret sealed the content, or somebody changed it. */
  read<T>(table: Table, name: OwnedId, sealed: string): Promise<T | null>;
}

/** A row whose content cannot be opened. */
export interface UnreadableRow extends OwnedId {
  readonly table: Table;
}

export interface ContentEvents {
  readonly onUnreadable: (row: UnreadableRow) => void;
  /** Called with the bytes that an account is about to store. */
  readonly onSealed?: (accountId: string, bytes: number) => void;
}

export function createSealedContent(sealer: Sealer, { onUnreadable, onSealed }: ContentEvents): SealedContent {
  const about = (table: Table, { accountId, id }: OwnedId): string => JSON.stringify([table, accountId, id]);
  return {
    async write(table, name, value) {
      const plain = JSON.stringify(value);
      const text = await sealer.seal(plain, about(table, name));
      const bytes = Math.max(text.length, Buffer.byteLength(plain));
      onSealed?.(name.accountId, bytes);
      return { text, bytes };
    },
    async read(table, name, sealed) {
      try {
        return JSON.parse(await sealer.open(sealed, about(table, name)));
      } catch {
        onUnreadable({ table, accountId: name.accountId, id: name.id });
        return null;
      }
    },
  };
}
