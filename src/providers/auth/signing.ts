// Sends a request whose sign-in is made for it: a signature, or a token that may have to be fetched first. The wait for
// it counts as part of the wait for the answer.

import type { CancelSignal } from "../../core/cancellation.ts";
import type { Reply, TransportFailure, TransportRequest } from "../transport.ts";
import type { Auth, AuthHeaders, UnsignedRequest } from "./auth.ts";

interface Signing {
  readonly auth: Extract<Auth, { form: "each" }>;
  readonly unsigned: UnsignedRequest;
  /** Time in which an answer must begin. */
  readonly withinMs: number;
  send(request: TransportRequest, headers: AuthHeaders): Promise<Reply>;
}

/** Once more after a 401, where the scheme can have other credentials by then. */
export async function sendSigned(request: TransportRequest, signing: Signing): Promise<Reply> {
  const { auth, unsigned, withinMs, send } = signing;
  const startedAtMs = performance.now();
  let refused: AuthHeaders | null = null;
  for (;;) {
    const leftMs = (): number => withinMs - (performance.now() - startedAtMs);
    const made = await settled(auth.headersFor, { unsigned, refused, leftMs: leftMs(), signal: request.signal });
    if (!made.ok) return made;
    const beginsWithinMs = leftMs();
    const reply = await send({ ...request, beginsWithinMs }, { ...unsigned.headers, ...made.headers });
    const isRefused: boolean = reply.ok && reply.status === 401 && auth.isRenewable && refused === null;
    if (!reply.ok || !isRefused) return reply;
    reply.body.release();
    refused = made.headers;
  }
}

interface Wait {
  readonly unsigned: UnsignedRequest;
  readonly refused: AuthHeaders | null;
  readonly leftMs: number;
  readonly signal: CancelSignal;
}

type Made = { readonly ok: true; readonly headers: AuthHeaders } | Extract<Reply, { ok: false }>;

/** The headers, or why there are none. Nobody is waited for after the client has left or the time is up. */
function settled(
  headersFor: Signing["auth"]["headersFor"],
  { unsigned, refused, leftMs, signal }: Wait,
): Promise<Made> {
  return new Promise((resolve) => {
    const end = (made: Made): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
      resolve(made);
    };
    const fail = (kind: TransportFailure["kind"], message: string): void =>
      end({ ok: false, failure: { kind, message } });
    const onAbort = (): void => fail("client-gone", "the client has gone");
    const timer = setTimeout(() => fail("timeout", "signing in to the provider took too long"), Math.max(1, leftMs));
    signal.addEventListener("abort", onAbort);
    Promise.resolve()
      .then(() => headersFor(unsigned, refused))
      .then((headers) => end({ ok: true, headers }))
      .catch((error: Error) => fail("connect", `signing in to the provider failed: ${error.message}`));
  });
}
