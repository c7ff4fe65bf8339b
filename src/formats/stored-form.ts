// The forms in which formats store answers. A codec whose clients continue a response by its id has one as `stored`, one
// whose clients read completions again as `completions`, and one whose clients keep prompts as `cached`.

import type { Usage } from "../core/chat.ts";
import type { Note } from "../core/requests/notes.ts";
import type { JsonItem } from "../core/responses/stored.ts";
import type { JsonObject } from "./json/fields.ts";

export interface StoredForm {
  /** The items of a request's input, whichever shape a client wrote it in. */
  inputItems(input: unknown): readonly JsonItem[];
  outputItems(response: JsonItem): readonly JsonItem[];
  /** Items as lists show them, each with an id; `stem` makes the ids unique. */
  storedItems(items: readonly JsonItem[], stem: string): readonly JsonItem[];
  /** The id of the stored item that an item stands for; null for every other item. */
  referencedId(item: JsonItem): string | null;
  /** The sealed summary that an item carries; null for every other item. */
  sealedSummary(item: JsonItem): string | null;
  /** An opened summary as a message. */
  summaryMessage(text: string): JsonItem;
  /** Without what is stored for later turns only. */
  visibleResponse(response: JsonItem): JsonItem;
  visibleEvents(text: string): string;
  /** Events whose response says that it was not stored. */
  unstoredEvents(text: string): string;
  /** The response that the last event carries; null where it carries none. */
  lastResponse(text: string): JsonItem | null;
  /** The events that end a stream which just stopped. `sent` is what it had so far. */
  closingEvents(response: JsonItem, sent: string): string;
}

export interface CompletionForm {
  /** The completion that a stream would have been whole. */
  fromStream(text: string, usage: Usage): JsonItem;
  /** A completion as it is read again, with what the request asked for. */
  stored(completion: JsonItem, request: { readonly body: JsonObject; readonly requestId: string }): JsonItem;
  /** The messages of a request, each with an id. */
  messages(body: JsonObject, id: string): readonly JsonItem[];
  /** The same completion, or the end of its stream, with one more note. */
  noted(completion: JsonItem, note: Note): JsonItem;
  notedEvents(text: string, note: Note): string;
}

/** The beginning of a prompt under a name. */
export interface CachedForm {
  /** An id of the gateway. */
  idOf(stem: string): string;
  /** The name by which a request names it. */
  nameOf(id: string): string;
  /** The id of the gateway that a request names; null for none, and for one that a provider has made. */
  namedIn(body: JsonObject): string | null;
  /** The part of a request that is to be kept. Throws for a body that has none. */
  promptIn(body: JsonObject): JsonItem;
  /** The request with what was kept before its own. Throws where both say the same. */
  laidUnder(prompt: JsonItem, body: JsonObject): JsonObject;
}
