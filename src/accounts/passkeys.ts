// Passkeys (WebAuthn): people add them with their password, and sign in without it. The library that checks what an
// authenticator sends is loaded with its first use.

import { randomBytes } from "node:crypto";
import { isIP } from "node:net";
import { GatewayError } from "../core/errors.ts";
import type { Log } from "../core/log.ts";
import { checkedName } from "../core/names.ts";
import { hasPassword, type Passkey, type PasskeyChallengeStore, type PasskeyStore, type User } from "../core/people.ts";
import { UniqueViolation } from "../core/store-errors.ts";
import type { SignInAttempt, SignInLimit, SignInLimiter } from "./limits/sign-ins.ts";
import { networkOf } from "./limits/wrong-keys.ts";
import type { SignedIn } from "./logins.ts";
import { hashToken, makeToken } from "./token.ts";
import { addressLimit, tooManyAttempts, type Users } from "./users.ts";

export interface Passkeys {
  /** Throws where the password is wrong. */
  beginAdding(signedIn: SignedIn, password: string, site: Site): Promise<NewPasskeyOptions>;
  add(user: User, made: MadePasskey, site: Site): Promise<Passkey>;
  ofUser(user: User): Promise<readonly Passkey[]>;
  /** False when the user has no such passkey. */
  remove(user: User, id: string): Promise<boolean>;
  beginSignIn(address: string, site: Site): Promise<PasskeySignInOptions>;
  /** Throws the same error for an unknown passkey and for a wrong signature. */
  signIn(used: UsedPasskey, site: Site): Promise<User>;
}

/** The dashboard as browsers know it. A passkey is for its host name. */
export interface Site {
  /** Such as `https://llm.example.com`. */
  readonly origin: string;
}

/** Options for `navigator.credentials.create`, in the JSON form of the standard. */
interface NewPasskeyOptions {
  readonly challenge: string;
  readonly rp: { readonly id: string; readonly name: string };
  readonly user: { readonly id: string; readonly name: string; readonly displayName: string };
  readonly pubKeyCredParams: readonly { readonly type: string; readonly alg: number }[];
  /** Credentials that the user has here already. */
  readonly excludeCredentials: readonly { readonly type: string; readonly id: string }[];
  readonly authenticatorSelection: { readonly residentKey: string; readonly userVerification: string };
  readonly attestation: string;
  readonly timeout: number;
}

/** Options for `navigator.credentials.get`, in the JSON form of the standard. */
interface PasskeySignInOptions {
  readonly challenge: string;
  readonly rpId: string;
  readonly userVerification: string;
  readonly timeout: number;
}

/** A key pair that an authenticator made, as browsers write it: bytes are base64url. */
interface MadePasskey {
  readonly name: string;
  readonly credential: {
    readonly id: string;
    readonly response: { readonly clientDataJSON: string; readonly attestationObject: string };
  };
}

/** A signature of an authenticator and what it signs, in the same form. */
interface UsedPasskey {
  readonly credential: {
    readonly id: string;
    readonly response: {
      readonly clientDataJSON: string;
      readonly authenticatorData: string;
      readonly signature: string;
      readonly userHandle: string;
    };
  };
  /** The network address that it comes from. */
  readonly address: string;
}

export interface PasskeysOptions {
  readonly store: PasskeyStore;
  readonly challenges: PasskeyChallengeStore;
  readonly users: Pick<Users, "confirm">;
  readonly limiter: SignInLimiter;
  readonly log: Log;
  readonly now?: () => number;
}

const CHALLENGE_MS = 5 * 60_000;
/** Sign-ins begun from one network address within five minutes. A whole office may share it. */
const BEGUN_MAX = 1_000;
const PASSKEYS_MAX = 20;
/** EdDSA, ES256, RS256: what authenticators have. */
const ALGORITHMS = [-8, -7, -257];

export function createPasskeys(options: PasskeysOptions): Passkeys {
  const now = options.now ?? Date.now;
  const { store, challenges } = options;
  const context: PasskeyContext = {
    ...options,
    now,
    check: createCheck(challenges, now),
    challengeFor: async (userId) => {
      const challenge = makeToken();
      const atMs = now();
      await challenges.insert({ hash: hashToken(challenge) as string, userId, expiresAtMs: atMs + CHALLENGE_MS }, atMs);
      return challenge;
    },
  };
  return {
    ...addingOf(context),
    ofUser: ({ id }) => store.ofUser(id),
    remove: ({ id: userId }, id) => store.delete(userId, id),
    ...signInOf(context),
  };
}

interface PasskeyContext extends Required<PasskeysOptions> {
  readonly check: ReturnType<typeof createCheck>;
  /** A new challenge for a passkey of this user; for a sign-in of somebody without one. */
  challengeFor(userId: string | null): Promise<string>;
}

