// The Responses format as it is stored.

import type { StoredForm } from "../../stored-form.ts";
import { sealedSummary, summaryMessage } from "./compaction.ts";
import { lastResponse, unstoredEvents, visibleEvents } from "./events.ts";
import { inputItems, outputItems, referencedId, storedItems, visibleResponse } from "./items.ts";
import { closingEvents } from "./replay.ts";

export const STORED_FORM: StoredForm = {
  inputItems,
  outputItems,
  storedItems,
  referencedId,
  sealedSummary,
  summaryMessage,
  visibleResponse,
  visibleEvents,
  unstoredEvents,
  lastResponse,
  closingEvents,
};
