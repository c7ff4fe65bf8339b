// Messages of a realtime session, as far as the gateway reads them. Most of them are sound, of which nothing is parsed.

import type { Usage } from "../../core/chat.ts";
import { isObject, type JsonObject } from "../json/fields.ts";
import { readMediaUsage } from "../media/usage.ts";

/** Events of a provider that say something about money, or about the session. */
export type ServerEvent =
  | { readonly kind: "created"; readonly responseId: string }
  | { readonly kind: "done"; readonly responseId: string; readonly status: string; readonly usage: Usage | null }
  | { readonly kind: "heard"; readonly usage: Usage | null }
  | { readonly kind: "session"; readonly model: string | null; readonly transcriber: string | null }
  | { readonly kind: "error" };

const TRANSCRIBED = "conversation.item.input_audio_transcription.completed";

const READERS: Readonly<Record<string, (event: JsonObject) => ServerEvent>> = {
  "response.created": ({ response }) => ({ kind: "created", responseId: idOf(response) }),
  "response.done": ({ response }) => {
    const { status, usage } = objectOf(response);
    return { kind: "done", responseId: idOf(response), status: String(status), usage: readMediaUsage(usage) };
  },
  [TRANSCRIBED]: ({ usage }) => ({ kind: "heard", usage: readMediaUsage(usage) }),
  "session.created": ({ session }) => sessionOf(objectOf(session)),
  "session.updated": ({ session }) => sessionOf(objectOf(session)),
  error: () => ({ kind: "error" }),
};

const NAMES = Object.keys(READERS).map((name) => `"${name}"`);

/** Returns null for an event that the gateway need not know. */
export function readServerEvent(message: Buffer): ServerEvent | null {
  const event = mentions(message, NAMES) ? parsed(message) : null;
  const type = String(event?.type);
  return event === null || !Object.hasOwn(READERS, type) ? null : (READERS[type]?.(event) ?? null);
}

/** Tells whether a client asks for a response, and in which event. */
export function asksForResponse(message: Buffer): { readonly eventId: string | null } | null {
  const event = mentions(message, ['"response.create"']) ? parsed(message) : null;
  if (event?.type !== "response.create") return null;
  return { eventId: typeof event.event_id === "string" ? event.event_id : null };
}

/** A name may stand in a text as well, which parsing tells. To look for it is a hundred times as fast. */
function mentions(message: Buffer, names: readonly string[]): boolean {
  return names.some((name) => message.includes(name));
}

function parsed(message: Buffer): JsonObject | null {
  try {
    const value: unknown = JSON.parse(message.toString("utf8"));
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

function objectOf(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

function idOf(value: unknown): string {
  return String(objectOf(value).id);
}

/** Older servers name the model of transcriptions elsewhere. */
function sessionOf(session: JsonObject): ServerEvent {
  const { input } = objectOf(session.audio);
  const transcription = objectOf(objectOf(input).transcription ?? session.input_audio_transcription);
  return { kind: "session", model: textOf(session.model), transcriber: textOf(transcription.model) };
}

function textOf(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}
