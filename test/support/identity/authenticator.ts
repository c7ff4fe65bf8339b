// An authenticator in software: it makes passkeys and signs with them as one in a device does, and lies where a test says so.

import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";

interface SoftPasskey {
  readonly credentialId: string;
  readonly privateKey: KeyObject;
  readonly userHandle: string;
  counter: number;
}

/** Fields in which what is sent differs from what an honest browser and authenticator send. */
export interface Lies {
  readonly origin?: string;
  readonly host?: string;
  readonly type?: string;
  readonly crossOrigin?: boolean;
  readonly isVerified?: boolean;
  readonly counter?: number;
  readonly userHandle?: string;
  readonly statement?: Cbor;
  readonly signature?: string;
}

/** What the gateway asks for, as far as it matters here. */
interface NewOptions {
  readonly challenge: string;
  readonly rp: { readonly id: string };
  readonly user: { readonly id: string };
}

interface UseOptions {
  readonly challenge: string;
  readonly rpId: string;
}

type Cbor = number | string | Buffer | Map<number | string, Cbor>;

export function makePasskey(origin: string, options: NewOptions, lies: Lies = {}) {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const { x = "", y = "" } = publicKey.export({ format: "jwk" });
  const id = randomBytes(16);
  const key = new Map<number, Cbor>([
    ...([[1, 2] as const, [3, -7] as const, [-1, 1] as const] as const),
    ...([[-2, Buffer.from(x, "base64url")] as const, [-3, Buffer.from(y, "base64url")] as const] as const),
  ]);
  const credential = Buffer.concat([Buffer.alloc(16), Buffer.from([0, id.length]), id, encode(key)]);
  const authData = Buffer.concat([authenticatorData(options.rp.id, { counter: 0, ...lies }, 0x40), credential]);
  const statement = lies.statement ?? "none";
  const attestation = new Map<string, Cbor>([
    ["fmt", statement === "none" ? "none" : "packed"],
    ["attStmt", statement === "none" ? new Map() : statement],
    ["authData", authData],
  ]);
  const passkey: SoftPasskey = {
    credentialId: id.toString("base64url"),
    privateKey,
    userHandle: options.user.id,
    counter: lies.counter ?? 0,
  };
  const response = {
    clientDataJSON: clientData(origin, options, { type: "webauthn.create", ...lies }),
    attestationObject: encode(attestation).toString("base64url"),
  };
  return { passkey, credential: { id: passkey.credentialId, response } };
}

export function usePasskey(origin: string, options: UseOptions, passkey: SoftPasskey, lies: Lies = {}) {
  const data = authenticatorData(options.rpId, { counter: passkey.counter, ...lies }, 0);
  const client = clientData(origin, options, { type: "webauthn.get", ...lies });
  const hashed = createHash("sha256").update(Buffer.from(client, "base64url")).digest();
  const signed = sign("sha256", Buffer.concat([data, hashed]), passkey.privateKey).toString("base64url");
  const response = {
    clientDataJSON: client,
    authenticatorData: data.toString("base64url"),
    signature: lies.signature ?? signed,
    userHandle: lies.userHandle ?? passkey.userHandle,
  };
  return { credential: { id: passkey.credentialId, response } };
}

function clientData(
  origin: string,
  { challenge }: Pick<UseOptions, "challenge">,
  { type, crossOrigin = false, ...lies }: Lies,
): string {
  return Buffer.from(JSON.stringify({ type, challenge, origin: lies.origin ?? origin, crossOrigin })).toString(
    "base64url",
  );
}

const IS_PRESENT = 0x01;
const IS_VERIFIED = 0x04;

function authenticatorData(host: string, lies: Lies & { readonly counter: number }, flags: number): Buffer {
  const counter = Buffer.alloc(4);
  counter.writeUInt32BE(lies.counter);
  const verified = lies.isVerified === false ? 0 : IS_VERIFIED;
  const hashed = createHash("sha256")
    .update(lies.host ?? host)
    .digest();
  return Buffer.concat([hashed, Buffer.from([flags | IS_PRESENT | verified]), counter]);
}

/** As much of CBOR as statements need. */
function encode(value: Cbor): Buffer {
  if (typeof value === "number") return value >= 0 ? head(0, value) : head(1, -1 - value);
  if (typeof value === "string") return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)]);
  if (Buffer.isBuffer(value)) return Buffer.concat([head(2, value.length), value]);
  const entries = [...value].flatMap(([name, each]) => [encode(name), encode(each)]);
  return Buffer.concat([head(5, value.size), ...entries]);
}

function head(major: number, value: number): Buffer {
  if (value < 24) return Buffer.from([(major << 5) | value]);
  if (value < 256) return Buffer.from([(major << 5) | 24, value]);
  return Buffer.from([(major << 5) | 25, value >> 8, value & 0xff]);
}
