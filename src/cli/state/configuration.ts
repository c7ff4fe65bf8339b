// The run-time configuration of `switchyard apply`: what a file would change of it. Keys and headers of providers are
// compared by their last four characters, because a gateway shows no more.

import { isJsonMap, type Json, type JsonMap } from "../../core/overlay.ts";
import { changesBetween } from "../../versions/changes.ts";
import { drafted } from "../../versions/document.ts";
import { eachSecret } from "../../versions/secrets.ts";

interface ConfigurationPlan {
  readonly words: readonly string[];
  /** The whole document to publish; secrets that stay are as the gateway showed them. */
  readonly document: JsonMap;
}

export function configurationPlan(shown: JsonMap, wanted: JsonMap): ConfigurationPlan {
  const draft = drafted(shown, keptSecrets(shown, inOnePlace(shown, wanted)));
  const changes = changesBetween(eachSecret(shown, end), eachSecret(draft, end));
  return { words: changes.map(({ words }) => words), document: draft };
}

/** A provider has one key or a list of them: what the file writes takes the place of the other. */
function inOnePlace(shown: JsonMap, wanted: JsonMap): JsonMap {
  if (!isJsonMap(wanted.providers)) return wanted;
  const known = isJsonMap(shown.providers) ? shown.providers : {};
  const providers = Object.entries(wanted.providers).map(([id, entry]) => {
    const old = known[id];
    if (!isJsonMap(entry) || !isJsonMap(old)) return [id, entry] as const;
    const gone = entry.apiKeys === undefined ? "apiKeys" : "apiKey";
    const isWritten = entry.apiKeys !== undefined || entry.apiKey !== undefined;
    return [id, isWritten && old[gone] !== undefined ? { ...entry, [gone]: null } : entry] as const;
  });
  return { ...wanted, providers: Object.fromEntries(providers) as JsonMap };
}

interface ShownSecret {
  readonly provider: string;
  readonly place: string;
  readonly value: JsonMap;
}

/** A secret that the gateway has already, as far as can be seen, is left as it was shown. */
function keptSecrets(shown: JsonMap, wanted: JsonMap): JsonMap {
  const left = new Set<ShownSecret>();
  eachSecret(shown, (value, provider, place) => {
    if (isJsonMap(value)) left.add({ provider, place, value });
    return value;
  });
  return eachSecret(wanted, (text, provider, place) => {
    const alike = [...left].filter((one) => one.provider === provider && isAlike(one, text, place));
    const found = alike.find((one) => one.place === place) ?? alike[0];
    if (found === undefined) return text;
    left.delete(found);
    return found.value;
  });
}

/** A key may have moved within the list of its provider, or into it; a header stays where it is. */
function isAlike({ place, value }: ShownSecret, text: Json, wantedPlace: string): boolean {
  const isSamePlace = place === wantedPlace || (isKey(place) && isKey(wantedPlace));
  if (!isSamePlace || typeof text !== "string") return false;
  const lastFour = String(value.lastFour ?? "");
  return lastFour === "" ? text.length < SHORT : text.endsWith(lastFour);
}

function isKey(place: string): boolean {
  return place.startsWith("apiKey");
}

/** Shorter secrets show none of their characters. */
const SHORT = 12;

/** Shows nothing of a secret but its end. */
function end(secret: Json): Json {
  if (isJsonMap(secret)) return `…${String(secret.lastFour ?? "")}`;
  return typeof secret === "string" ? `…${secret.length < SHORT ? "" : secret.slice(-4)}` : secret;
}
