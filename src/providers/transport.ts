// The port to a provider: a request goes out, a reply comes back whose body is read piece by piece. The network and the
// sandbox both implement it.

import type { Socket } from "node:net";
import type { CancelSignal } from "../core/cancellation.ts";
import type { BytePieces } from "../formats/json/byte-pieces.ts";
import type { FormBody } from "../formats/media/upload.ts";

/** A request without the provider's address and key, which the transport adds. */
export interface TransportRequest {
  /** POST when left out; a GET has no body. */
  readonly method?: "GET";
  readonly path: string;
  /** The model as the provider names it, for addresses that hold it. */
  readonly model?: string;
  readonly body: Buffer | BytePieces | FormBody;
  /** Headers that belong to the provider's format, where it has any. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly isStream: boolean;
  /** Id of the key that the request is sent with; the first key if left out. */
  readonly keyId?: string | undefined;
  /** Time in which the answer must begin, if shorter than the provider's own limit. */
  readonly beginsWithinMs?: number;
  /** Aborted when the client leaves; the call is then given up at once. */
  readonly signal: CancelSignal;
}

/** No reply, or one that broke; statuses are no failures here. */
export interface TransportFailure {
  readonly kind: "connect" | "timeout" | "broken" | "client-gone";
  readonly message: string;
}

export type Reply =
  | { readonly ok: true; readonly status: number; readonly headers: ReplyHeaders; readonly body: ReplyBody }
  | { readonly ok: false; readonly failure: TransportFailure };

export type ReplyHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** Read piece by piece, at the reader's pace. */
export interface ReplyBody {
  /** The next bytes where they are here already; undefined where `read` has to wait for them, and null at the end. */
  tryRead(): Buffer | null | undefined;
  /** The next bytes; null at the end. Check `failure` then: a body can also end because it broke. */
  read(): Promise<Buffer | null>;
  readonly failure: TransportFailure | null;
  /** Tells the timer that an event was understood, which ends the wait for the first one. */
  eventSeen(): void;
  /** Says if the answer gets a moment to end after its client disconnects, because its usage is still to come. */
  lingers(isEndInSight: boolean): void;
  /** Gives the rest up and closes the connection. */
  cancel(): void;
  /** Nothing more is wanted: what still comes is thrown away, and the connection is kept if the body ends in a moment. */
  release(): void;
}

/** A connection that speaks WebSocket from now on, or the reason why there is none. A refusal has its body. */
export type Upgraded =
  | { readonly ok: true; readonly socket: Socket }
  | { readonly ok: false; readonly failure: TransportFailure }
  | { readonly ok: false; readonly status: number; readonly headers: ReplyHeaders; readonly body: Buffer };

/** One connection pool, or the sandbox. */
export interface Transport {
  send(request: TransportRequest): Promise<Reply>;
  /** Opens a WebSocket. Absent where the provider has none. */
  openSocket?(request: Pick<TransportRequest, "path" | "model" | "keyId">): Promise<Upgraded>;
  /** Counts the calls under way, streams until their end. */
  inFlight(): number;
  /** Ends what is under way. */
  close(): Promise<void>;
  /** Takes no new calls, and closes once those under way have ended. */
  retire(): Promise<void>;
}
