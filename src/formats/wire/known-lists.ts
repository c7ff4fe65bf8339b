// Lists of tools that came before. An agent sends the same ones with every turn, and they are often most of what has to be
// parsed. A list that equals an earlier one byte for byte is that list, frozen, so that no request can change another's.

interface KnownList {
  readonly bytes: Buffer;
  readonly list: unknown;
}

/** Shorter ones are parsed as fast as they are found. By hand. */
const BYTES_MIN = 1024;
const BYTES_MAX = 256 * 1024;
/** Of all together. Parsed, they take up some times as much. */
const TOTAL_BYTES_MAX = 2 * 1024 * 1024;
const LISTS_MAX = 64;

/** The newest comes first. */
const lists: KnownList[] = [];
let totalBytes = 0;

export function knownList(bytes: Buffer, parse: () => unknown): unknown {
  if (bytes.length < BYTES_MIN || bytes.length > BYTES_MAX) return parse();
  const place = lists.findIndex((known) => known.bytes.length === bytes.length && known.bytes.equals(bytes));
  if (place === 0) return lists[0]?.list;
  // A copy: a part of the body would keep all of it.
  const known = lists[place] ?? { bytes: Buffer.from(bytes), list: freeze(parse()) };
  if (place > 0) lists.splice(place, 1);
  else totalBytes += bytes.length;
  lists.unshift(known);
  while (totalBytes > TOTAL_BYTES_MAX || lists.length > LISTS_MAX) totalBytes -= lists.pop()?.bytes.length ?? 0;
  return known.list;
}

/** Does what `read` does, once for each list that came before. */
export function onceForKnown<Result>(read: (list: readonly unknown[]) => Result): (list: readonly unknown[]) => Result {
  const results = new WeakMap<readonly unknown[], Result>();
  return (list) => {
    if (!Object.isFrozen(list)) return read(list);
    const result = results.get(list) ?? read(list);
    results.set(list, result);
    return result;
  };
}

/** Its depth was limited when it was scanned. */
function freeze(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  for (const inner of Object.values(value)) freeze(inner);
  return Object.freeze(value);
}
