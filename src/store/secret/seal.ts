// Sealing of text at rest: AES-256-GCM, with long texts compressed first. A text is bound to its owner, so a sealed text
// that was moved to another row or account does not open.

import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from "node:crypto";
import { promisify } from "node:util";
import { deflateRaw, inflateRaw } from "node:zlib";

export interface Sealer {
  /** `about` names what the text belongs to. The same name opens it. */
  seal(text: string, about: string): Promise<string>;
  /** Opens a text. Rejects if the secret or the name differ, or the text was changed. */
  open(sealed: string, about: string): Promise<string>;
}

/** Shortest text that is worth compressing. */
const LONG_BYTES = 1024;
/** Largest decompressed text, so that no row fills the memory. */
const OPENED_BYTES_MAX = 512 * 1024 * 1024;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** Prefixes of sealed texts: the version, and whether the text is compressed. */
const PLAIN = "s1.";
const COMPRESSED = "z1.";

const deflate = promisify(deflateRaw);
const inflate = promisify(inflateRaw);

/** Each purpose has a key of its own, derived from the one secret. */
export function createSealer(secret: Buffer, purpose: string): Sealer {
  const key = Buffer.from(hkdfSync("sha256", secret, "", `switchyard ${purpose}`, 32));
  return {
    async seal(text, about) {
      const bytes = Buffer.from(text, "utf8");
      const isLong = bytes.length >= LONG_BYTES;
      const kind = isLong ? COMPRESSED : PLAIN;
      const plain = isLong ? await deflate(bytes, { level: 3 }) : bytes;
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv("aes-256-gcm", key, nonce);
      cipher.setAAD(Buffer.from(kind + about, "utf8"));
      const sealed = Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
      return kind + sealed.toString("base64url");
    },
    async open(sealed, about) {
      const kind = sealed.slice(0, PLAIN.length);
      const bytes = Buffer.from(sealed.slice(PLAIN.length), "base64url");
      if ((kind !== PLAIN && kind !== COMPRESSED) || bytes.length < NONCE_BYTES + TAG_BYTES) {
        throw new Error("this is not a sealed text");
      }
      const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, NONCE_BYTES));
      decipher.setAAD(Buffer.from(kind + about, "utf8"));
      decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
      const plain = Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]);
      const opened = kind === COMPRESSED ? await inflate(plain, { maxOutputLength: OPENED_BYTES_MAX }) : plain;
      return opened.toString("utf8");
    },
  };
}

/** Tells a sealed text from JSON and from events. */
export function isSealed(text: string): boolean {
  return text.startsWith(PLAIN) || text.startsWith(COMPRESSED);
}

/** Makes a fingerprint that tells secrets apart and reveals nothing of them. */
export function fingerprintOf(secret: Buffer): string {
  return createHash("sha256").update("switchyard fingerprint").update(secret).digest("hex").slice(0, 16);
}