function addingOf(context: PasskeyContext): Pick<Passkeys, "beginAdding" | "add"> {
  const { store, users, check, now, challengeFor } = context;
  return {
    beginAdding: async ({ user, login }, password, site) => {
      const host = hostOf(site);
      if (!hasPassword(user.passwordHash)) throw identityProviderOnly();
      await users.confirm({ user, login }, password);
      const known = await store.ofUser(user.id);
      if (known.length >= PASSKEYS_MAX) throw tooMany();
      const here = known.filter((passkey) => passkey.host === host);
      return {
        challenge: await challengeFor(user.id),
        rp: { id: host, name: "Switchyard" },
        user: { id: handleOf(user), name: user.email, displayName: user.email },
        pubKeyCredParams: ALGORITHMS.map((alg) => ({ type: "public-key", alg })),
        excludeCredentials: here.map(({ credentialId }) => ({ type: "public-key", id: credentialId })),
        authenticatorSelection: { residentKey: "required", userVerification: "required" },
        attestation: "none",
        timeout: CHALLENGE_MS,
      };
    },
    add: async (user, made, site) => {
      const host = hostOf(site);
      const checked = await check.made(made, { userId: user.id, host, origin: site.origin });
      if ("problem" in checked) throw notAccepted(checked.problem);
      const passkey: Passkey = {
        ...{
          id: `passkey_${randomBytes(12).toString("hex")}`,
          userId: user.id,
          name: checkedName("A passkey", made.name),
          host,
        },
        ...{ credentialId: made.credential.id, ...checked, createdAtMs: now(), lastUsedAtMs: null },
      };
      const isInserted = await store.insert(passkey, user.passwordHash).catch((error: unknown) => {
        throw error instanceof UniqueViolation ? knownAlready() : error;
      });
      if (isInserted) return passkey;
      throw notAccepted("the password was changed meanwhile");
    },
  };
}

function signInOf(context: PasskeyContext): Pick<Passkeys, "beginSignIn" | "signIn"> {
  const { store, limiter, check, log, now, challengeFor } = context;
  const begin = async (limit: SignInLimit): Promise<SignInAttempt> => {
    const attempt = await limiter.begin([limit]);
    if (attempt.waitSeconds > 0) throw tooManyAttempts(attempt.waitSeconds);
    return attempt;
  };
  return {
    beginSignIn: async (address, site) => {
      const host = hostOf(site);
      await begin({ name: `passkeys ${networkOf(address)}`, most: BEGUN_MAX });
      return { challenge: await challengeFor(null), rpId: host, userVerification: "required", timeout: CHALLENGE_MS };
    },
    signIn: async (used, site) => {
      const host = hostOf(site);
      const attempt = await begin(addressLimit(used.address));
      const found = await store.find(used.credential.id);
      const checked = await check.used(used, { found, host, origin: site.origin });
      const isUsed = !("problem" in checked) && (await store.noteUse(checked.passkey.id, checked.counter, now()));
      if (isUsed) {
        attempt.succeeded();
        return checked.user;
      }
      const reason = "problem" in checked ? checked.problem : "its counter went back, so it may have been copied";
      log.warn({ event: "passkey.refused", passkey: found?.passkey.id, reason }, "passkey refused");
      throw refused();
    },
  };
}

/** Says why something was refused: to its owner for a new passkey, and else to the log. */
interface Refused {
  readonly problem: string;
}

interface CheckedUse {
  readonly passkey: Passkey;
  readonly user: User;
  readonly counter: number;
}

interface Expected {
  readonly host: string;
  readonly origin: string;
}

