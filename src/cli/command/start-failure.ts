// Explanations for a gateway that cannot start.

import { command } from "../../config/package.ts";
import type { Settings } from "../../config/settings.ts";
import { StoreInUse, StoreUnusable } from "../../core/store-errors.ts";
import * as TEXT from "./text.ts";

/** The reason in words, for the mistakes that happen most. */
export function explainStart(error: NodeJS.ErrnoException, { server }: Settings): string {
  if (error.code === "EADDRINUSE") return TEXT.portInUse(server.port);
  if (error.code === "EACCES" && (error.syscall === "listen" || error.syscall === "bind"))
    return TEXT.portForbidden(server.port);
  if (error instanceof StoreInUse) return error.message;
  if (error instanceof StoreUnusable) return error.advice;
  const cause = error.cause instanceof Error ? ` (${error.cause.message})` : "";
  return `${error.message}${cause}. Find the cause: ${command("doctor")}`;
}
