// The wire formats the gateway speaks: one row each.

import type { FormatName } from "../core/model.ts";
import { anthropicMessages } from "./anthropic/codec.ts";
import { converse } from "./converse/provider.ts";
import { embeddings, moderations, rerank } from "./endpoints/codec.ts";
import type { CallFormat, Format, ProviderFormat } from "./format.ts";
import { gemini } from "./gemini/codec.ts";
import { geminiBatchEmbedding, geminiEmbedding } from "./gemini/embeddings.ts";
import { imageEdits, images, speech, transcriptions, translations } from "./media/codec.ts";
import { openaiChat } from "./openai-chat/codec.ts";
import { openaiCompletions } from "./openai-completions/codec.ts";
import { openaiResponses } from "./openai-responses/codec.ts";
import { STORED_FORM } from "./openai-responses/stored/form.ts";
import type { StoredForm } from "./stored-form.ts";

/** Spoken where a request does not tell its own, and by the gateway itself. */
export const USUAL: Format = openaiChat;
const FORMATS: readonly Format[] = [USUAL, openaiResponses, anthropicMessages, gemini];
/** Spoken by providers alone. */
const PROVIDER_FORMATS: readonly ProviderFormat[] = [converse];
/** Spoken by clients alone: no provider is called with one of these, or they are not chat. */
const CLIENT_FORMATS: readonly CallFormat[] = [
  ...[openaiCompletions, embeddings, rerank, moderations],
  ...[geminiEmbedding, geminiBatchEmbedding],
  ...[images, imageEdits, speech, transcriptions, translations],
];

/** The registered formats by name. */
export interface Formats {
  readonly clients: readonly CallFormat[];
  /** Spoken on paths that belong to no format. */
  readonly usual: Format;
  /** The form in which responses are stored. */
  readonly stored: StoredForm;
  /** Asking for a format that is not registered is a fault of ours. */
  forProviders(name: FormatName): ProviderFormat;
  forClients(name: FormatName): CallFormat;
}

/** `additional`: formats beside those that ship. */
export function createFormats(additional: readonly Format[] = []): Formats {
  const all = [...FORMATS, ...additional];
  const clients = [...all, ...CLIENT_FORMATS];
  return {
    clients,
    usual: USUAL,
    stored: STORED_FORM,
    forProviders: finder<ProviderFormat>([...all, ...PROVIDER_FORMATS]),
    forClients: finder<CallFormat>(clients),
  };
}

function finder<T extends { readonly name: FormatName }>(formats: readonly T[]): (name: FormatName) => T {
  const byName = new Map(formats.map((format) => [format.name, format]));
  return (name) => {
    const format = byName.get(name);
    if (format === undefined) throw new Error(`there is no wire format ${name}`);
    return format;
  };
}
