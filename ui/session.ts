// The session: who is signed in, and what the gateway says about itself.

import { DASHBOARD_PAGES } from "../src/http/pages/dashboard-pages.ts";
import { type ApiError, call, forgetResponses, isSignedOut } from "./api.ts";
import { advanceRange } from "./range.ts";
import { place } from "./router.ts";
import { signal } from "./signal.ts";
import type { Session, SignedOut } from "./types.ts";

/** Session of the user; null until the first response. */
export const session = signal<Session | null>(null);
/** Error of a gateway that did not answer. While it is set, there is nothing to show but this error. */
export const sessionError = signal<ApiError | null>(null);

export async function loadSession(): Promise<void> {
  try {
    const read = await call<Session>("GET", "/api/session");
    // The response told the gateway's time, which ranges are counted from.
    advanceRange();
    session.value = read;
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

/** The next user must not see what this one read. Somebody who came from an identity provider is signed out there too. */
export async function signOut(): Promise<void> {
  const { url } = await call<SignedOut>("POST", "/api/session/end");
  forgetResponses();
  if (url === null) await loadSession();
  else location.assign(url);
}

/** A command as it is typed on the server, such as `npm start -- route` in a clone. */
export function serverCommand(args: string): string {
  return `${session.value?.commandPrefix ?? "switchyard"} ${args}`;
}

/** Tells whether the user's role allows this. Like `isOperator`, it only hides what the server would reject anyway. */
export function may(permission: string): boolean {
  return session.value?.user?.permissions.includes(permission) === true;
}

/** The pages that the user may open. */
export function openPages(): readonly (typeof DASHBOARD_PAGES)[number][] {
  return DASHBOARD_PAGES.filter((page) => !("needs" in page) || may(page.needs));
}

/** The account that is shown: the one that the operator chose, or the user's own. */
export function shownAccount(): string {
  return place.value.query.get("account") ?? session.value?.user?.accountId ?? "default";
}

/** Tells whether the user is an operator. This only hides what the server would reject anyway. */
export function isOperator(): boolean {
  return session.value?.user?.role === "operator";
}
