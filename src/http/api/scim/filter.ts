// Attribute paths and filters of SCIM, as far as identity providers use them: equality, joined by `and`.

import { GatewayError } from "../../../core/errors.ts";

/** A place in a resource: `emails[type eq "work"].value`. */
export interface AttributePath {
  readonly attribute: string;
  /** Conditions on the items of a list; empty for all. */
  readonly conditions: readonly Condition[];
  readonly part: string | null;
}

interface Condition {
  readonly attribute: string;
  readonly value: string;
}

const NAME = "[A-Za-z][\\w$-]*";
/** Attributes of the core schemas may be written with the name of the schema before them. */
const SCHEMA = /^urn:ietf:params:scim:schemas:core:2\.0:(?:user|group):/i;
const PATH = new RegExp(`^(${NAME})(?:\\[([^\\]]*)\\])?(?:\\.(${NAME}))?$`);
const EQUALITY = new RegExp(
  `^\\s*(${NAME}(?:\\[[^\\]]*\\])?(?:\\.${NAME})?)\\s+eq\\s+("(?:[^"\\\\]|\\\\.)*"|true|false|\\d+)\\s*(?:and\\s+(?=\\S)|$)`,
  "i",
);
const CONDITIONS_MAX = 10;

/** Returns null for a path of another schema. Throws for a text that is no path. */
export function readPath(text: string): AttributePath | null {
  const own = text.trim().replace(SCHEMA, "");
  if (/^urn:/i.test(own)) return null;
  const [, attribute, filter, part = null] = PATH.exec(own) ?? [];
  if (attribute === undefined) throw wrong("invalidPath", `'${text.slice(0, 100)}' is no path that is supported.`);
  return { attribute, conditions: filter === undefined ? [] : readFilter(filter), part };
}

/** Throws for anything but equalities. */
export function readFilter(text: string): readonly Condition[] {
  const conditions: Condition[] = [];
  let rest = text.replaceAll(new RegExp(SCHEMA.source.slice(1), "gi"), "");
  while (rest.trim() !== "") {
    const [whole, attribute, value] = EQUALITY.exec(rest) ?? [];
    if (whole === undefined || attribute === undefined || value === undefined || conditions.length === CONDITIONS_MAX) {
      throw wrong("invalidFilter", "A filter compares attributes by 'eq', joined by 'and'.");
    }
    conditions.push({ attribute, value: unquoted(value) });
    rest = rest.slice(whole.length);
  }
  if (conditions.length === 0) throw wrong("invalidFilter", "The filter is empty.");
  return conditions;
}

function unquoted(value: string): string {
  if (!value.startsWith('"')) return value.toLowerCase();
  try {
    return String(JSON.parse(value));
  } catch {
    throw wrong("invalidFilter", "A text of the filter is not written as in JSON.");
  }
}

/** The code is the type of the error in SCIM. */
export function wrong(code: string, message: string): GatewayError {
  return new GatewayError("badRequest", message, { code });
}
