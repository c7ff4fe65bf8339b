// JSON as programs write it that escape what is not ASCII: Python's default, for one.

/** The JSON of a value, with this share of it, from its beginning, written with escapes. */
export function escapedJson(value: unknown, { indent, share }: { indent: number; share: number }): string {
  const json = JSON.stringify(value, null, indent);
  const cut = Math.floor(json.length * share);
  const escapeUnit = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return json.slice(0, cut).replace(/[\u0080-\uffff]/g, escapeUnit) + json.slice(cut);
}
