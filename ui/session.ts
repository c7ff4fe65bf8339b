// Who is signed in, and what the gateway says of itself.

import { signal } from "@preact/signals";
import { type ApiError, call, forgetResponses, isSignedOut } from "./api.ts";

export interface User {
  readonly id: string;
  readonly email: string;
  readonly role: string;
  readonly accountId?: string | null;
}

export interface Session {
  readonly user: User | null;
  readonly setupNeeded: boolean;
  readonly sandbox: boolean;
  readonly version: string;
}

export const session = signal<Session | null>(null);
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

export async function signIn(email: string, password: string): Promise<void> {
  await call("POST", "/api/session", { body: { email, password } });
  await loadSession();
}

export async function setUp(token: string, email: string, password: string): Promise<void> {
  await call("POST", "/api/setup", { body: { token, email, password } });
  await loadSession();
}

export async function signOut(): Promise<void> {
  await call("DELETE", "/api/session");
  forgetResponses();
  await loadSession();
}

export function isOperator(): boolean {
  return session.value?.user?.role === "operator";
}
