// Notes of a conversion: what was changed or dropped while a request was rewritten, and what could not be expressed at
// all.

import { GatewayError } from "../../core/errors.ts";
import type { Note, NoteCode } from "../../core/requests/notes.ts";

/** Collects notes and refusals on the way; each is said once. */
export class Conversion {
  readonly #notes = new Map<string, Note>();
  readonly #refusals = new Set<string>();

  /** Says once what was changed or left out, and why. */
  note(code: NoteCode, message: string): void {
    this.#notes.set(message, { code, message });
  }

  /** Says of fields that the model or its provider would refuse them. */
  leaveOut(names: readonly string[]): void {
    for (const name of names) this.note("option_dropped", `dropped '${name}': the model refuses it`);
  }

  /** Remembers something that has no counterpart in the other format and cannot be left out. */
  refuse(text: string): void {
    this.#refusals.add(text);
  }

  get notes(): readonly Note[] {
    return [...this.#notes.values()];
  }

  get refusals(): readonly string[] {
    return [...this.#refusals];
  }
}

/** A request this model's format cannot express; a model of another format may still serve it. */
export function unconvertible(reasons: readonly string[]): GatewayError {
  return new GatewayError("badRequest", `The model cannot be asked this: ${reasons.join("; ")}.`, {
    code: "unconvertible",
  });
}

/**
 * Without one of these the answer would not be what was asked for, so they are never left out. One list for all formats,
 * since hosts of one format take names of another.
 */
export const ESSENTIAL_FIELDS: ReadonlySet<string> = new Set([
  ...["model", "messages", "stream", "n", "tools", "tool_choice", "functions", "function_call", "response_format"],
  ...["system", "output_format", "mcp_servers", "container", "input", "instructions", "prompt"],
]);

/** Said of a model that may refuse to be forced. */
export const TOOL_NOT_FORCED = "left it to the model whether to call a tool: it cannot be forced to";
