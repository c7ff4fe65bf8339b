// Reads what a Responses request says about state: whether to store, what it continues, and whether to run without its client.

import { GatewayError } from "../../core/errors.ts";
import { invalid, isObject, type JsonObject, readBoolean, readString } from "../../formats/json/fields.ts";

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
    throw new GatewayError(
      "badRequest",
      "'background' needs 'store': a response that is not stored cannot be read later.",
      {
        code: "background_needs_store",
        param: "background",
      },
    );
  }
  if (previousId !== null && conversationId !== null) {
    const message = "Send 'previous_response_id' or 'conversation', not both.";
    throw new GatewayError("badRequest", message, { code: "mutually_exclusive_parameters", param: "conversation" });
  }
  return { isStored, isBackground, previousId, conversationId };
}

function readConversation({ conversation }: JsonObject): string | null {
  if ((conversation ?? null) === null) return null;
  const id = isObject(conversation) ? conversation.id : conversation;
  if (typeof id === "string") return id;
  throw invalid("conversation", "'conversation' must be an id, or an object with one.");
}
