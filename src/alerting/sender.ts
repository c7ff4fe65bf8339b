// Sends what waits in the outbox. Of all processes on a database, one sends each message; a message whose sender died is
// sent by another one under the same id.

import { quietMs } from "../core/alerts/quiet.ts";
import type { AlertOutbox, DueMessage } from "../core/alerts/targets.ts";
import type { Log } from "../core/log.ts";
import type { Receipt } from "./http-call.ts";
import { type AlertMessage, messageOf } from "./message.ts";

export interface SenderOptions {
  readonly outbox: AlertOutbox;
  /** Opens the target's address and calls it. */
  readonly send: (target: DueMessage["target"], message: AlertMessage) => Promise<Receipt>;
  readonly log: Log;
  readonly now: () => number;
  /** Waits before the second attempt and those after it. */
  readonly retryMs?: readonly number[];
  readonly leaseMs?: number;
}

export interface Sender {
  /** Sends all that is due. Never rejects. */
  round(): Promise<void>;
  start(): void;
  stop(): Promise<void>;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** An alert that is a day old helps nobody. */
const RETRY_MS: readonly number[] = [
  10_000,
  MINUTE_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  6 * HOUR_MS,
  12 * HOUR_MS,
];
/** Receivers that come back do not get everything at the same moment. */
const JITTER = 0.2;
const ROUND_MS = 5_000;
const AT_ONCE = 20;
/** Much longer than a call may take. */
const LEASE_MS = 2 * MINUTE_MS;

export function createSender(options: SenderOptions): Sender {
  const { outbox, log, leaseMs = LEASE_MS } = options;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | null = null;
  let isStopped = false;

  async function sendAll(): Promise<void> {
    try {
      for (let isMore = true; isMore && !isStopped; ) {
        const due = await outbox.claim(AT_ONCE, leaseMs);
        await Promise.all(due.map((message) => sendOne(message, options)));
        isMore = due.length === AT_ONCE;
      }
    } catch (err) {
      log.warn({ event: "alert.send_failed", err }, "messages about events cannot be read or noted");
    }
  }

  function round(): Promise<void> {
    running ??= sendAll().finally(() => {
      running = null;
    });
    return running;
  }

  return {
    round,
    start() {
      timer = setInterval(() => void round(), ROUND_MS).unref();
    },
    async stop() {
      isStopped = true;
      clearInterval(timer);
      await running;
    },
  };
}

async function sendOne(due: DueMessage, options: SenderOptions): Promise<void> {
  const { outbox, send, log, now, retryMs = RETRY_MS } = options;
  const { id, attempts, event, target } = due;
  const waitMs = target.quiet === null || event.severity === "critical" ? 0 : quietMs(target.quiet, now());
  if (waitMs > 0) return outbox.postpone(id, waitMs);
  const receipt = await send(target, messageOf(id, event));
  const result = resultOf(receipt);
  if (receipt.isTaken) return outbox.settle(id, "sent", result);
  const next = receipt.isFinal ? undefined : retryMs[attempts - 1];
  const isOver = next === undefined;
  log.warn({ event: "alert.send_failed", id, target: target.id, attempts, isOver, reason: result }, "a message failed");
  return isOver ? outbox.settle(id, "failed", result) : outbox.retry(id, next * (1 + JITTER * Math.random()), result);
}

/** Status and answer in one line. */
function resultOf({ status, answer }: Receipt): string {
  return [status === null ? "" : String(status), answer].filter((part) => part !== "").join(" ");
}