/** Checks of what authenticators send. Each uses up the challenge first, so that nothing is tried twice with it. */
function createCheck(challenges: PasskeyChallengeStore, now: () => number) {
  /** Returns the challenge that was signed if it was made for this user, or for a sign-in. */
  async function take(clientData: string, userId: string | null): Promise<string | Refused> {
    const { challenge, isInFrame } = readClientData(clientData);
    const hash = challenge === null ? null : hashToken(challenge);
    const taken = hash === null ? null : await challenges.take(hash);
    if (challenge === null || taken === null || taken.userId !== userId || taken.expiresAtMs <= now()) {
      return { problem: "the challenge is unknown, used or expired" };
    }
    return isInFrame ? { problem: "it was used inside of a page of another site" } : challenge;
  }

  return {
    async made(
      { credential: { id, response } }: Pick<MadePasskey, "credential">,
      { userId, host, origin }: Expected & { readonly userId: string },
    ): Promise<Pick<Passkey, "publicKey" | "counter"> | Refused> {
      const challenge = await take(response.clientDataJSON, userId);
      if (typeof challenge !== "string") return challenge;
      const { verifyRegistrationResponse } = await import("@simplewebauthn/server");
      return orProblem(async () => {
        await requireNoCertificate(response.attestationObject);
        const { verified, registrationInfo } = await verifyRegistrationResponse({
          response: { ...shapeOf(id), response },
          ...{ expectedChallenge: challenge, expectedOrigin: origin, expectedRPID: host },
          supportedAlgorithmIDs: ALGORITHMS,
          requireUserVerification: true,
        });
        if (!verified || registrationInfo.credential.id !== id) return { problem: "the statement is not right" };
        const { publicKey, counter } = registrationInfo.credential;
        return { publicKey: Buffer.from(publicKey).toString("base64url"), counter };
      });
    },
    async used(
      { credential: { id, response } }: Pick<UsedPasskey, "credential">,
      { found, host, origin }: Expected & { readonly found: Awaited<ReturnType<PasskeyStore["find"]>> },
    ): Promise<CheckedUse | Refused> {
      const challenge = await take(response.clientDataJSON, null);
      if (typeof challenge !== "string") return challenge;
      if (found === null) return { problem: "the passkey is unknown" };
      const { passkey, user } = found;
      if (response.userHandle !== handleOf(user)) return { problem: "it names another user" };
      if (!hasPassword(user.passwordHash)) return { problem: "the user signs in with an identity provider alone" };
      const { verifyAuthenticationResponse } = await import("@simplewebauthn/server");
      return orProblem(async () => {
        const publicKey = new Uint8Array(Buffer.from(passkey.publicKey, "base64url"));
        const { verified, authenticationInfo } = await verifyAuthenticationResponse({
          response: { ...shapeOf(id), response },
          ...{ expectedChallenge: challenge, expectedOrigin: origin, expectedRPID: host },
          credential: { id, publicKey, counter: passkey.counter },
          requireUserVerification: true,
        });
        return verified
          ? { passkey, user, counter: authenticationInfo.newCounter }
          : { problem: "the signature is wrong" };
      });
    },
  };
}

/** Fields around the response that the library asks for. */
function shapeOf(id: string) {
  return { id, rawId: id, type: "public-key", clientExtensionResults: {} } as const;
}

/** The library throws for everything that is not as expected. */
async function orProblem<Checked>(verify: () => Promise<Checked>): Promise<Checked | Refused> {
  try {
    return await verify();
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) };
  }
}

/** Reads what nothing depends on yet: the library compares the whole. */
function readClientData(clientData: string): { readonly challenge: string | null; readonly isInFrame: boolean } {
  try {
    const { challenge, crossOrigin } = JSON.parse(Buffer.from(clientData, "base64url").toString("utf8"));
    return { challenge: typeof challenge === "string" ? challenge : null, isInFrame: crossOrigin === true };
  } catch {
    return { challenge: null, isInFrame: false };
  }
}

/**
 * Refuses statements with certificates. None was asked for, and the library would read lists of revoked ones from
 * addresses that the certificate names.
 */
async function requireNoCertificate(attestation: string): Promise<void> {
  const { decodeAttestationObject } = await import("@simplewebauthn/server/helpers");
  const statement = decodeAttestationObject(new Uint8Array(Buffer.from(attestation, "base64url")));
  const format = statement.get("fmt");
  const isOwn = format === "packed" && statement.get("attStmt").get("x5c") === undefined;
  if (format !== "none" && !isOwn) throw new Error("it brings a certificate, which was not asked for");
}

/** The user as authenticators know them. An id of ours tells nothing about a person. */
function handleOf({ id }: User): string {
  return Buffer.from(id).toString("base64url");
}

function hostOf({ origin }: Site): string {
  const host = new URL(origin).hostname;
  if (isIP(host.replace(/^\[|\]$/g, "")) === 0) return host;
  const message =
    "Passkeys need a host name. Open the dashboard by its name, such as http://localhost, or set server.publicUrl.";
  throw new GatewayError("badRequest", message, { code: "passkeys_need_name" });
}

function identityProviderOnly(): GatewayError {
  const message = "You sign in with an identity provider, which has passkeys of its own.";
  return new GatewayError("conflict", message, { code: "no_password" });
}

function tooMany(): GatewayError {
  return new GatewayError("conflict", `You have ${PASSKEYS_MAX} passkeys. Remove one first.`, {
    code: "too_many_passkeys",
  });
}

function knownAlready(): GatewayError {
  return new GatewayError("conflict", "This passkey has been added already.", { code: "passkey_exists" });
}

function notAccepted(reason: string): GatewayError {
  return new GatewayError("badRequest", `The passkey was not accepted: ${reason}. Add it again.`, {
    code: "passkey_not_accepted",
  });
}

function refused(): GatewayError {
  const message = "This passkey was not accepted. Try again, or sign in with your password.";
  return new GatewayError("unauthenticated", message, { code: "wrong_passkey" });
}
