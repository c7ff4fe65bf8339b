// Responses that run without their client. The call is an ordinary one; only its signal and its reader are our own. A
// cancellation may come from any process: the stored status says so, and the process that runs the call asks for it.

import type { Cancellation } from "../../core/cancellation.ts";
import type { OwnedId } from "../../core/responses/stored.ts";
import type { Answer } from "../answer.ts";
import type { TextSink } from "../relay.ts";

/** A response that this process works on. */
export interface BackgroundRun {
  readonly name: OwnedId;
  readonly cancellation: Cancellation;
  /** The stream so far, and what is to come; null when the response does not stream. */
  readonly feed: EventFeed | null;
}

export interface BackgroundRuns {
  begin(run: BackgroundRun): void;
  end(run: BackgroundRun): void;
  find(name: OwnedId): BackgroundRun | null;
  all(): readonly BackgroundRun[];
}

export function createBackgroundRuns(): BackgroundRuns {
  const runs = new Map<string, BackgroundRun>();
  const keyOf = ({ accountId, id }: OwnedId): string => JSON.stringify([accountId, id]);
  return {
    begin: (run) => void runs.set(keyOf(run.name), run),
    end: (run) => void runs.delete(keyOf(run.name)),
    find: (name) => runs.get(keyOf(name)) ?? null,
    all: () => [...runs.values()],
  };
}

/** Text that any number of readers follow from its beginning. */
export class EventFeed {
  readonly #pieces: string[] = [];
  #isOver = false;
  #waiting: (() => void)[] = [];

  push(text: string): void {
    if (text === "") return;
    this.#pieces.push(text);
    this.#wake();
  }

  end(): void {
    this.#isOver = true;
    this.#wake();
  }

  async *read(): AsyncGenerator<string, void, void> {
    for (let at = 0; ; at += 1) {
      while (at >= this.#pieces.length) {
        if (this.#isOver) return;
        await new Promise<void>((resolve) => this.#waiting.push(resolve));
      }
      yield this.#pieces[at] as string;
    }
  }

  #wake(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const wake of waiting) wake();
  }
}

/** Reads an answer to its end, as its client would. Never rejects: what goes wrong is stored. */
export async function drive(
  answered: Promise<Answer>,
  { feed, cancellation }: BackgroundRun,
  { keeper, isCutting }: DriveServices,
): Promise<void> {
  // A stopping process ends the call, not the client.
  const fail = async (error: unknown): Promise<void> => {
    const closing = await keeper.fail(error, cancellation.aborted && !isCutting());
    feed?.push(closing);
  };
  try {
    const answer = await answered;
    if (answer.kind === "stream") await answer.relay(sinkOf(feed));
    await fail(null);
  } catch (error) {
    await fail(error);
  } finally {
    feed?.end();
  }
}

interface DriveServices {
  readonly keeper: { fail(error: unknown, isCancelled: boolean): Promise<string> };
  readonly isCutting: () => boolean;
}

/** Takes everything at once. */
function sinkOf(feed: EventFeed | null): TextSink {
  return {
    isOpen: true,
    write(text) {
      feed?.push(text);
      return null;
    },
    end: (text) => feed?.push(text),
  };
}
