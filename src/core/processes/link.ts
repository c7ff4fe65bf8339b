// The link between a worker process and the primary process, as either end sees it: calls that are answered, and news
// for all workers.

/** Answers a call of the other end. */
export type LinkService = (payload: unknown) => unknown;

export interface WorkerLink {
  /** Asks the other end. Rejects with StoreUnavailable when it is gone, or has not answered in time. */
  call(service: string, payload: unknown, withinMs?: number): Promise<unknown>;
  /** Answers the other end's calls of this name. */
  serve(service: string, answer: LinkService): void;
  /** From a worker: tells every other worker. From the primary: tells this worker. Nobody answers. */
  publish(topic: string, payload: unknown): void;
  /** Told of what others published. */
  on(topic: string, listener: (payload: unknown) => void): void;
}
