// Keeps the response of one call: it is stored after it is complete and before its end is sent. A response that cannot be
// stored goes out all the same and says so.

import { GatewayError } from "../../core/errors.ts";
import type { Addition, JsonItem, ResponseStatus, StoredResponse } from "../../core/responses/stored.ts";
import type { StreamWriter } from "../../formats/format.ts";
import type { StoredForm } from "../../formats/stored-form.ts";
import type { CallState } from "../call.ts";
import * as TEXT from "../text.ts";
import type { StateFields } from "./read-state.ts";
import type { StateServices } from "./services.ts";

export interface KeepTerms {
  readonly accountId: string;
  readonly requestId: string;
  /** The id of the response without its prefix. */
  readonly answerId: string;
  readonly fields: StateFields;
  readonly ownItems: readonly JsonItem[];
  /** True when the client asked for encrypted reasoning. The reasoning is stored either way. */
  readonly showsEncrypted: boolean;
  readonly isStream: boolean;
}

/** Stores the response of a call whose client may be gone. */
export interface BackgroundKeeper extends CallState {
  /** Stores the response in progress. What is kept later waits for it. */
  begin(response: JsonItem): Promise<void>;
  /** Ends a response that did not come to its own end, and returns the events that end its stream. */
  fail(error: unknown, isCancelled: boolean): Promise<string>;
}

export function createKeeper(terms: KeepTerms, services: StateServices): BackgroundKeeper {
  const { fields, answerId, showsEncrypted } = terms;
  const input = services.form.storedItems(terms.ownItems, `${answerId}i`);
  const keepsEvents = fields.isBackground && terms.isStream;
  let begun: { readonly response: JsonItem; readonly stored: Promise<void> } | null = null;
  let events = "";
  let failure: GatewayError | null = null;
  let isOver = false;

  async function keep(response: JsonItem, status: ResponseStatus): Promise<boolean> {
    isOver = true;
    const content = { input, response, events: keepsEvents ? events : null };
    return write(toStored(terms, { status, content }, services), { terms, begun: begun?.stored ?? null }, services);
  }

  const shown = (response: JsonItem): JsonItem => (showsEncrypted ? response : services.form.visibleResponse(response));

  return {
    answerId,
    async keepWhole(bytes) {
      const response = JSON.parse(bytes.toString("utf8")) as JsonItem;
      const isKept = await keep(response, endOf(response));
      const visible = shown(response);
      if (isKept && visible === response) return bytes;
      return Buffer.from(JSON.stringify(isKept ? visible : { ...visible, store: false }));
    },
    watching: (writer) =>
      watched(writer, {
        shows: (text) => {
          if (keepsEvents) events += text;
          return showsEncrypted ? text : services.form.visibleEvents(text);
        },
        failed: (error) => {
          failure = error;
        },
      }),
    async keepClosing(text) {
      events += text;
      const response = services.form.lastResponse(text);
      if (response === null) return text;
      const isKept = await keep(response, endOf(response));
      const said = isKept ? text : services.form.unstoredEvents(text);
      return showsEncrypted ? said : services.form.visibleEvents(said);
    },
    begin(response) {
      const stored = toStored(terms, { status: "in_progress", content: { input, response, events: null } }, services);
      begun = { response, stored: services.responses.insert(stored, null) };
      return begun.stored;
    },
    async fail(error, isCancelled) {
      if (isOver || begun === null) return "";
      const status = isCancelled && failure === null ? "cancelled" : "failed";
      const ended = { ...begun.response, status, error: status === "failed" ? toError(failure ?? error) : null };
      const closing = failure === null ? services.form.closingEvents(ended, events) : "";
      events += closing;
      await keep(ended, status);
      return closing;
    },
  };
}

/** False when it could not be stored; the log says why. */
async function write(
  stored: StoredResponse,
  { terms, begun }: { readonly terms: KeepTerms; readonly begun: Promise<void> | null },
  { form, responses, log }: StateServices,
): Promise<boolean> {
  const { accountId, requestId, fields } = terms;
  try {
    await begun;
    const addition = additionOf(fields, stored, form);
    if (begun === null) await responses.insert(stored, addition);
    else await responses.finish(stored, addition);
    return true;
  } catch (error) {
    log.error(
      { event: "response.store_failed", requestId, accountId, responseId: stored.id, err: error },
      "response could not be stored; it was answered with store: false",
    );
    return false;
  }
}

/** A writer whose text is looked at before the client gets it. */
export function watched(
  writer: StreamWriter,
  { shows, failed }: { readonly shows: (text: string) => string; readonly failed: (error: GatewayError) => void },
): StreamWriter {
  return {
    ping: writer.ping,
    write: (chunks) => shows(writer.write(chunks)),
    // Kept, and shown, by keepClosing.
    end: (service, usage) => writer.end(service, usage),
    fail(error) {
      failed(error);
      return shows(writer.fail(error));
    },
  };
}

function toStored(
  { accountId, answerId, fields }: KeepTerms,
  { status, content }: Pick<StoredResponse, "status" | "content">,
  { now }: Pick<StateServices, "now">,
): StoredResponse {
  return {
    accountId,
    id: responseIdOf(answerId),
    parentId: fields.previousId,
    status,
    isBackground: fields.isBackground,
    createdAtMs: now(),
    content,
  };
}

export function responseIdOf(answerId: string): string {
  return `resp_${answerId}`;
}

function endOf({ status }: JsonItem): ResponseStatus {
  return status === "incomplete" ? "incomplete" : "completed";
}

/** A response that failed or was cancelled adds nothing to its conversation. */
function additionOf(
  { conversationId }: StateFields,
  { status, content }: StoredResponse,
  { outputItems }: StoredForm,
): Addition | null {
  if (conversationId === null || status === "failed" || status === "cancelled") return null;
  return { conversationId, items: [...content.input, ...outputItems(content.response)] };
}

function toError(error: unknown): JsonItem {
  const known = error instanceof GatewayError ? error : new GatewayError("internal", TEXT.internal);
  return { code: known.details.code ?? "server_error", message: known.message };
}
