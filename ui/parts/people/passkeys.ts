// Passkeys as the browser makes and uses them. Bytes travel as base64url.

import { ApiError, call } from "../../api.ts";
import type { NewPasskeyOptions, Passkey, PasskeySignInOptions } from "../../types.ts";
import * as TEXT from "../text.ts";

/** Browsers have passkeys over HTTPS and on localhost, for sites with a name. */
export function canUsePasskeys(): boolean {
  return "PublicKeyCredential" in window && !/^\[|^[\d.]+$/.test(location.hostname);
}

/** Rejects with an ApiError, also where the browser refuses. */
export async function addPasskey(name: string, password: string): Promise<Passkey> {
  const options = await call<NewPasskeyOptions>("POST", "/api/session/passkeys/options", {
    body: { password },
    isQuestion: true,
  });
  const { host, algorithms, known, userId, userName } = options;
  const { id, response } = await asked(options, (challenge) =>
    navigator.credentials.create({
      publicKey: {
        ...{ challenge, rp: { id: host, name: TEXT.switchyard }, timeout: options.timeoutMs, attestation: "none" },
        user: { id: toBytes(userId), name: userName, displayName: userName },
        pubKeyCredParams: algorithms.map((alg) => ({ type: "public-key", alg })),
        excludeCredentials: known.map((credential) => ({ type: "public-key", id: toBytes(credential) })),
        authenticatorSelection: { residentKey: "required", requireResidentKey: true, userVerification: "required" },
      },
    }),
  );
  const { clientDataJSON, attestationObject } = response as AuthenticatorAttestationResponse;
  return call<Passkey>("POST", "/api/session/passkeys", {
    body: { name, credentialId: id, clientData: toText(clientDataJSON), attestation: toText(attestationObject) },
  });
}

/** Rejects with an ApiError, also where the browser refuses. The session begins with the response. */
export async function signInWithPasskey(): Promise<void> {
  const options = await call<PasskeySignInOptions>("POST", "/api/session/passkey/options", { isQuestion: true });
  const { id, response } = await asked(options, (challenge) =>
    navigator.credentials.get({
      publicKey: { challenge, rpId: options.host, userVerification: "required", timeout: options.timeoutMs },
    }),
  );
  const { clientDataJSON, authenticatorData, signature, userHandle } = response as AuthenticatorAssertionResponse;
  const body = {
    credentialId: id,
    clientData: toText(clientDataJSON),
    authenticatorData: toText(authenticatorData),
    signature: toText(signature),
    userHandle: toText(userHandle ?? new ArrayBuffer(0)),
  };
  await call("POST", "/api/session/passkey", { body });
}

type AskBrowser = (challenge: Uint8Array<ArrayBuffer>) => Promise<Credential | null>;

async function asked({ challenge, host }: PasskeySignInOptions, ask: AskBrowser): Promise<PublicKeyCredential> {
  try {
    return (await ask(toBytes(challenge))) as PublicKeyCredential;
  } catch (error) {
    const { name } = error as DOMException;
    const message =
      name === "InvalidStateError"
        ? TEXT.passkeyKnown
        : name === "SecurityError"
          ? TEXT.passkeyElsewhere(host)
          : TEXT.passkeyCancelled;
    throw new ApiError(message, { status: 400, code: name });
  }
}

function toBytes(text: string): Uint8Array<ArrayBuffer> {
  const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(binary, (character) => character.charCodeAt(0));
}

function toText(bytes: ArrayBuffer): string {
  const binary = String.fromCharCode(...new Uint8Array(bytes));
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}
