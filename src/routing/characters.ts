// Character codes and their kinds: letter, digit, a sign of a script without spaces, or anything else.

export const OTHER = 0;
export const LETTER = 1;
export const DIGIT = 2;
/** Kana and Han, which are written without spaces. */
export const UNSPACED = 3;

// Looked up for every character read, which is several times faster than comparing ranges.
const ASCII_KINDS = Uint8Array.from({ length: 128 }, (_, code) =>
  isDigit(code) ? DIGIT : code >= 97 && code <= 122 ? LETTER : OTHER,
);

/** Character codes as an array: reading them there is several times faster than from the string. */
export function codesOf(text: string): Uint16Array {
  const bytes = Buffer.from(text, "utf16le");
  return new Uint16Array(bytes.buffer, bytes.byteOffset, text.length);
}

export function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}

/** The kind of a lower-case character. */
export function kindOf(code: number): number {
  if (code < 128) return ASCII_KINDS[code] as number;
  if (code < 0xc0 || code === 0xd7 || code === 0xf7 || code >= 0xff00) return OTHER;
  if (code < 0x2000) return LETTER;
  if (code <= 0x303f && (code <= 0x2bff || code >= 0x3000)) return OTHER;
  return code >= 0x3040 && code <= 0x9fff && (code <= 0x30ff || code >= 0x3400) ? UNSPACED : LETTER;
}
