// Stored chat completions: what a client asked for with `store`, and the port of their store. Content is JSON here; the
// store seals it. Whatever belongs to another account does not exist.

import type { JsonItem, OwnedId } from "./stored.ts";

/** Names and values, as a client gives them to find completions again. */
export type CompletionMetadata = Readonly<Record<string, string>>;

export interface StoredCompletion extends OwnedId {
  /** The model that answered. */
  readonly model: string;
  readonly createdAtMs: number;
  readonly metadata: CompletionMetadata;
  /** The response that the client got, with what it asked for. */
  readonly completion: JsonItem;
}

/** A part of a list. Ids grow with time, so the list is in their order. */
export interface CompletionPage {
  readonly model: string | null;
  /** Only completions that have all of it. */
  readonly metadata: CompletionMetadata;
  readonly after: string | null;
  readonly isNewestFirst: boolean;
  readonly limit: number;
}

export interface CompletionStore {
  /** `messages` are those of the request, each with an id. */
  insert(completion: StoredCompletion, messages: readonly JsonItem[]): Promise<void>;
  find(name: OwnedId): Promise<StoredCompletion | null>;
  /** The messages of the request; null when the completion does not exist. */
  messages(name: OwnedId): Promise<readonly JsonItem[] | null>;
  /** Fewer than asked for where they are long: a client may have stored anything. At least one where there is one. */
  list(
    accountId: string,
    page: CompletionPage,
  ): Promise<{ readonly completions: readonly StoredCompletion[]; readonly hasMore: boolean }>;
  /** Replaces the metadata. Returns null when the completion does not exist. */
  update(name: OwnedId, metadata: CompletionMetadata): Promise<StoredCompletion | null>;
  /** False when it does not exist. */
  remove(name: OwnedId): Promise<boolean>;
}
