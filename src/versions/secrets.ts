// Secrets of a document: sealed in what is stored, opened only for calling providers, and shown by an id and their last
// four characters. A secret goes with the address it was set for.

import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { GatewayError } from "../core/errors.ts";
import { isJsonMap, type Json, type JsonMap, type Overlay, type SealedSecret } from "../core/overlay.ts";

/** Port for the `Sealer` of the store, since services do not import each other. */
export interface SecretSealer {
  seal(text: string, about: string): Promise<string>;
  open(sealed: string, about: string): Promise<string>;
}

/** Sent to a provider with the id of a key that cannot be opened: it refuses, instead of the sandbox answering. */
const UNREADABLE = "unreadable-key-";
/** Length from which four characters are shown. Four characters would give away too much of a shorter secret. */
const SHOWN_LENGTH_MIN = 12;

interface SettingTerms {
  readonly previous: Overlay;
  readonly setBy: string;
  readonly nowMs: number;
  /** Seals secrets; null where the secret of the installation cannot be kept. */
  readonly sealer: SecretSealer | null;
}

/** The document with every new secret sealed. One that is shown as it was stays. */
export async function sealDocument(document: Overlay, terms: SettingTerms): Promise<Overlay> {
  const { previous, setBy, nowMs, sealer } = terms;
  const work: { readonly text: string; readonly about: string }[] = [];
  eachSecret(document, (value, provider) => {
    if (typeof value === "string") work.push({ text: value, about: aboutOf(provider) });
    return value;
  });
  if (work.length > 0 && sealer === null) throw unsealable();
  const sealed = await Promise.all(work.map(({ text, about }) => (sealer as SecretSealer).seal(text, about)));
  const setAt = new Date(nowMs).toISOString();
  return eachSecret(document, (value, provider, place) => {
    if (typeof value !== "string") return keptSecret(value, { provider, place }, { document, previous });
    return { sealed: sealed.shift() as string, lastFour: lastFourOf(value), setBy, setAt };
  });
}

/** The document with secrets as text, and the providers whose secrets cannot be opened. */
export async function openDocument(
  document: Overlay,
  sealer: SecretSealer | null,
): Promise<{ readonly document: Overlay; readonly unreadable: readonly string[] }> {
  const work: { readonly value: SealedSecret; readonly provider: string }[] = [];
  eachSecret(document, (value, provider) => {
    if (isSealed(value)) work.push({ value, provider });
    return value;
  });
  const texts = await Promise.all(
    work.map(({ value, provider }) =>
      sealer === null ? null : sealer.open(value.sealed, aboutOf(provider)).catch(() => null),
    ),
  );
  const unreadable = work.filter((_, index) => texts[index] === null).map(({ provider }) => provider);
  const opened = eachSecret(document, (value, _, place) => {
    if (!isSealed(value)) return value;
    // Two of one provider must differ: a key that is listed twice would make the whole version unusable.
    const key = texts.shift() ?? `${UNREADABLE}${secretId(value)}`;
    // Health and log name one of several keys as the dashboard and the commands do.
    return place.startsWith("apiKeys.") ? { key, id: secretId(value) } : key;
  });
  return { document: opened, unreadable: [...new Set(unreadable)] };
}

/** The document as people may see it. */
export function shownDocument(document: Overlay): Overlay {
  return eachSecret(document, (value) => (isSealed(value) ? shownSecret(value) : value));
}

function shownSecret(secret: SealedSecret): JsonMap {
  const { lastFour, setBy, setAt } = secret;
  return { id: secretId(secret), lastFour, setBy, setAt };
}

/**
 * Returns an id made from the sealed text, which differs each time a secret is sealed. The id tells two secrets
 * apart and reveals neither.
 */
export function secretId({ sealed }: SealedSecret): string {
  return createHash("sha256").update(sealed).digest("hex").slice(0, 8);
}

export function isSealed(value: Json | undefined): value is SealedSecret {
  return isJsonMap(value) && typeof value.sealed === "string";
}

/** A sealed text of one provider does not open for another. */
function aboutOf(provider: string): string {
  return `provider ${provider}`;
}

