// The child's end of a benchmark process: says when it is ready, answers what the parent asks, and never outlives it.

/** What a process can be asked to do. */
export type Work = Record<string, (input: never) => unknown>;

export interface Question {
  readonly id: number;
  readonly name: string;
  readonly input: unknown;
}

export type Message =
  | { readonly kind: "ready"; readonly value: unknown }
  | { readonly kind: "answer"; readonly id: number; readonly value: unknown }
  | { readonly kind: "failure"; readonly id: number; readonly message: string };

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

/** What a server process has used up so far. A collection first makes two readings of the memory comparable. */
export function readResources(): Resources {
  const { user, system } = process.cpuUsage();
  const { rss, heapUsed, external } = process.memoryUsage();
  return { cpuUs: user + system, rssBytes: rss, liveBytes: heapUsed + external };
}

export function collectGarbage(): void {
  globalThis.gc?.();
}

export interface Resources {
  readonly cpuUs: number;
  readonly rssBytes: number;
  /** What the program's own objects and buffers take. */
  readonly liveBytes: number;
}

/** What every server process answers. */
export type ServerWork = {
  resources(input: null): Resources;
  collectGarbage(input: null): void;
};

export const SERVER_WORK: ServerWork = { resources: readResources, collectGarbage };
