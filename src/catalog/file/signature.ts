// Signatures of catalogue files: Ed25519 over the canonical JSON (RFC 8785) of everything but the signature itself.

import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from "node:crypto";
import type { CatalogueFile, Signature } from "./file.ts";

/**
 * Public keys of the maintainers. None exists until a maintainer makes one by hand, as docs/reference/catalogue.md says.
 * The catalogue in this package needs no signature: it is part of the program, like this line.
 */
export const MAINTAINERS_KEYS: readonly string[] = [];

/** Thrown for a key that cannot sign; the message says why. */
export class NoSigningKey extends Error {}

export function signed(file: CatalogueFile, privateKeyPem: string): CatalogueFile {
  const { signature: _, ...content } = file;
  const key = readPrivateKey(privateKeyPem);
  const value = sign(null, canonical(content), key).toString("base64");
  return { ...content, signature: { algorithm: "ed25519", key: publicKeyOf(key), value } };
}

function readPrivateKey(pem: string): KeyObject {
  let key: KeyObject;
  try {
    key = createPrivateKey(pem);
  } catch {
    throw new NoSigningKey("The key is no private key in PEM form.");
  }
  if (key.asymmetricKeyType === "ed25519") return key;
  throw new NoSigningKey(`The key is ${key.asymmetricKeyType ?? "unknown"}, and has to be ed25519.`);
}

/** The 32 bytes of a public key, in base64. */
function publicKeyOf(key: KeyObject): string {
  const { x = "" } = createPublicKey(key).export({ format: "jwk" });
  return Buffer.from(x, "base64url").toString("base64");
}

/** Tells whether the signature is that of its key. Whether the key is trusted is another question. */
export function isSignatureOf(file: object, { key, value }: Signature): boolean {
  const { signature: _, ...content } = file as { readonly signature?: unknown };
  const x = Buffer.from(key, "base64").toString("base64url");
  try {
    const publicKey = createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x }, format: "jwk" });
    return verify(null, canonical(content), publicKey, Buffer.from(value, "base64"));
  } catch {
    return false;
  }
}

/** The canonical form has no spaces and sorted names, so it does not matter how a file was laid out. */
function canonical(content: object): Buffer {
  return Buffer.from(canonicalText(content), "utf8");
}

function canonicalText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalText).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const entries = Object.entries(value).filter(([, each]) => each !== undefined);
  const names = new Map(entries.map(([name, each]) => [name, each as unknown]));
  return `{${[...names.keys()]
    .sort()
    .map((name) => `${JSON.stringify(name)}:${canonicalText(names.get(name))}`)
    .join(",")}}`;
}
