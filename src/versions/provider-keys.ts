// The keys of a provider in the run-time configuration: listed, added and removed one by one.

import { GatewayError } from "../core/errors.ts";
import { isJsonMap, type Json, type JsonMap, type Overlay, type SealedSecret } from "../core/overlay.ts";
import { entryAt, withEntry } from "./document.ts";
import { isSealed, secretId } from "./secrets.ts";

export interface StoredKey {
  readonly id: string;
  readonly lastFour: string;
  readonly weight: number;
  readonly setBy: string;
  readonly setAt: string;
}

/** In their order, those that are switched off included. */
export function storedKeys(document: Overlay, provider: string): readonly StoredKey[] {
  return entriesOf(document, provider).flatMap((entry) => {
    const secret = secretOf(entry);
    if (secret === null) return [];
    const { lastFour, setBy, setAt } = secret;
    const weight = isJsonMap(entry) && typeof entry.weight === "number" ? entry.weight : 1;
    return [{ id: secretId(secret), lastFour, weight, setBy, setAt }];
  });
}

/** The key is text, which is sealed when the document is published. */
export function withKey(document: Overlay, provider: string, key: { key: string; weight: number }): Overlay {
  return withKeys(document, provider, [...entriesOf(document, provider), key]);
}

export function withoutKey(document: Overlay, provider: string, id: string): Overlay {
  const keys = entriesOf(document, provider);
  const others = keys.filter((entry) => {
    const secret = secretOf(entry);
    return secret === null || secretId(secret) !== id;
  });
  if (others.length === keys.length) throw new GatewayError("notFound", `'${provider}' has no key '${id}'.`);
  // A vendor may have another key in the environment, and the checks know that.
  const { kind, baseUrl, headers } = entryAt(document, "providers", provider) as JsonMap;
  const mayNeedKey = baseUrl !== undefined && headers === undefined && kind !== "ollama";
  if (others.length === 0 && mayNeedKey) throw lastKey(provider, id);
  return withKeys(document, provider, others);
}

function lastKey(provider: string, id: string): GatewayError {
  const way = `If its server needs no key, send {"apiKey": null, "apiKeys": null} with PATCH /api/providers/${provider}.`;
  const message = `'${id}' is the only key of '${provider}'. Add another key first, or remove the provider. ${way}`;
  return new GatewayError("conflict", message, { code: "last_key" });
}

function entriesOf(document: Overlay, provider: string): readonly Json[] {
  const entry = entryAt(document, "providers", provider);
  if (!isJsonMap(entry)) throw new GatewayError("notFound", `No provider '${provider}' was added at run time.`);
  const { apiKey, apiKeys } = entry;
  return [...(apiKey === undefined ? [] : [apiKey]), ...(Array.isArray(apiKeys) ? (apiKeys as readonly Json[]) : [])];
}

function secretOf(entry: Json): SealedSecret | null {
  const secret = isJsonMap(entry) && !isSealed(entry) ? entry.key : entry;
  return isSealed(secret) ? secret : null;
}

/** A single key is a list of one. */
function withKeys(document: Overlay, provider: string, apiKeys: readonly Json[]): Overlay {
  const { apiKey: _, apiKeys: __, ...others } = entryAt(document, "providers", provider) as JsonMap;
  return withEntry(document, "providers", provider, { ...others, ...(apiKeys.length === 0 ? {} : { apiKeys }) });
}
