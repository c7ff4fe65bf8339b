// The form in which a format stores responses that are continued by their id. A codec of such a
// format has it as `stored`.

import type { JsonItem } from "../core/responses/stored.ts";

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
