// Hashes of texts by their first and last bytes in UTF-8. A text that was read as it came has one character for each byte;
// the same text gives the same hash either way.

export const OFFSET = 0x811c9dc5;
const PRIME = 0x01000193;

/** FNV-1a, with the high bits folded down: they alone tell apart what came early. */
export function mix(hash: number, value: number): number {
  const mixed = Math.imul(hash ^ value, PRIME);
  return mixed ^ (mixed >>> 15);
}

/** `isBytes`: each character is a byte already. */
export function mixEnds(seed: number, text: string, isBytes: boolean, count: number): number {
  return mixTail(mixHead(seed, text, isBytes, count), text, isBytes, count);
}

/** Bytes at each end of a text that is one of hundreds. */
const BRIEF_BYTES = 8;

/** With few bytes, four of them at a time: every message of a conversation is hashed with every request. */
export function mixBriefly(seed: number, text: string, isBytes: boolean): number {
  const bytes = isBytes || hasPlainEnds(text) ? text : bytesAtEnds(text);
  const { length } = bytes;
  let hash = mix(seed, Math.min(length, BRIEF_BYTES));
  if (length < BRIEF_BYTES) {
    for (let at = 0; at < length; at++) hash = mix(hash, bytes.charCodeAt(at));
    return hash;
  }
  hash = mix(mix(hash, wordAt(bytes, 0)), wordAt(bytes, 4));
  return mix(mix(hash, wordAt(bytes, length - 8)), wordAt(bytes, length - 4));
}

function wordAt(bytes: string, at: number): number {
  const low = bytes.charCodeAt(at) | (bytes.charCodeAt(at + 1) << 8);
  return low | (bytes.charCodeAt(at + 2) << 16) | (bytes.charCodeAt(at + 3) << 24);
}

/** Whether characters at the ends are bytes in UTF-8 as well. */
function hasPlainEnds(text: string): boolean {
  const { length } = text;
  const read = length < BRIEF_BYTES ? length : BRIEF_BYTES;
  let bits = 0;
  for (let at = 0; at < read; at++) bits |= text.charCodeAt(at) | text.charCodeAt(length - 1 - at);
  return bits <= ASCII_MAX;
}

/** One character for each byte: of a long text, only the ends. One more is read of each, which may be half of a pair. */
function bytesAtEnds(text: string): string {
  if (text.length <= 2 * BRIEF_BYTES) return Buffer.from(text, "utf8").toString("latin1");
  const head = Buffer.from(text.slice(0, BRIEF_BYTES + 1), "utf8").subarray(0, BRIEF_BYTES);
  const tail = Buffer.from(text.slice(-BRIEF_BYTES - 1), "utf8").subarray(-BRIEF_BYTES);
  return head.toString("latin1") + tail.toString("latin1");
}

function mixHead(seed: number, text: string, isBytes: boolean, count: number): number {
  let hash = seed;
  const last = Math.min(text.length, count);
  for (let at = 0; at < last; at++) {
    const code = text.charCodeAt(at);
    if (!isBytes && code > ASCII_MAX) return mixBytes(hash, bytesOf(text.slice(at, count + 1)), count - at);
    hash = mix(hash, code);
  }
  return hash;
}

/** From the end backwards. */
function mixTail(seed: number, text: string, isBytes: boolean, count: number): number {
  let hash = mix(seed, text.length === 0 ? 0 : 1);
  const first = Math.max(0, text.length - count);
  for (let at = text.length - 1; at >= first; at--) {
    const code = text.charCodeAt(at);
    if (!isBytes && code > ASCII_MAX) {
      const left = count - (text.length - 1 - at);
      return mixBytes(hash, bytesOf(text.slice(Math.max(0, at - left), at + 1)).reverse(), left);
    }
    hash = mix(hash, code);
  }
  return hash;
}

const ASCII_MAX = 0x7f;

function bytesOf(text: string): number[] {
  return [...Buffer.from(text, "utf8")];
}

function mixBytes(seed: number, bytes: readonly number[], count: number): number {
  let hash = seed;
  for (let at = 0; at < bytes.length && at < count; at++) hash = mix(hash, bytes[at] as number);
  return hash;
}
