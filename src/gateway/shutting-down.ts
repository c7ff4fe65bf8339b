// What callers are told when the process stops: before their request is taken, or in the middle of it.

import { GatewayError } from "../core/errors.ts";

export function shuttingDown(): GatewayError {
  return new GatewayError("unavailable", "The server is shutting down. Send the request again.", {
    code: "shutting_down",
    retryAfterSeconds: 1,
  });
}
