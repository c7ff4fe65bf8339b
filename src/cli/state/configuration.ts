// The run-time configuration of `switchyard apply`: what a file would change of it. Keys of providers are compared by their
// last four characters, because a gateway shows no more.

import { isJsonMap, type Json, type JsonMap } from "../../core/overlay.ts";
import { changesBetween } from "../../versions/changes.ts";
import { drafted } from "../../versions/document.ts";
import { UsageError } from "../command/usage.ts";
import * as TEXT from "./text.ts";

interface ConfigurationPlan {
  readonly words: readonly string[];
  /** The whole document to publish; secrets that stay are as the gateway showed them. */
  readonly document: JsonMap;
}

export function configurationPlan(shown: JsonMap, wanted: JsonMap): ConfigurationPlan {
  const draft = drafted(shown, keptSecrets(shown, wanted));
  const changes = changesBetween(masked(shown), masked(draft));
  return { words: changes.map(({ words }) => words), document: draft };
}

/** A secret that the gateway has already, as far as can be seen, is left as it was shown. */
function keptSecrets(shown: JsonMap, wanted: JsonMap): JsonMap {
  const { providers } = wanted;
  if (!isJsonMap(providers)) return wanted;
  const kept = Object.entries(providers).map(([id, entry]) => {
    if (!isJsonMap(entry)) return [id, entry] as const;
    if (entry.apiKeys !== undefined) throw new UsageError(TEXT.keyLists(id));
    const known = isJsonMap(shown.providers) ? shown.providers[id] : undefined;
    const old = isJsonMap(known) ? known : {};
    const headers = isJsonMap(entry.headers)
      ? {
          headers: Object.fromEntries(
            Object.entries(entry.headers).map(([name, text]) => [
              name,
              keptText(isJsonMap(old.headers) ? old.headers[name] : undefined, text),
            ]),
          ),
        }
      : {};
    return [
      id,
      { ...entry, ...headers, ...(entry.apiKey === undefined ? {} : { apiKey: keptText(old.apiKey, entry.apiKey) }) },
    ] as const;
  });
  return { ...wanted, providers: Object.fromEntries(kept) as JsonMap };
}

function keptText(shown: Json | undefined, wanted: Json): Json {
  if (!isJsonMap(shown) || typeof wanted !== "string") return wanted;
  const lastFour = String(shown.lastFour ?? "");
  const isSame = lastFour === "" ? wanted.length < SHORT : wanted.endsWith(lastFour);
  return isSame ? shown : wanted;
}

/** Shorter secrets show none of their characters. */
const SHORT = 12;

/** The document without anything of a secret but its end. */
function masked(document: JsonMap): JsonMap {
  const { providers } = document;
  if (!isJsonMap(providers)) return document;
  const entries = Object.entries(providers).map(([id, entry]) => {
    if (!isJsonMap(entry)) return [id, entry] as const;
    const { apiKey, headers, ...rest } = entry;
    const hidden = {
      ...(apiKey === undefined ? {} : { apiKey: end(apiKey) }),
      ...(isJsonMap(headers)
        ? { headers: Object.fromEntries(Object.entries(headers).map(([name, text]) => [name, end(text)])) }
        : {}),
    };
    return [id, { ...rest, ...hidden }] as const;
  });
  return { ...document, providers: Object.fromEntries(entries) as JsonMap };
}

function end(secret: Json): Json {
  if (isJsonMap(secret)) return `…${String(secret.lastFour ?? "")}`;
  return typeof secret === "string" ? `…${secret.length < SHORT ? "" : secret.slice(-4)}` : secret;
}
