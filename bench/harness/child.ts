// The child's side of a benchmark process: reports that it is ready, answers the parent's questions, ends with the parent.

import { mkdirSync, writeFileSync } from "node:fs";
import { Session } from "node:inspector/promises";
import { dirname } from "node:path";

/** The operations that a process offers to its parent. */
export type Work = Record<string, (input: never) => unknown>;

/** A call of one operation; the id finds the answer to it. */
export interface Question {
  readonly id: number;
  readonly name: string;
  readonly input: unknown;
}

/** Everything a child sends. */
export type Message =
  | { readonly kind: "ready"; readonly value: unknown }
  | { readonly kind: "answer"; readonly id: number; readonly value: unknown }
  | { readonly kind: "failure"; readonly id: number; readonly message: string };

/** Called once, when the process is ready to work. */
export function answerParent(ready: unknown, work: Work): void {
  process.on("disconnect", () => process.exit(0));
  process.on("message", async ({ id, name, input }: Question) => {
    try {
      tell({ kind: "answer", id, value: await work[name]?.(input as never) });
    } catch (error) {
      tell({ kind: "failure", id, message: (error as Error).message });
    }
  });
  tell({ kind: "ready", value: ready });
}

function tell(message: Message): void {
  process.send?.(message);
}

/** CPU time and memory so far. Two readings of the memory only compare after a garbage collection. */
function readResources(): Resources {
  const { user, system } = process.cpuUsage();
  const { rss, heapUsed, external } = process.memoryUsage();
  return { cpuUs: user + system, rssBytes: rss, liveBytes: heapUsed + external };
}

/** Children are started with --expose-gc. */
function collectGarbage(): void {
  globalThis.gc?.();
}

export interface Resources {
  readonly cpuUs: number;
  readonly rssBytes: number;
  /** Objects and buffers in use, without what the allocator keeps in reserve. */
  readonly liveBytes: number;
}

/** The operations of every server process. */
export type ServerWork = {
  resources(input: null): Resources;
  collectGarbage(input: null): void;
  startProfile(input: null): Promise<void>;
  /** Writes the profile since `startProfile` to this file. */
  saveProfile(file: string): Promise<void>;
};

export const SERVER_WORK: ServerWork = { resources: readResources, collectGarbage, ...createProfiler() };

/** V8's own profiler, through the inspector. */
function createProfiler(): Pick<ServerWork, "startProfile" | "saveProfile"> {
  let session: Session | null = null;
  return {
    async startProfile() {
      session = new Session();
      session.connect();
      await session.post("Profiler.enable");
      await session.post("Profiler.start");
    },
    async saveProfile(file) {
      if (session === null) throw new Error("no profile was started");
      const { profile } = await session.post("Profiler.stop");
      session.disconnect();
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, JSON.stringify(profile));
    },
  };
}
