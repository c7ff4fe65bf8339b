// One call through the gateway: its input from http/, and the observer of its progress.

import type { Profile, Team } from "../core/accounts.ts";
import type { NativeAnswer } from "../core/batches/batches.ts";
import type { CallReport } from "../core/call-report.ts";
import type { CancelSignal } from "../core/cancellation.ts";
import type { Usage } from "../core/chat.ts";
import type { KeyRecord } from "../core/keys.ts";
import type { CallFormat, ClientHeaders, ClientRequest, StreamWriter } from "../formats/format.ts";
import type { ReadPrompt } from "../routing/sessions/prefix.ts";
import type { TraceContext } from "../telemetry/trace-context.ts";

export interface Caller {
  readonly key: KeyRecord;
  readonly profile: Profile | null;
  /** The key's team and the team around it: their bounds and budgets hold. */
  readonly teams: readonly Team[];
}

export interface Call {
  readonly requestId: string;
  readonly format: CallFormat;
  readonly request: ClientRequest;
  /** The monotonic time at which the whole request was here: time that a slow client took before is not ours. */
  readonly receivedAt: number;
  /** The body as it was sent, before any history was added. */
  readonly sentBytes: Buffer;
  readonly caller: Caller;
  /** Headers as the client sent them. A session may be named in one of them. */
  readonly headers?: ClientHeaders;
  /** Aborted when the client disconnects. */
  readonly signal: CancelSignal;
  /** Parts of the response that the report should contain. Only captured text may be quoted by log lines. */
  readonly captures: { readonly text: boolean; readonly metadata: boolean };
  /** True when the answer will be compared with another model's, or goes into a span: the report needs all of it. */
  readonly needsAnswer?: boolean;
  /** The request's place in a trace; null where no traces are exported. */
  readonly traceContext: TraceContext | null;
  readonly observer: CallObserver;
  /** The id under which the response is kept for a repeated request; null when the client sent no Idempotency-Key. */
  readonly idempotencyId: string | null;
  /** The stored state of the response; null where nothing is stored for later turns. */
  readonly state: CallState | null;
  /** Names the next hold of a line of a batch, so that no other run of the line can be charged. Absent for other calls. */
  readonly nextHoldId?: () => Promise<string>;
  /** The answer of a host to which a line of a batch was sent: nobody is called any more. Absent for other calls. */
  readonly native?: NativeAnswer;
  /** Read once, for the decision and for what is remembered of it. */
  prompt?: ReadPrompt;
}

/** The stored part of a response, in formats whose clients continue a response by its id. */
export interface CallState {
  /** The id of the response without its prefix. */
  readonly answerId: string;
  /** Set for a response that only its connection holds. */
  readonly isHeld?: true;
  /** Stores a whole response, and resolves to what the client is sent. Never rejects. */
  keepWhole(bytes: Buffer): Promise<Buffer>;
  /** The same writer, without what only later turns may see. */
  watching(writer: StreamWriter): StreamWriter;
  /** Does the same as `keepWhole` with the text that ends a stream. `usage` is that of the whole answer. */
  keepClosing(text: string, usage: Usage): Promise<string>;
}

/** Told as the call goes on, so that the edge can take times and free the call's place in the queue. */
export interface CallObserver {
  routing(): void;
  routed(): void;
  /** The gateway's own work before a provider is done. */
  reserved(): void;
  /** The first content of a stream, or a whole response, has arrived. */
  answered(): void;
  /** The response, or the beginning of a stream, is ready for the client. */
  ready(): void;
  /** The first text of a stream was handed to the client's connection. */
  begun(): void;
  /** The provider's stream is over, however it ended. */
  streamEnded(): void;
  /** Takes what no client waits for, to do it once the response is sent. */
  afterwards(work: () => void): void;
  /** Called exactly once, before the end of the response is sent. */
  ended(report: CallReport): void;
}

/** The event that ended the call. `error`: an error was sent in place of a response. */
export type LastEvent = "finished" | "replayed" | "disconnected" | "stream-broken" | "our-fault" | "error";
