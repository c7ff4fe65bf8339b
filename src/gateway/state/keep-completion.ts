// Keeps a chat completion that its client wants to read again: it is stored once it is complete, before its end is sent.
// One that cannot be stored goes out all the same, with a note.

import type { CompletionMetadata } from "../../core/responses/completions.ts";
import type { JsonItem } from "../../core/responses/stored.ts";
import type { JsonObject } from "../../formats/json/fields.ts";
import type { CompletionForm } from "../../formats/stored-form.ts";
import type { CallState } from "../call.ts";
import * as TEXT from "../text.ts";
import type { StateServices } from "./services.ts";

export interface CompletionTerms {
  readonly form: CompletionForm;
  readonly accountId: string;
  readonly requestId: string;
  readonly answerId: string;
  readonly metadata: CompletionMetadata;
  readonly body: JsonObject;
}

type KeepServices = Pick<StateServices, "completions" | "log" | "now">;

export function createCompletionKeeper(terms: CompletionTerms, services: KeepServices): CallState {
  const { form, answerId } = terms;
  let sent = "";
  return {
    answerId,
    async keepWhole(bytes) {
      const completion = JSON.parse(bytes.toString("utf8")) as JsonItem;
      if (await keep(completion, terms, services)) return bytes;
      return Buffer.from(JSON.stringify(form.noted(completion, NOT_STORED)));
    },
    watching: (writer) => ({
      ...writer,
      write(chunks) {
        const text = writer.write(chunks);
        sent += text;
        return text;
      },
    }),
    async keepClosing(text, usage) {
      const completion = form.fromStream(sent + text, usage);
      return (await keep(completion, terms, services)) ? text : form.notedEvents(text, NOT_STORED);
    },
  };
}

const NOT_STORED = { code: "not_stored", message: TEXT.notStored } as const;

/** False when it could not be stored; the log says why. */
async function keep(completion: JsonItem, terms: CompletionTerms, services: KeepServices): Promise<boolean> {
  const { form, accountId, requestId, metadata, body } = terms;
  const { completions, log, now } = services;
  const id = String(completion.id);
  try {
    const stored = { accountId, id, model: String(completion.model), createdAtMs: now(), metadata };
    const messages = form.messages(body, id);
    await completions.insert({ ...stored, completion: form.stored(completion, { body, requestId }) }, messages);
    return true;
  } catch (error) {
    log.error(
      { event: "completion.store_failed", requestId, accountId, completionId: id, err: error },
      "chat completion could not be stored; it was answered with a note",
    );
    return false;
  }
}
