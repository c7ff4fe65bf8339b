// Addresses and keys of imported providers: references to variables in place of keys, and an id for each address with its
// keys.

import { readBuiltin } from "../../catalog/builtin.ts";
import type { Json, JsonMap } from "../../core/overlay.ts";
import type { ServedAs } from "./litellm-providers.ts";
import * as TEXT from "./text.ts";

export function textIn(map: JsonMap, name: string): string | null {
  const value = map[name];
  return typeof value === "string" && value !== "" ? value : null;
}

/** LiteLLM's reference to a variable as ours; other text as it is. */
export function referenced(text: string | null | undefined): string | null {
  if (text === null || text === undefined) return null;
  const [, name] = /^os\.environ\/([A-Za-z_]\w*)$/.exec(text) ?? [];
  // A dollar of the user's own text is no reference.
  return name === undefined ? text.replaceAll("${", "$${") : `\${${name}}`;
}

/** Text that servers without keys are given, because clients want one. */
const NO_KEY = /^(?:none|null|empty|anything|ollama|not-?needed|no-?key.*|fake.*|dummy.*|sk-1234|sk-no-key.*)$/i;

interface KeyFound {
  readonly key: string | null;
  readonly note: string | null;
}

export function keyOf(params: JsonMap, served: ServedAs, place: string): KeyFound {
  const text = textIn(params, "api_key");
  const usual = served.keyVariable ?? `${served.id.replaceAll("-", "_").toUpperCase()}_API_KEY`;
  if (text === null) return { key: served.keyVariable === null ? null : `\${${usual}}`, note: null };
  if (text.startsWith("os.environ/")) return { key: referenced(text), note: null };
  if (NO_KEY.test(text) && (served.isOwn || textIn(params, "api_base") !== null)) return { key: null, note: null };
  return { key: `\${${usual}}`, note: TEXT.literalKey(place, usual) };
}

const PRIVATE_HOST =
  /^(?:localhost|127\.|10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|\[?::1\]?$|\[?f[cd]|[^.]+$|.*\.(?:local|internal|lan|svc|svc\.cluster\.local)$)/;

/** An address of the user's own machines. */
export function isOwnAddress(baseUrl: string): boolean {
  return URL.canParse(baseUrl) && PRIVATE_HOST.test(new URL(baseUrl).hostname);
}

interface WantedProvider {
  readonly served: ServedAs;
  readonly provider: Readonly<Record<string, Json>>;
  readonly keys: readonly { readonly key: string; readonly weight: number }[];
}

/** Providers by what they are, so that each address with its keys is one entry. */
export function providerIds() {
  const byShape = new Map<string, string>();
  const entries: Record<string, Json> = {};
  return {
    idOf({ served, provider, keys }: WantedProvider): string {
      const shape = JSON.stringify([served.id, provider, [...keys].sort((a, b) => (a.key < b.key ? -1 : 1))]);
      const known = byShape.get(shape);
      if (known !== undefined) return known;
      const base = provider.baseUrl;
      const wanted = served.isBuiltin && typeof base === "string" ? idOfAddress(base, served.id) : served.id;
      const id = freeId(wanted, entries);
      byShape.set(shape, id);
      entries[id] = entryOf({ served, provider, keys }, id);
      return id;
    },
    entries: (): JsonMap => entries,
  };
}

function freeId(wanted: string, taken: object): string {
  for (let number = 1; ; number += 1) {
    const id = number === 1 ? wanted : `${wanted}-${number}`;
    if (!Object.hasOwn(taken, id)) return id;
  }
}

/** `http://vllm.internal:8000/v1` is called vllm, and a reference like its variable. */
function idOfAddress(baseUrl: string, vendor: string): string {
  const [, variable] = /^\$\{(\w+)\}$/.exec(baseUrl) ?? [];
  if (variable !== undefined) {
    const words = variable.toLowerCase().replace(/_(?:api_)?(?:base|base_url|url|host|endpoint)$/, "");
    return `${words.replaceAll("_", "-")}-server`;
  }
  const host = URL.canParse(baseUrl) ? new URL(baseUrl).hostname : "";
  const [label = ""] = host.split(".");
  if (/^(?:localhost|host|\d+|\[.*)$/.test(label) || label === "") return `${vendor}-local`;
  return /^(?:api|www)$/.test(label) ? `${host.split(".")[1] ?? vendor}-server` : `${label}-server`;
}

/** A built-in provider under another id gets what its own id would give it. */
function entryOf({ served, provider, keys }: WantedProvider, id: string): JsonMap {
  const row = served.isBuiltin ? readBuiltin().providers.find((each) => each.id === served.id) : undefined;
  const isElsewhere = row !== undefined && id !== row.id && provider.baseUrl === undefined;
  const own = isElsewhere
    ? {
        ...{ kind: row.kind, baseUrl: row.baseUrl, dialect: row.dialect as unknown as Json },
        ...(row.formats === undefined ? {} : { formats: [...row.formats] }),
      }
    : {};
  return { ...own, ...provider, ...keysOf(keys, row?.id === id ? row.keyVariable : null) };
}

/** A vendor's variable outweighs `apiKey`, but no list of keys. */
function keysOf(keys: WantedProvider["keys"], keyVariable: string | null): JsonMap {
  const unique = keys.filter(({ key }, index) => keys.findIndex((each) => each.key === key) === index);
  const [first] = unique;
  if (first === undefined) return {};
  const isUsual = keyVariable === null || first.key === `\${${keyVariable}}`;
  if (unique.length === 1 && isUsual) return { apiKey: first.key };
  return { apiKeys: unique.map(({ key, weight }) => (weight === 1 ? key : { key, weight })) };
}
