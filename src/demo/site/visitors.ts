// Stores of visitors: a gateway of their own each, on a copy of the demo, from their first change until they have been away
// for a while. What one of them does, nobody else sees.

import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { cp } from "node:fs/promises";
import type { RequestListener, ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Log } from "../../core/log.ts";

/** A gateway on the store of a visitor, or on that of everybody. */
export interface StoreGateway {
  /** Serves a request that came to another server of this process. */
  readonly answer: RequestListener;
  stop(): Promise<void>;
  hurry(): void;
}

/** Limits of the stores. */
export interface VisitorTerms {
  readonly storesMax: number;
  /** A visitor who is away for this long loses the store. */
  readonly idleMs: number;
  /** Nobody keeps a store for longer. */
  readonly lifeMs: number;
  readonly bytesMax: number;
}

interface VisitorsContext extends VisitorTerms {
  /** The folder that stores are copied from. */
  readonly template: () => string;
  start(folder: string): Promise<StoreGateway>;
  readonly log: Log;
  readonly now: () => number;
}

export interface Visitors {
  /** The gateway of a visitor who has one. */
  find(id: string): Promise<StoreGateway> | null;
  /** Makes one; null while every store is in use. */
  open(id: string): Promise<StoreGateway> | null;
  /** Ends the response with the store, however long it would go on. */
  hold(id: string, response: ServerResponse): void;
  /** Throws the store away. The visitor sees the demo as it was. */
  restart(id: string): Promise<void>;
  close(): Promise<void>;
}

interface VisitorStore {
  readonly app: Promise<StoreGateway>;
  readonly folder: string;
  readonly responses: Set<ServerResponse>;
  readonly openedAtMs: number;
  seenAtMs: number;
}

const SWEEP_MS = 5_000;
/** Absence after which a store gives way to another visitor, where all are taken. */
const YIELDS_AFTER_MS = 120_000;

export function createVisitors(context: VisitorsContext): Visitors {
  const { storesMax, now } = context;
  const stores = new Map<string, VisitorStore>();
  const endings = new Set<Promise<void>>();

  function end(id: string): Promise<void> {
    const store = stores.get(id);
    if (store === undefined) return Promise.resolve();
    stores.delete(id);
    const ending = endStore(store, context.log).finally(() => endings.delete(ending));
    endings.add(ending);
    return ending;
  }

  function sweep(): void {
    for (const [id, store] of stores) if (isOver(store, context)) void end(id);
  }

  /** Returns true where there is room now. A store that ends still takes memory, so it counts until it has ended. */
  function makeRoom(): boolean {
    if (stores.size + endings.size < storesMax) return true;
    const [longest] = [...stores].sort(([, a], [, b]) => a.seenAtMs - b.seenAtMs);
    if (longest !== undefined && now() - longest[1].seenAtMs > YIELDS_AFTER_MS) void end(longest[0]);
    return false;
  }

  const timer = setInterval(sweep, SWEEP_MS).unref();
  return {
    find(id) {
      const store = stores.get(id);
      if (store === undefined) return null;
      store.seenAtMs = now();
      return store.app;
    },
    open(id) {
      const known = stores.get(id);
      if (known !== undefined) return known.app;
      if (!makeRoom()) return null;
      const folder = mkdtempSync(join(tmpdir(), "switchyard-visitor-"));
      const app = cp(context.template(), folder, { recursive: true }).then(() => context.start(folder));
      const atMs = now();
      stores.set(id, { app, folder, responses: new Set(), openedAtMs: atMs, seenAtMs: atMs });
      app.catch(() => void end(id));
      return app;
    },
    hold(id, response) {
      const responses = stores.get(id)?.responses;
      responses?.add(response);
      response.once("close", () => responses?.delete(response));
    },
    restart: end,
    async close() {
      clearInterval(timer);
      for (const id of stores.keys()) void end(id);
      await Promise.all(endings);
    },
  };
}

function isOver({ seenAtMs, openedAtMs, folder }: VisitorStore, terms: VisitorsContext): boolean {
  const atMs = terms.now();
  if (atMs - seenAtMs > terms.idleMs || atMs - openedAtMs > terms.lifeMs) return true;
  return bytesOf(folder) > terms.bytesMax;
}

async function endStore({ app, folder, responses }: VisitorStore, log: Log): Promise<void> {
  for (const response of responses) response.destroy();
  try {
    const running = await app;
    const stopped = running.stop();
    // Streams that are open would hold the store for the time of a drain.
    running.hurry();
    await stopped;
  } catch (err) {
    log.error({ event: "demo.store_failed", err }, "a visitor's store could not be started or stopped");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function bytesOf(folder: string): number {
  try {
    return readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
  } catch {
    // A file of the database came or went in between.
    return 0;
  }
}
