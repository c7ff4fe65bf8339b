// The link between a worker process and the primary process, as either end sees it: calls that are answered, and
// messages that are published to all workers.

/** Answers a call of the other end. */
export type LinkService = (payload: unknown) => unknown;

export interface WorkerLink {
  /** Asks the other end. Rejects with StoreUnavailable when it is gone, or has not answered in time. */
  call(service: string, payload: unknown, withinMs?: number): Promise<unknown>;
  /** Answers the other end's calls of this name. */
  serve(service: string, answer: LinkService): void;
  /** Sends a message: a worker to every other worker, the primary process to this worker. Nobody answers. */
  publish(topic: string, payload: unknown): void;
  /** Subscribes to a topic. */
  on(topic: string, listener: (payload: unknown) => void): void;
}
