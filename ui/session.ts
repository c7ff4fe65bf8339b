// The session: who is signed in, and what the gateway says about itself.

import { signal } from "@preact/signals";
import { type ApiError, call, forgetResponses, isSignedOut } from "./api.ts";

/** The signed-in user. An owner sees one account, an operator all of them. */
interface User {
  readonly id: string;
  readonly email: string;
  readonly role: string;
  readonly accountId?: string | null;
}

/** What `GET /api/session` answers, also without a user. */
interface Session {
  readonly user: User | null;
  /** No operator exists yet: the one-time link creates the first one. */
  readonly setupNeeded: boolean;
  /** No provider is configured, and the built-in one simulates responses. */
  readonly sandbox: boolean;
  readonly version: string;
}

/** Null until the first response. */
export const session = signal<Session | null>(null);
/** Set where the gateway did not answer: then there is nothing to show but this. */
export const sessionError = signal<ApiError | null>(null);

export async function loadSession(): Promise<void> {
  try {
    session.value = await call<Session>("GET", "/api/session");
    sessionError.value = null;
    isSignedOut.value = false;
  } catch (error) {
    sessionError.value = error as ApiError;
  }
}

/** Rejects with the reason where the password is wrong. */
export async function signIn(email: string, password: string): Promise<void> {
  await call("POST", "/api/session", { body: { email, password } });
  await loadSession();
}

/** Creates the first operator with the token of the one-time link. */
export async function setUp(token: string, email: string, password: string): Promise<void> {
  await call("POST", "/api/setup", { body: { token, email, password } });
  await loadSession();
}

/** The next user must not see what this one read. */
export async function signOut(): Promise<void> {
  await call("DELETE", "/api/session");
  forgetResponses();
  await loadSession();
}

/** Only hides what the server would reject anyway; the server checks for itself. */
export function isOperator(): boolean {
  return session.value?.user?.role === "operator";
}
