// Handles the messages of one end in their order. While one of them has to wait, nothing more is read from that end, so
// that nothing piles up.

import type { BodyCharge } from "../exchange/body.ts";
import type { SocketConnection } from "../sockets/connection.ts";

interface WaitingMessage {
  readonly message: Buffer;
  readonly charge: BodyCharge | null;
}

/** Handles a message at once and returns null, or says when it is done. */
type HandleMessage = (message: Buffer) => Promise<void> | null;

interface PumpTerms {
  readonly source: () => Pick<SocketConnection, "pause" | "resume">;
  readonly handle: HandleMessage;
  /** A fault of ours. The messages behind it are handled all the same. */
  readonly failed: (error: unknown) => void;
}

export class Pump {
  readonly #source: PumpTerms["source"];
  readonly #handle: HandleMessage;
  readonly #failed: (error: unknown) => void;
  /** Messages that were read together with the one that waits. */
  readonly #waiting: WaitingMessage[] = [];
  #isBusy = false;

  constructor({ source, handle, failed }: PumpTerms) {
    this.#source = source;
    this.#handle = handle;
    this.#failed = failed;
  }

  take(message: Buffer, charge: BodyCharge | null): void {
    if (this.#isBusy) {
      this.#waiting.push({ message, charge });
      return;
    }
    const handled = this.#handle(message);
    if (handled === null) charge?.release();
    else void this.#wait(handled, charge);
  }

  async #wait(handled: Promise<void>, charge: BodyCharge | null): Promise<void> {
    this.#isBusy = true;
    const source = this.#source();
    source.pause();
    await handled.catch(this.#failed);
    charge?.release();
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      await this.#handle(next.message)?.catch(this.#failed);
      next.charge?.release();
    }
    this.#isBusy = false;
    source.resume();
  }
}
