// Cancellation of a call: the few members of AbortSignal that we need. Every request makes one, and a real AbortSignal
// costs some fifty times as much. Where one is at hand it works as well.

export interface CancelSignal {
  readonly aborted: boolean;
  addEventListener(type: "abort", listener: () => void): void;
  removeEventListener(type: "abort", listener: () => void): void;
}

/** Controller and signal in one. Listeners are called once, in the order in which they were added. */
export class Cancellation implements CancelSignal {
  readonly #listeners: (() => void)[] = [];
  #isAborted = false;

  get aborted(): boolean {
    return this.#isAborted;
  }

  abort(): void {
    if (this.#isAborted) return;
    this.#isAborted = true;
    // A listener may remove another one.
    for (let listener = this.#listeners.shift(); listener !== undefined; listener = this.#listeners.shift()) listener();
  }

  addEventListener(_type: "abort", listener: () => void): void {
    if (!this.#isAborted && !this.#listeners.includes(listener)) this.#listeners.push(listener);
  }

  removeEventListener(_type: "abort", listener: () => void): void {
    const place = this.#listeners.indexOf(listener);
    if (place >= 0) this.#listeners.splice(place, 1);
  }
}

/** Resolves after that time, or at once when the call is no longer wanted. */
export function pause(waitMs: number, signal: CancelSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, waitMs);
    signal.addEventListener("abort", end);
  });
}
