// Passkeys as the browser makes and uses them. Options and credentials travel in the JSON form of the standard.

import { ApiError, call } from "../../api.ts";
import type { NewPasskeyOptions, PasskeySignInOptions } from "../../types.ts";
import * as TEXT from "../text.ts";

/** Browsers have passkeys over HTTPS and on localhost, for sites with a name. */
export function canUsePasskeys(): boolean {
  return (
    window.PublicKeyCredential?.parseCreationOptionsFromJSON !== undefined && !/^\[|^[\d.]+$/.test(location.hostname)
  );
}

/** Rejects with an ApiError, also where the browser refuses. */
export async function addPasskey(name: string, password: string): Promise<void> {
  const body = { password };
  const options = await call<NewPasskeyOptions>("POST", "/api/session/passkeys/options", { body, isQuestion: true });
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options as PublicKeyCredentialCreationOptionsJSON);
  const credential = await orRefusal(navigator.credentials.create({ publicKey }));
  await call("POST", "/api/session/passkeys", { body: { name, credential } });
}

/** Rejects with an ApiError, also where the browser refuses. The session begins with the response. */
export async function signInWithPasskey(): Promise<void> {
  const options = await call<PasskeySignInOptions>("POST", "/api/session/passkey/options", { isQuestion: true });
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options);
  const credential = await orRefusal(navigator.credentials.get({ publicKey }));
  await call("POST", "/api/session/passkey", { body: { credential } });
}

function orRefusal(asked: Promise<Credential | null>): Promise<Credential | null> {
  return asked.catch(({ name }: DOMException) => {
    const isKnown = name === "InvalidStateError";
    throw new ApiError(isKnown ? TEXT.passkeyKnown : TEXT.passkeyCancelled, { status: 400 });
  });
}
