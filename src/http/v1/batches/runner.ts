// Runs the lines of batches: each is a request of its own, which passes through the server inside the process with the key
// of its batch. Lines run behind live traffic and never take its last places.

import type { IncomingMessage, Server } from "node:http";
import { text } from "node:stream/consumers";
import type { FastifyInstance } from "fastify";
import type { ClaimedLine, LineResult, RunEnd } from "../../../core/batches/batches.ts";
import { GatewayError } from "../../../core/errors.ts";
import { MESSAGE_HEADERS, MESSAGES_PATH } from "../../../formats/endpoints/batches.ts";
import { MAX_COST_HEADER } from "../../../gateway/reserve.ts";
import type { PublicContext } from "../../context.ts";
import { chargeOf, requestInside } from "../../exchange/inner-socket.ts";
import type { RequestQueue } from "../../overload/queue.ts";
import * as TEXT from "../../text.ts";
import { bodyOfLine } from "./lines.ts";
import { runNative } from "./native.ts";

const TICK_MS = 500;
const KEEP_UP_MS = 2_000;
/** Live requests may have so many of the places of a process without a line taking another one. */
const BUSY_SHARE = 0.5;
/** A line that a provider fails is tried this often. */
const ATTEMPTS_MAX = 10;
const NATIVE_ATTEMPTS_MAX = 4;
const RETRY_MS = 2_000;
const RETRY_MS_MAX = 60_000;
const UNAUTHENTICATED = 401;

type RunnerContext = Pick<
  PublicContext,
  "batches" | "keys" | "live" | "openCalls" | "log" | "now" | "formats" | "services" | "state" | "settings"
>;

export function runBatches(server: FastifyInstance, edge: RunnerContext, queue: Pick<RequestQueue, "length">): void {
  const runner = createRunner(server.server, edge, queue);
  server.addHook("onListen", async () => runner.start());
  server.addHook("preClose", async () => runner.stop());
}

/** Looks at hosts beside the lines, because hosts take their time. One look follows the other. */
function createHostLook(edge: RunnerContext, warn: (err: unknown) => void): () => void {
  let isLooking = false;
  return () => {
    if (isLooking) return;
    isLooking = true;
    void runNative(edge)
      .catch(warn)
      .finally(() => (isLooking = false));
  };
}

function createRunner(server: Server, edge: RunnerContext, queue: Pick<RequestQueue, "length">) {
  const { batches, log, now } = edge;
  const warn = (err: unknown): void => log.warn({ event: "batches.failed", err }, "a batch could not go on; retrying");
  const lookAtHosts = createHostLook(edge, warn);
  let running = 0;
  let isStopped = false;
  let isLooking = false;
  let keptUpAtMs = 0;
  const resting = new Map<string, number>();
  let timer: NodeJS.Timeout | null = null;
  const room = (): number =>
    isStopped || queue.length() > 0 || isBusy(edge, running) ? 0 : batches.concurrency - running;

  async function run(line: ClaimedLine): Promise<void> {
    const { result, cost, later } = await ask(line, server, edge);
    if (later === "never") return batches.queue.stop(line);
    if (later === null) return batches.queue.finish(line, result, cost);
    const { waitMs, isForAll, isCounted, end } = later;
    const notBeforeMs = now() + waitMs;
    if (isForAll) resting.set(line.batch.id, notBeforeMs);
    await batches.queue.retry(line, { notBeforeMs, isCounted, end });
  }

  async function look(): Promise<void> {
    if (now() - keptUpAtMs >= KEEP_UP_MS) {
      keptUpAtMs = now();
      await batches.queue.keepUp(now());
      if (!isStopped) lookAtHosts();
    }
    const free = room();
    if (free <= 0) return;
    for (const line of await batches.queue.claim(free, now(), restingAt(now(), resting))) {
      running += 1;
      void run(line)
        .catch(warn)
        .finally(() => {
          running -= 1;
          wake();
        });
    }
  }

  function wake(): void {
    if (isLooking || isStopped) return;
    isLooking = true;
    void look()
      .catch(warn)
      .finally(() => (isLooking = false));
  }

  const start = (): void => {
    if (batches.concurrency > 0) timer = setInterval(wake, TICK_MS).unref();
  };
  const stop = (): void => {
    isStopped = true;
    if (timer !== null) clearInterval(timer);
  };
  return { start, stop };
}

/** Live requests have so many places that lines take no more. */
function isBusy({ openCalls, live }: RunnerContext, running: number): boolean {
  return openCalls.count() - running > live().limits.inFlight * BUSY_SHARE;
}

/** Batches whose next lines would be refused as well, of those that are noted with the end of their rest. */
function restingAt(nowMs: number, resting: Map<string, number>): readonly string[] {
  for (const [id, untilMs] of resting) if (untilMs <= nowMs) resting.delete(id);
  return [...resting.keys()];
}

