// Holds the response of one call on its connection, for the next turn. Nothing is stored.

import type { JsonItem } from "../../core/responses/stored.ts";
import type { StoredForm } from "../../formats/stored-form.ts";
import type { CallState } from "../call.ts";
import type { Holder } from "./held.ts";
import { watched } from "./keep.ts";

export interface HoldTerms {
  readonly accountId: string;
  readonly answerId: string;
  /** Everything that was said before the response. */
  readonly items: readonly JsonItem[];
  readonly showsEncrypted: boolean;
  readonly holder: Holder;
}

export function createHolding({ showsEncrypted, ...terms }: HoldTerms, form: StoredForm): CallState {
  const { answerId } = terms;
  return {
    answerId,
    isHeld: true,
    async keepWhole(bytes) {
      const response = JSON.parse(bytes.toString("utf8")) as JsonItem;
      hold(response, terms, form);
      return showsEncrypted ? bytes : Buffer.from(JSON.stringify(form.visibleResponse(response)));
    },
    watching: (writer) =>
      watched(writer, {
        shows: (text) => (showsEncrypted ? text : form.visibleEvents(text)),
        failed: () => undefined,
      }),
    async keepClosing(text) {
      const response = form.lastResponse(text);
      if (response !== null) hold(response, terms, form);
      return showsEncrypted ? text : form.visibleEvents(text);
    },
  };
}

/** Holds a response with all that was said before it. */
export function hold(
  response: JsonItem,
  { accountId, answerId, items, holder }: Omit<HoldTerms, "showsEncrypted">,
  form: StoredForm,
): void {
  const said = form.storedItems(items, `${answerId}h`);
  holder.hold({ accountId, id: String(response.id), items: [...said, ...form.outputItems(response)] });
}
