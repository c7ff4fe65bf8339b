// Reads what a Responses request says about state: whether to store, what it continues, and whether to run without its client.

import { GatewayError } from "../../core/errors.ts";
import { invalid, isObject, type JsonObject, readBoolean, readString } from "../../formats/json/fields.ts";
import * as TEXT from "../text.ts";

export interface StateFields {
  readonly isStored: boolean;
  readonly isBackground: boolean;
  readonly previousId: string | null;
  readonly conversationId: string | null;
}

/** Responses are stored unless the client says no, as at the vendor of the format. */
export function readState(body: JsonObject): StateFields {
  const isStored = (body.store ?? null) === null || readBoolean(body, "store");
  const isBackground = readBoolean(body, "background");
  const previousId = readString(body, "previous_response_id");
  const conversationId = readConversation(body);
  if (isBackground && !isStored) {
    const details = { code: "background_needs_store", param: "background" };
    throw new GatewayError("badRequest", TEXT.backgroundNeedsStore, details);
  }
  if (previousId !== null && conversationId !== null) {
    throw new GatewayError("badRequest", TEXT.notBoth, {
      code: "mutually_exclusive_parameters",
      param: "conversation",
    });
  }
  return { isStored, isBackground, previousId, conversationId };
}

function readConversation({ conversation }: JsonObject): string | null {
  if ((conversation ?? null) === null) return null;
  const id = isObject(conversation) ? conversation.id : conversation;
  if (typeof id === "string") return id;
  throw invalid("conversation", TEXT.invalidConversation);
}
