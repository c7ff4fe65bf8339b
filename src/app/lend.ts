// Lends the SQLite connection of the primary process to a worker.

import type { ForwardedCall, Thread } from "../store/sqlite/thread.ts";
import type { OpenLink } from "../workers/link.ts";

/** Time after which an open transaction of a worker is undone, because everybody else waits for it. */
const TRANSACTION_MS = 30_000;

/** Passes on the calls of a worker. Undoes transactions that the worker does not end. */
export function lend(
  thread: Pick<Thread, "call" | "forward">,
  link: Pick<OpenLink, "closed">,
): (payload: unknown) => Promise<unknown> {
  const begun = new Map<string, NodeJS.Timeout>();
  const end = (transaction: string): void => {
    clearTimeout(begun.get(transaction));
    begun.delete(transaction);
  };
  const undo = (transaction: string): void => {
    end(transaction);
    void thread.call({ kind: "rollback", transaction }).catch(() => undefined);
  };
  void link.closed.then(() => [...begun.keys()].forEach(undo));
  return async (payload) => {
    const call = payload as ForwardedCall;
    const { kind, transaction = "" } = call;
    if (kind === "begin") begun.set(transaction, setTimeout(undo, TRANSACTION_MS, transaction).unref());
    if (kind === "commit" || kind === "rollback") end(transaction);
    const answer = await thread.forward(call);
    if (kind === "begin" && answer.error !== null) end(transaction);
    return answer;
  };
}
