// The chat-completions error body. SPEC 7, CONTRACT 4.

import type { GatewayError } from "../../core/errors.ts";
import type { JsonObject } from "../wire/fields.ts";

export function writeOpenaiError(error: GatewayError, requestId: string): JsonObject {
  return {
    error: {
      message: error.message,
      type: error.type,
      code: error.details.code ?? null,
      param: error.details.param ?? null,
      request_id: requestId,
    },
  };
}
