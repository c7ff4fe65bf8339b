// Cached contents of Gemini's format: the beginning of a prompt under a name. Those of the gateway are put into each request
// that names them, so that any model can answer. Those made at Google stay as they are.

import type { JsonItem } from "../../core/responses/stored.ts";
import { invalid, isObject, type JsonObject } from "../json/fields.ts";
import type { CachedForm } from "../stored-form.ts";
import { camelFields, isSet } from "./to-chat/parse.ts";

const PREFIX = "cachedContents/";
/** Begins the ids of the gateway, which tells them from those of Google. */
const OWN = "sw";
/** A request may have these in its cached content only. */
const KEPT_ONLY = ["systemInstruction", "tools", "toolConfig"] as const;

export const CACHED_FORM: CachedForm = {
  idOf: (stem) => `${OWN}${stem}`,
  nameOf: (id) => `${PREFIX}${id}`,
  namedIn(body) {
    const { cachedContent: name } = camelFields(body);
    if (typeof name !== "string" || !name.startsWith(PREFIX + OWN)) return null;
    return name.slice(PREFIX.length);
  },
  promptIn(body) {
    const fields = camelFields(body);
    const given = ["contents", ...KEPT_ONLY].filter((name) => isSet(fields[name]));
    if (given.length === 0) throw invalid("contents", "'contents' or 'systemInstruction' is missing.");
    return Object.fromEntries(given.map((name) => [name, fields[name]]));
  },
  laidUnder(prompt: JsonItem, body: JsonObject) {
    const { cachedContent: _, ...fields } = camelFields(body);
    const twice = KEPT_ONLY.find((name) => isSet(fields[name]));
    if (twice !== undefined) throw invalid(twice, `'${twice}' belongs into the cached content, not into the request.`);
    return { ...fields, ...prompt, contents: [...listed(prompt.contents), ...listed(fields.contents)] };
  },
};

/** One object or text stands for a list of one. */
function listed(contents: unknown): readonly unknown[] {
  if (typeof contents === "string") return [{ role: "user", parts: [{ text: contents }] }];
  return Array.isArray(contents) ? contents : isObject(contents) ? [contents] : [];
}
