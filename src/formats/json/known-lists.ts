// Lists of tools that came before. An agent sends the same ones with every turn, and they are often most of what has to be
// parsed. A list that equals an earlier one byte for byte is that list, frozen, so that no request can change another's.

import { type ScannedList, scanList } from "../scan/scan.ts";

interface KnownList {
  readonly bytes: Buffer;
  readonly scanned: ScannedList;
  readonly list: unknown;
  readonly takenUp: number;
}

/** Shorter ones are parsed as fast as they are found. By hand. */
const BYTES_MIN = 1024;
const BYTES_MAX = 256 * 1024;
/** About the memory of all together. */
const TOTAL_BYTES_MAX = 16 * 1024 * 1024;
/** Memory of an object, an array or an element of one beside its text, at most. */
const VALUE_BYTES = 64;
const LISTS_MAX = 64;
/** Hashes of lists that came once: most of these never come again. */
const ONCE_MAX = 1_024;
const LOOKED_AT = 256;

/** The newest comes first. */
const lists: KnownList[] = [];
const once = new Set<number>();
let totalBytes = 0;

export function knownList(bytes: Buffer, parse: () => unknown): unknown {
  if (bytes.length < BYTES_MIN || bytes.length > BYTES_MAX) return parse();
  const place = lists.findIndex((known) => known.bytes.length === bytes.length && known.bytes.equals(bytes));
  if (place === 0) return lists[0]?.list;
  if (place > 0) {
    lists.unshift(...lists.splice(place, 1));
    return lists[0]?.list;
  }
  const list = parse();
  if (hasCome(sightOf(bytes))) keep(bytes, list);
  return list;
}

const LIST_END = "]".charCodeAt(0);

/** The known list that stands at this place. A list says itself where it ends, so it is no longer one than that. */
export function knownListAt(bytes: Buffer, at: number): ScannedList | null {
  for (const known of lists) {
    const end = at + known.bytes.length;
    if (bytes[end - 1] === LIST_END && known.bytes.compare(bytes, at, end) === 0) return known.scanned;
  }
  return null;
}

/** FNV-1a over its length and some of its bytes. Where two look alike, the second is kept at once. */
function sightOf(bytes: Buffer): number {
  const stride = bytes.length / LOOKED_AT;
  let sight = bytes.length;
  for (let place = 0; place < LOOKED_AT; place++) {
    sight = Math.imul(sight ^ (bytes[Math.floor(place * stride)] as number), 0x01000193);
  }
  return sight;
}

function hasCome(sight: number): boolean {
  if (once.delete(sight)) return true;
  once.add(sight);
  for (const oldest of once) {
    if (once.size <= ONCE_MAX) break;
    once.delete(oldest);
  }
  return false;
}

function keep(bytes: Buffer, list: unknown): void {
  const takenUp = bytes.length + freeze(list) * VALUE_BYTES;
  // A copy: a part of the body would keep all of it.
  const copy = Buffer.from(bytes);
  lists.unshift({ bytes: copy, scanned: scanList(copy), list, takenUp });
  totalBytes += takenUp;
  while (totalBytes > TOTAL_BYTES_MAX || lists.length > LISTS_MAX) totalBytes -= lists.pop()?.takenUp ?? 0;
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

/** Freezes a value and counts its values. The scan has limited its depth. */
function freeze(value: unknown): number {
  if (typeof value !== "object" || value === null) return 1;
  let values = 1;
  for (const inner of Object.values(value)) values += freeze(inner);
  Object.freeze(value);
  return values;
}
