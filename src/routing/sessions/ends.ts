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

function mixHead(seed: number, text: string, isBytes: boolean, count: number): number {
  let hash = seed;
  const last = Math.min(text.length, count);
  for (let at = 0; at < last; at++) {
    const code = text.charCodeAt(at);
    if (!isBytes && code > ASCII_MAX) return mixBytes(hash, bytesOf(text.slice(at, count)), count - at);
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
      return mixBytes(hash, bytesOf(text.slice(Math.max(0, at + 1 - left), at + 1)).reverse(), left);
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
