// /api/session/passkeys: passkeys of the user who is signed in; and /api/session/passkey: sign-in with one. The session that
// begins is the same as with a password.

import { Type } from "typebox";
import type { SignedIn } from "../../../accounts/logins.ts";
import type { Site } from "../../../accounts/passkeys.ts";
import { GatewayError } from "../../../core/errors.ts";
import type { Passkey } from "../../../core/people.ts";
import type { OperatorContext } from "../../context.ts";
import { publicOrigin } from "../../exchange/hosts.ts";
import { AnyText, Integer, named, nullable, plainText, type Shape, strict, Time } from "../../openapi/schema.ts";
import * as TEXT from "../../text.ts";
import { idOf, isoTime, missing } from "../exchange.ts";
import { type ApiCall, type ApiRoute, del, get, post } from "../route.ts";
import { openLogin } from "./login.ts";

const PasskeySchema = named("Passkey", {
  id: AnyText,
  name: AnyText,
  // The host name of the dashboard that the passkey is for.
  host: AnyText,
  createdAt: Time,
  lastUsedAt: nullable(Time),
});
export const PasskeysSchema = named("Passkeys", { data: Type.Array(PasskeySchema) });
/** Options for `navigator.credentials.create` and `get`, as browsers read them with `parseCreationOptionsFromJSON`. */
export const NewPasskeyOptionsSchema = named("NewPasskeyOptions", {
  challenge: AnyText,
  rp: Type.Object({ id: AnyText, name: AnyText }),
  user: Type.Object({ id: AnyText, name: AnyText, displayName: AnyText }),
  pubKeyCredParams: Type.Array(Type.Object({ type: AnyText, alg: Integer })),
  // Credentials that the user has here already.
  excludeCredentials: Type.Array(Type.Object({ type: AnyText, id: AnyText })),
  authenticatorSelection: Type.Object({ residentKey: AnyText, userVerification: AnyText }),
  attestation: AnyText,
  timeout: Integer,
});
export const PasskeySignInOptionsSchema = named("PasskeySignInOptions", {
  challenge: AnyText,
  rpId: AnyText,
  userVerification: AnyText,
  timeout: Integer,
});

const BASE64URL = "^[A-Za-z0-9_-]*$";
/** Bytes as the browser gives them, in base64url. An attestation may hold a large key. */
const Bytes = Type.String({ minLength: 1, maxLength: 16_384, pattern: BASE64URL });
const CredentialId = Type.String({ minLength: 1, maxLength: 1_400, pattern: BASE64URL });
const NewPasskeyWishSchema = strict("NewPasskeyWish", { password: Type.String({ maxLength: 4_096 }) });
/** A credential as browsers write it. What else they send is not read. */
const NewPasskeySchema = strict("NewPasskey", {
  name: plainText(100, { minLength: 1 }),
  credential: Type.Object({
    id: CredentialId,
    response: Type.Object({ clientDataJSON: Bytes, attestationObject: Bytes }),
  }),
});
const PasskeySignInSchema = strict("PasskeySignIn", {
  credential: Type.Object({
    id: CredentialId,
    response: Type.Object({ clientDataJSON: Bytes, authenticatorData: Bytes, signature: Bytes, userHandle: Bytes }),
  }),
});

/** Examples of the contract. */
const BYTES = "AAAA";

export const PASSKEY_ROUTES: readonly ApiRoute[] = [
  get("listPasskeys", "/api/session/passkeys", {
    summary: "Passkeys with which one can sign in oneself",
    access: "ownLogin",
    response: PasskeysSchema,
    handle: async (call, { passkeys }) => ({
      data: (await passkeys.ofUser(signedInUser(call).user)).map(writePasskey),
    }),
  }),
  post("beginPasskey", "/api/session/passkeys/options", {
    summary: "Confirm one's password, and get options with which the browser makes a passkey within five minutes",
    access: "ownLogin",
    isAudited: false,
    body: NewPasskeyWishSchema,
    example: { password: "correct horse battery staple" },
    response: NewPasskeyOptionsSchema,
    errors: [409],
    handle: (call, edge) => edge.passkeys.beginAdding(signedInUser(call), call.body().password, siteOf(call, edge)),
  }),
  post("addPasskey", "/api/session/passkeys", {
    summary: "Add the passkey that the browser made",
    access: "ownLogin",
    body: NewPasskeySchema,
    example: {
      name: "Laptop",
      credential: { id: BYTES, response: { clientDataJSON: BYTES, attestationObject: BYTES } },
    },
    status: 201,
    response: PasskeySchema,
    errors: [409],
    handle: async (call, edge) =>
      writePasskey(await edge.passkeys.add(signedInUser(call).user, call.body(), siteOf(call, edge))),
  }),
  del("removePasskey", "/api/session/passkeys/:id", {
    summary: "Remove a passkey; sessions that began with it stay",
    access: "ownLogin",
    async handle(call, { passkeys }) {
      const id = idOf(call.request, "passkey");
      if (!(await passkeys.remove(signedInUser(call).user, id))) throw missing("passkey", id);
    },
  }),
  post("beginPasskeySignIn", "/api/session/passkey/options", {
    summary: "Options with which the browser asks for a passkey within five minutes",
    access: "anyone",
    changesNothing: true,
    response: PasskeySignInOptionsSchema,
    errors: [400, 403, 429],
    handle: (call, edge) => edge.passkeys.beginSignIn(call.request.ip, siteOf(call, edge)),
  }),
  // An unknown passkey and a wrong signature get the same error.
  post("signInWithPasskey", "/api/session/passkey", {
    summary: "Sign in with a passkey: sets the session cookie",
    access: "anyone",
    changesNothing: true,
    isAudited: true,
    body: PasskeySignInSchema,
    example: {
      credential: {
        id: BYTES,
        response: { clientDataJSON: BYTES, authenticatorData: BYTES, signature: BYTES, userHandle: BYTES },
      },
    },
    errors: [401, 403, 429],
    async handle(call, edge) {
      const used = { ...call.body(), address: call.request.ip };
      await openLogin(await edge.passkeys.signIn(used, siteOf(call, edge)), call, edge);
    },
  }),
];

/** A browser at another address than the public one would refuse, without a reason that helps. */
function siteOf({ request }: Pick<ApiCall, "request">, { settings }: OperatorContext): Site {
  const { origin } = new URL(publicOrigin(request, settings.server));
  const { origin: given = origin } = request.headers;
  if (given === origin) return { origin };
  throw new GatewayError("badRequest", TEXT.passkeysElsewhere(origin), { code: "passkeys_elsewhere" });
}

function signedInUser({ request: { identity } }: Pick<ApiCall, "request">): SignedIn {
  if (identity?.kind === "user") return identity;
  throw new GatewayError("forbidden", TEXT.ownPasskeysOnly, { code: "no_session" });
}

function writePasskey({ id, name, host, createdAtMs, lastUsedAtMs }: Passkey): Shape<typeof PasskeySchema> {
  return { id, name, host, createdAt: isoTime(createdAtMs) as string, lastUsedAt: isoTime(lastUsedAtMs) };
}
