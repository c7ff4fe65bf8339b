// Hashes of whole texts. Instructions come again with every request, so a text that was hashed before is compared with
// itself, which takes a tenth of the time of hashing it.

import { crc32 } from "node:zlib";
import { UNREAD, type UnreadMessage, type UnreadText } from "../../core/chat.ts";
import { mixEnds, type TextHash } from "../../routing/sessions/prefix.ts";

/** Bytes that are read of a longer text, beside its ends. It is not remembered. */
const READ_BYTES = 256 * 1024;
/** What is shorter is hashed faster than found. */
const REMEMBERED_CHARS = 512;
/** Characters of the texts in each of two generations. */
const REMEMBERED_CHARS_MAX = 2 * 1024 * 1024;

/** What an entry takes up beside its text. */
const ENTRY_CHARS = 64;

interface KnownText {
  /** Empty when it came once: most texts never come again, and to keep them costs the garbage collector. */
  readonly text: string;
  readonly hash: number;
}

export function createTextHash(): TextHash {
  let recent = new Map<number, KnownText>();
  let older = new Map<number, KnownText>();
  let chars = 0;
  const remember = (key: number, known: KnownText): void => {
    recent.set(key, known);
    chars += known.text.length + ENTRY_CHARS;
    if (chars < REMEMBERED_CHARS_MAX) return;
    older = recent;
    recent = new Map();
    chars = 0;
  };
  return (given, isBytes) => {
    // Compared as it stands in the body: instructions come again as they were written.
    const text = typeof given === "string" ? given : literalOf(given[UNREAD]);
    if (text.length < REMEMBERED_CHARS || text.length > READ_BYTES) return hashText(given, isBytes);
    const key = mixEnds(3 * text.length + (text === given ? Number(isBytes) : 2), text, true);
    const fresh = recent.get(key);
    if (fresh?.text === text) return fresh.hash;
    const old = older.get(key);
    const isNew = fresh === undefined && old === undefined;
    const known = old?.text === text ? old : { text: isNew ? "" : text, hash: hashText(given, isBytes) };
    remember(key, known);
    return known.hash;
  };
}

function literalOf({ bytes, start, end }: UnreadText): string {
  return bytes.toString("latin1", start, end);
}

/** Of the bytes in UTF-8: the same text gives the same hash, decoded, read, or not. */
export function hashText(given: string | UnreadMessage, isBytes: boolean): number {
  const text = typeof given === "string" ? given : given.content;
  // A pair of surrogates may be cut where the reading ends.
  const read = text.length > READ_BYTES ? text.slice(0, READ_BYTES + 1) : text;
  const bytes = Buffer.from(read, isBytes ? "latin1" : "utf8");
  if (bytes.length <= READ_BYTES) return crc32(bytes);
  return mixEnds(crc32(bytes.subarray(0, READ_BYTES)), text, isBytes);
}
