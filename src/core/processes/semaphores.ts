// Semaphores limit how many connections and requests of one name may be open at once. They count in this process, or in
// the primary process for all workers.

import type { WorkerLink } from "./link.ts";

/** Gives the slot back. To be called once. */
export type Release = () => void;

export interface Semaphore {
  /** Limit from the configuration as it is now. */
  limit(): number;
  /** Returns null while all slots of this name are taken, and undefined where the primary process has to be asked. */
  tryAcquire(name: string): Release | null | undefined;
  /** Resolves to null while all slots of this name are taken. Rejects when the primary process does not answer. */
  acquire(name: string): Promise<Release | null>;
}

/** All connections and all requests have one name; the requests of a key have its id. */
export interface ClientSemaphores {
  readonly connections: Semaphore;
  readonly requests: Semaphore;
  readonly requestsPerKey: Semaphore;
}

/** `part` is this process's share of the limit; others have the rest. A lower limit ends no request that runs. */
export function createSemaphore(limit: () => number, part = limit): Semaphore {
  const counts = new Map<string, number>();
  const tryAcquire = (name: string): Release | null =>
    take(counts, name, part()) ? () => giveBack(counts, name) : null;
  return { limit, tryAcquire, acquire: async (name) => tryAcquire(name) };
}

const SERVICES = { acquire: "acquire-slot", release: "release-slot" } as const;

interface SlotRequest {
  readonly id: string;
  readonly name: string;
  readonly limit: number;
}

/** `scope` keeps the names of one limit apart from those of another. */
export function semaphoreOver(link: Pick<WorkerLink, "call">, scope: string, limit: () => number): Semaphore {
  let lastId = 0;
  return {
    limit,
    tryAcquire: () => undefined,
    async acquire(name) {
      lastId += 1;
      const id = `${scope}:${lastId}`;
      // Also frees a slot that was granted too late.
      const release = (): void => void link.call(SERVICES.release, id).catch(() => undefined);
      const request: SlotRequest = { id, name: `${scope}:${name}`, limit: limit() };
      const isFree = await link.call(SERVICES.acquire, request).catch((error: unknown) => {
        release();
        throw error;
      });
      return isFree === true ? release : null;
    },
  };
}

/** A client that has its answer may send the next request before its slot is free again. */
const RETRY_MS = 50;

/** Counts the slots of all workers, in the primary process. The slots of a worker are free again when the worker ends. */
export function createSlotCounter(): (link: Pick<WorkerLink, "serve">, ended: Promise<void>) => void {
  const counts = new Map<string, number>();
  return (link, ended) => {
    const held = new Map<string, string>();
    /** Requests that wait for their retry and were not released before it. */
    const waiting = new Set<string>();
    let hasEnded = false;
    const acquire = ({ id, name, limit }: SlotRequest): boolean => {
      const isFree = !hasEnded && take(counts, name, limit);
      if (isFree) held.set(id, name);
      return isFree;
    };
    const release = (id: string): void => {
      waiting.delete(id);
      const name = held.get(id);
      if (name !== undefined && held.delete(id)) giveBack(counts, name);
    };
    link.serve(SERVICES.acquire, (payload) => {
      const request = payload as SlotRequest;
      if (acquire(request)) return true;
      waiting.add(request.id);
      return new Promise((resolve) =>
        setTimeout(() => resolve(waiting.delete(request.id) && acquire(request)), RETRY_MS),
      );
    });
    link.serve(SERVICES.release, (id) => release(String(id)));
    void ended.then(() => {
      hasEnded = true;
      for (const id of [...held.keys()]) release(id);
    });
  };
}

function take(counts: Map<string, number>, name: string, most: number): boolean {
  const count = counts.get(name) ?? 0;
  if (count >= most) return false;
  counts.set(name, count + 1);
  return true;
}

function giveBack(counts: Map<string, number>, name: string): void {
  const left = (counts.get(name) ?? 1) - 1;
  if (left === 0) counts.delete(name);
  else counts.set(name, left);
}