interface LineAnswer {
  readonly result: LineResult;
  readonly cost: bigint;
  /** Stays null where the result is final. `never`: the line does not fit into what its batch may cost. */
  readonly later: Later | "never" | null;
}

interface Later {
  readonly waitMs: number;
  readonly isCounted: boolean;
  /** Holds for all lines of the batch. */
  readonly isForAll: boolean;
  readonly end: RunEnd;
}

/** Names the holds of a run, and tells whether one was asked for. Where an earlier run was charged, there are none. */
function createHoldNames(line: ClaimedLine, { queue }: Pick<RunnerContext["batches"], "queue">) {
  let names: Iterator<string> | null = null;
  return {
    next: async (): Promise<string> => {
      names ??= (await queue.holdIds(line)).values();
      const { value, done } = names.next();
      if (done !== true) return value;
      throw new GatewayError("unprocessable", TEXT.resultLost, { code: "result_lost" });
    },
    isBegun: () => names !== null,
  };
}

const INTERRUPTED: Later = { waitMs: RETRY_MS, isCounted: true, isForAll: false, end: "unknown" };

async function ask(line: ClaimedLine, server: Server, edge: Pick<RunnerContext, "keys" | "batches">) {
  try {
    return await askOnce(line, server, edge);
  } catch {
    // The server closes, the connection broke, or the database is away: nobody knows the result.
    return { ...failed(line, 503, "interrupted", "The request was interrupted."), later: INTERRUPTED };
  }
}

function failed({ batch, position }: ClaimedLine, status: number, code: string, message: string): LineAnswer {
  const error = { type: "invalid_request_error", code, message, param: null };
  const requestId = requestIdOf({ batch, position });
  return { result: { status, requestId, body: { type: "error", error } }, cost: 0n, later: null };
}

function requestIdOf({ batch, position }: Pick<ClaimedLine, "batch" | "position">): string {
  return `${batch.id}.${position}`;
}

async function askOnce(
  line: ClaimedLine,
  server: Server,
  { keys, batches }: Pick<RunnerContext, "keys" | "batches">,
): Promise<LineAnswer> {
  const { batch, request } = line;
  const requestId = requestIdOf(line);
  if (request === null) return failed(line, 422, "line_unreadable", "This request cannot be read any more.");
  const key = await keys.get(batch.accountId, batch.keyId);
  if (key === null || keys.verifyHash(key.hash).state !== "ok")
    return failed(line, UNAUTHENTICATED, "invalid_api_key", "The key of this batch is no longer valid.");
  const holds = createHoldNames(line, batches);
  const isMessages = batch.content.endpoint === MESSAGES_PATH;
  const origin = {
    remoteAddress: "127.0.0.1",
    remotePort: undefined,
    encrypted: false,
    holder: null,
    keyHash: key.hash,
    nextHoldId: holds.next,
    // An answer that cannot be used is given up.
    native: line.attempts > NATIVE_ATTEMPTS_MAX ? null : line.native,
  };
  const sent = requestInside(server, origin, {
    method: "POST",
    path: batch.content.endpoint,
    headers: {
      ...{ host: "127.0.0.1", "content-type": "application/json", "x-request-id": requestId },
      // Whatever dies, the same line is charged once.
      "idempotency-key": requestId,
      "x-tag-batch": batch.id,
      ...(isMessages ? MESSAGE_HEADERS : {}),
    },
    body: bodyOfLine(request),
  });
  try {
    const response = await new Promise<IncomingMessage>((resolve, reject) =>
      sent.on("response", resolve).on("error", reject),
    );
    const status = response.statusCode ?? 500;
    const body = JSON.parse(await text(response)) as LineResult["body"];
    return {
      result: { status, requestId, body },
      cost: chargeOf(sent),
      later: laterOf(response, line, holds.isBegun()),
    };
  } finally {
    sent.destroy();
  }
}

/** Returns null where a result is final. What passes by itself costs nothing, and is no attempt. */
function laterOf(
  { statusCode: status = 500, headers }: IncomingMessage,
  { attempts }: ClaimedLine,
  isBegun: boolean,
): LineAnswer["later"] {
  const told = headers["retry-after"];
  const pauseMs = told === undefined ? RETRY_MS * 2 ** Math.min(attempts, 5) : Number(told) * 1000;
  const waitMs = Math.min(RETRY_MS_MAX, Math.max(RETRY_MS, pauseMs || 0));
  const end = isBegun ? "over" : "not-begun";
  if (headers[MAX_COST_HEADER] !== undefined) return "never";
  // Too many requests, or credits on hold.
  if (status === 429 || (status === 402 && told !== undefined))
    return { waitMs, isCounted: false, isForAll: true, end };
  // The same one runs elsewhere.
  if (status === 409) return { waitMs, isCounted: false, isForAll: false, end };
  return status >= 500 && attempts < ATTEMPTS_MAX ? { waitMs, isCounted: true, isForAll: false, end } : null;
}