function lastFourOf(text: string): string {
  return text.length < SHOWN_LENGTH_MIN ? "" : text.slice(-4);
}

interface Documents {
  readonly document: Overlay;
  readonly previous: Overlay;
}

interface SecretPlace {
  readonly provider: string;
  readonly place: string;
}

/**
 * Finds the stored secret for a value that came back as it was shown or stored. A person who may change an address must
 * not learn the key this way.
 */
function keptSecret(value: Json, { provider, place }: SecretPlace, { document, previous }: Documents): Json {
  if (!isJsonMap(value)) return value;
  if (value.weight !== undefined)
    throw notKept(provider, 'The weight of a stored key is written beside it: {"key": {"id": …}, "weight": …}.');
  let kept: SealedSecret | undefined;
  eachSecret(previous, (each, owner, at) => {
    if (owner !== provider || !isSealed(each)) return each;
    // Without an id, several may be shown alike, short ones for example. Then it is the one of the same place.
    if (isMeant(each, value) && (kept === undefined || at === place)) kept = each;
    return each;
  });
  if (kept === undefined) throw notKept(provider, `There is no such key of '${provider}'. Write the key itself.`);
  if (targetOf(document, provider) !== targetOf(previous, provider)) {
    throw notKept(
      provider,
      `The address of '${provider}' changes. Write its key and headers again, for the new address.`,
    );
  }
  return kept;
}

/** By its id alone, as it was stored, or as it was shown before secrets had ids. */
function isMeant(secret: SealedSecret, value: JsonMap): boolean {
  if (value.id !== undefined) return value.id === secretId(secret);
  const { lastFour, setBy, setAt } = secret;
  return isDeepStrictEqual(secret, value) || isDeepStrictEqual({ lastFour, setBy, setAt }, value);
}

function targetOf({ providers }: Overlay, id: string): string {
  const provider = isJsonMap(providers) ? providers[id] : undefined;
  return isJsonMap(provider) ? JSON.stringify([provider.baseUrl ?? null, provider.kind ?? null]) : "";
}

function notKept(provider: string, message: string): GatewayError {
  return new GatewayError("unprocessable", message, { code: "key_needed", param: `providers.${provider}` });
}

function unsealable(): GatewayError {
  const message = "Provider keys cannot be stored: the secret of this installation can be neither read nor made.";
  return new GatewayError("unavailable", message, { code: "secret_unavailable", retryAfterSeconds: 60 });
}

/** The place is within the provider. */
type Replace = (value: Json, provider: string, place: string) => Json;

/** Every place of a document that may hold a secret: keys and headers of providers. */
export function eachSecret(document: Overlay, replace: Replace): Overlay {
  const { providers } = document;
  if (!isJsonMap(providers)) return document;
  const replaced = Object.entries(providers).map(([id, provider]) => [
    id,
    isJsonMap(provider) ? inProvider(provider, (value, place) => replace(value, id, place)) : provider,
  ]);
  return { ...document, providers: Object.fromEntries(replaced) as JsonMap };
}

function inProvider(provider: JsonMap, replace: (value: Json, place: string) => Json): JsonMap {
  const fields = Object.entries(provider).map(([name, value]): [string, Json] => {
    if (name === "apiKey") return [name, replace(value, name)];
    if (name === "apiKeys" && Array.isArray(value)) {
      const keys = value as readonly Json[];
      return [name, keys.map((key, index) => inKey(key, (text) => replace(text, `${name}.${index}`)))];
    }
    if (name !== "headers" || !isJsonMap(value)) return [name, value];
    const headers = Object.entries(value).map(([header, text]) => [header, replace(text, `${name}.${header}`)]);
    return [name, Object.fromEntries(headers)];
  });
  return Object.fromEntries(fields);
}

/** One of several keys: the key alone, or with its weight beside it. */
function inKey(entry: Json, replace: (value: Json) => Json): Json {
  if (!isJsonMap(entry) || entry.key === undefined) return replace(entry);
  const key = replace(entry.key);
  return isJsonMap(key) && key.key !== undefined ? { ...entry, ...key } : { ...entry, key };
}
