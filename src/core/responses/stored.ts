// Stored responses and conversations of the Responses API, and the ports of their stores. Content is JSON here; the store
// seals it. Whatever belongs to another account does not exist.

/** An input or output item, or a whole response, as it goes over the wire. */
export type JsonItem = Readonly<Record<string, unknown>>;

/** Ids that every store can keep and find. */
const ID = /^[\x21-\x7e]{1,256}$/;

/** Tells whether anything can be stored under this id. PostgreSQL fails on some others. */
export function isId(id: unknown): id is string {
  return typeof id === "string" && ID.test(id);
}

/** `in_progress` is for background responses only: others are stored when they are over. */
export type ResponseStatus = "in_progress" | "completed" | "incomplete" | "failed" | "cancelled";

/** The name of a stored thing: ids of two accounts may be equal. */
export interface OwnedId {
  readonly accountId: string;
  readonly id: string;
}

export interface StoredResponse extends OwnedId {
  /** The response it continues; null for the first one. */
  readonly parentId: string | null;
  readonly status: ResponseStatus;
  readonly isBackground: boolean;
  readonly createdAtMs: number;
  readonly content: ResponseContent;
}

/** Part of a response that is stored sealed. */
export interface ResponseContent {
  /** Input of this response alone, without earlier turns. Each item has an id. */
  readonly input: readonly JsonItem[];
  /** Response that the client got, always with encrypted reasoning. */
  readonly response: JsonItem;
  /** The stream as it was sent, for background responses that stream; null for others. */
  readonly events: string | null;
}

/** Items to be added to a conversation, each with an id. */
export interface Addition {
  readonly conversationId: string;
  readonly items: readonly JsonItem[];
}

/** A response as its row shows it, without its content. */
export interface ChainLink extends Pick<StoredResponse, "id" | "parentId" | "status"> {
  readonly bytes: number;
}

/** At most `max` links are read, the newest first. */
interface ChainCheck {
  readonly max: number;
  check(links: readonly ChainLink[]): void;
}

export interface ResponseStore {
  /** Stores a response, and adds its items to a conversation in the same transaction. */
  insert(response: StoredResponse, addition: Addition | null): Promise<void>;
  /** Ends a response in progress. False when it was ended otherwise or deleted meanwhile: then nothing is written. */
  finish(response: StoredResponse, addition: Addition | null): Promise<boolean>;
  find(name: OwnedId): Promise<StoredResponse | null>;
  /**
   * The items of a response and of those before it, response by response, the oldest first. `check` sees the links of the
   * chain before one is opened, and may throw. Null stands for a response that cannot be opened.
   */
  chain(name: OwnedId, check: ChainCheck): AsyncGenerator<readonly JsonItem[] | null, void, void>;
  /** Marks a response in progress as cancelled. */
  cancel(name: OwnedId): Promise<void>;
  /** False when it does not exist. */
  remove(name: OwnedId): Promise<boolean>;
  /** The items with these ids, in stored responses and conversations. Null when they stand in more than so many bytes. */
  items(accountId: string, ids: readonly string[], maxBytes: number): Promise<ReadonlyMap<string, JsonItem> | null>;
}

/** Work on all accounts at once, for the process that keeps the tables small. */
export interface ResponseUpkeepStore {
  /** Returns the given responses of this process that are no longer in progress. */
  stopped(names: readonly OwnedId[]): Promise<readonly OwnedId[]>;
  /** Marks as failed what is in progress in no process that is known. The ledger's upkeep forgets those that died. */
  failAbandoned(): Promise<number>;
  /** Deletes at most `limit` responses and conversations that are older than this, or unused since. */
  deleteBefore(cutoffMs: number, limit: number): Promise<number>;
  /** Deletes the oldest of an account until it has at most so many bytes. */
  trim(accountId: string, maxBytes: number): Promise<number>;
  /** The accounts with more than so many bytes. */
  oversized(maxBytes: number): Promise<readonly string[]>;
}

export interface Conversation extends OwnedId {
  readonly createdAtMs: number;
  readonly metadata: JsonItem;
}

/** A part of a list: after which item, in which order, and how many. */
export interface ItemPage {
  /** Only the item with this id, if it is there. */
  readonly only?: string;
  readonly after: string | null;
  readonly isNewestFirst: boolean;
  readonly limit: number;
}

export interface ConversationStore {
  create(conversation: Conversation, items: readonly JsonItem[]): Promise<void>;
  find(name: OwnedId): Promise<Conversation | null>;
  /** False when it does not exist. */
  update(name: OwnedId, metadata: JsonItem): Promise<boolean>;
  remove(name: OwnedId): Promise<boolean>;
  /** Adds items at the end of a conversation that exists and has no more than so many bytes. */
  append(name: OwnedId, items: readonly JsonItem[], maxBytes: number): Promise<"added" | "missing" | "full">;
  /** Items in their order; null when the conversation, or the item to begin after, does not exist. */
  list(name: OwnedId, page: ItemPage): Promise<readonly JsonItem[] | null>;
  /** False when there is no such item. */
  removeItem(name: OwnedId, itemId: string): Promise<boolean>;
}
