// The budget for request bodies in memory, per process and per key. A body is charged before it is read and until its
// response is over. Without room a request waits for a moment and is then rejected.

import { readMachine } from "../../config/machine.ts";
import { GatewayError } from "../../core/errors.ts";
import type { BodyCharge, BodyRoom } from "../exchange/body.ts";
import * as TEXT from "../text.ts";
import { OVERLOAD_POLICY } from "./policy.ts";
import { heapMaxBytes } from "./pressure.ts";
import { randomRetryAfterSeconds } from "./rejection.ts";

const policy = OVERLOAD_POLICY.bodies;

/** Limit that leaves no room: that of all bodies, or that of the key. */
type Obstacle = "bodies" | "key_bodies";

interface WaitingBody {
  readonly owner: string | null;
  readonly bytes: number;
  start(charge: BodyCharge): void;
}

/**
 * The bytes that a process can hold beside everything else it needs memory for; of several processes, each has its part of the memory. Each
 * body may be in memory four times.
 */
export function defaultBodyBytes(processes = 1): number {
  const ofMemory = (policy.memoryRatio * readMachine().memoryBytes) / processes;
  return Math.floor(Math.min(ofMemory, policy.heapRatio * heapMaxBytes()));
}

export class BodyBudget implements BodyRoom {
  readonly firstStepBytes = policy.firstStepBytes;
  readonly valueBytes = policy.valueBytes;
  readonly #limitBytes: number;
  readonly #onRejected: (reason: Obstacle) => void;
  readonly #usedBy = new Map<string | null, number>();
  readonly #waiting = new Set<WaitingBody>();
  #usedBytes = 0;
  #largeBodies = 0;

  /** `onRejected` is told the reason of each rejection. */
  constructor(limitBytes: number, onRejected: (reason: Obstacle) => void) {
    this.#limitBytes = limitBytes;
    this.#onRejected = onRejected;
  }

  get usedBytes(): number {
    return this.#usedBytes;
  }

  /** From 0 to 1. One large body alone may need more. */
  get usedPart(): number {
    return Math.min(1, this.#usedBytes / this.#limitBytes);
  }

  tryTake(owner: string | null, bytes: number): BodyCharge | null {
    const mayStart = (this.#waiting.size === 0 || !isLarge(bytes)) && this.#obstacle(owner, bytes) === null;
    return mayStart ? this.#charge(owner, bytes) : null;
  }

  /** `total` is the size of the whole body; `others` counts the large bodies without it. */
  #obstacle(owner: string | null, more: number, { total = more, others = this.#largeBodies } = {}): Obstacle | null {
    // A large body that is the only one is always taken, so the limits never make a size impossible.
    if (isLarge(total) && others === 0) return null;
    const ownBytes = owner === null ? 0 : (this.#usedBy.get(owner) ?? 0) + more;
    if (ownBytes > policy.keyRatio * this.#limitBytes) return "key_bodies";
    const limitBytes = (isLarge(total) ? policy.largeRatio : 1) * this.#limitBytes;
    return this.#usedBytes + more > limitBytes ? "bodies" : null;
  }

  #charge(owner: string | null, bytes: number): BodyCharge {
    let total = bytes;
    let isReleased = false;
    this.#count(owner, bytes);
    this.#largeBodies += Number(isLarge(total));
    return {
      add: (moreBytes, values = 0) => {
        const more = moreBytes + values * policy.valueBytes;
        if (isReleased || more <= 0) return;
        const others = this.#largeBodies - Number(isLarge(total));
        const reason = this.#obstacle(owner, more, { total: total + more, others });
        if (reason !== null) throw this.#reject(reason);
        this.#count(owner, more);
        total += more;
        this.#largeBodies = others + Number(isLarge(total));
      },
      release: () => {
        if (isReleased) return;
        isReleased = true;
        this.#count(owner, -total);
        this.#largeBodies -= Number(isLarge(total));
        if (this.#waiting.size > 0) this.#startWaiting();
      },
    };
  }

  #count(owner: string | null, bytes: number): void {
    this.#usedBytes += bytes;
    const used = (this.#usedBy.get(owner) ?? 0) + bytes;
    if (used === 0) this.#usedBy.delete(owner);
    else this.#usedBy.set(owner, used);
  }

  #reject(reason: Obstacle): GatewayError {
    this.#onRejected(reason);
    return rejectionOf(reason);
  }

  take(owner: string | null, bytes: number): Promise<BodyCharge> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting.delete(body);
        reject(this.#reject(this.#obstacle(owner, bytes) ?? "bodies"));
      }, policy.waitMaxMs).unref();
      const body: WaitingBody = {
        owner,
        bytes,
        start(charge) {
          clearTimeout(timer);
          resolve(charge);
        },
      };
      this.#waiting.add(body);
      // There may be room for it although others wait for theirs.
      this.#startWaiting();
    });
  }

  /** In the order they came. A large body that finds no room keeps the later ones waiting, or it would wait for ever. */
  #startWaiting(): void {
    let isFull = false;
    for (const body of this.#waiting) {
      if (isFull && isLarge(body.bytes)) continue;
      const reason = this.#obstacle(body.owner, body.bytes);
      if (reason === null) {
        this.#waiting.delete(body);
        body.start(this.#charge(body.owner, body.bytes));
      } else if (reason === "bodies") isFull = true;
    }
  }
}

/** Tells whether a body has to share the part of the budget that is for large ones. */
export function isLarge(bytes: number): boolean {
  return bytes > policy.smallMaxBytes;
}

function rejectionOf(reason: Obstacle): GatewayError {
  const retryAfterSeconds = randomRetryAfterSeconds();
  if (reason === "bodies") {
    const message = TEXT.bodiesFull;
    return new GatewayError("unavailable", message, { code: "overloaded", retryAfterSeconds });
  }
  const message = TEXT.keyBodiesFull;
  return new GatewayError("rateLimited", message, { code: "too_many_body_bytes", retryAfterSeconds });
}
