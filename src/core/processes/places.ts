// Places that connections and requests take while they last: so many of each name at once, counted in this process or by the
// primary process for all workers.

import type { WorkerLink } from "./link.ts";

/** Gives the place back. To be called once. */
export type Leave = () => void;

export interface Places {
  /** What a person has configured. */
  readonly limit: number;
  /** Null where all places of this name are taken. Rejects when the primary does not answer. */
  enter(name: string): Leave | null | Promise<Leave | null>;
}

/** All connections and all requests have one name; the requests of a key have its id. */
export interface ClientPlaces {
  readonly connections: Places;
  readonly requests: Places;
  readonly requestsPerKey: Places;
}

/** Of a part of the limit, where others have the rest. */
export function createPlaces(limit: number, part = limit): Places {
  const counts = new Map<string, number>();
  return {
    limit,
    enter(name) {
      if (!take(counts, name, part)) return null;
      return () => giveBack(counts, name);
    },
  };
}

const SERVICES = { enter: "enter-place", leave: "leave-place" } as const;

interface PlaceWish {
  readonly id: string;
  readonly name: string;
  readonly limit: number;
}

/** `scope` keeps the names of one limit apart from those of another. */
export function placesOver(link: Pick<WorkerLink, "call">, scope: string, limit: number): Places {
  let lastId = 0;
  return {
    limit,
    async enter(name) {
      lastId += 1;
      const id = `${scope}:${lastId}`;
      // Also of a place whose grant came too late.
      const leave = (): void => void link.call(SERVICES.leave, id).catch(() => undefined);
      const wish: PlaceWish = { id, name: `${scope}:${name}`, limit };
      const isFree = await link.call(SERVICES.enter, wish).catch((error: unknown) => {
        leave();
        throw error;
      });
      return isFree === true ? leave : null;
    },
  };
}

/** A client that has its answer may be quicker than the news that its place is free. */
const RETRY_MS = 50;

/** In the primary process. What a worker has taken is free again when it ends. */
export function createPlaceKeeper(): (link: Pick<WorkerLink, "serve">, ended: Promise<void>) => void {
  const counts = new Map<string, number>();
  return (link, ended) => {
    const held = new Map<string, string>();
    /** Asked for, and not left before the answer. */
    const waiting = new Set<string>();
    let hasEnded = false;
    const enter = ({ id, name, limit }: PlaceWish): boolean => {
      const isFree = !hasEnded && take(counts, name, limit);
      if (isFree) held.set(id, name);
      return isFree;
    };
    const leave = (id: string): void => {
      waiting.delete(id);
      const name = held.get(id);
      if (name !== undefined && held.delete(id)) giveBack(counts, name);
    };
    link.serve(SERVICES.enter, (payload) => {
      const wish = payload as PlaceWish;
      if (enter(wish)) return true;
      waiting.add(wish.id);
      return new Promise((resolve) => setTimeout(() => resolve(waiting.delete(wish.id) && enter(wish)), RETRY_MS));
    });
    link.serve(SERVICES.leave, (id) => leave(String(id)));
    void ended.then(() => {
      hasEnded = true;
      for (const id of [...held.keys()]) leave(id);
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
