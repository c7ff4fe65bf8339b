// A bounded queue of server-sent events for one client. A client that reads too slowly loses the oldest and is told how
// many, so that it can read the list instead.

export interface EventQueue {
  push(name: string, data: object): void;
  /** Events that wait are still sent. */
  end(): void;
  /** The events as text, until the queue has ended and is empty. */
  texts(): AsyncGenerator<string>;
}

export function createEventQueue(most: number): EventQueue {
  let waiting: string[] = [];
  let missed = 0;
  let isEnded = false;
  let wake: () => void = () => undefined;
  return {
    push(name, data) {
      if (isEnded) return;
      if (waiting.length === most) {
        waiting.shift();
        missed += 1;
      }
      waiting.push(eventText(name, data));
      wake();
    },
    end() {
      isEnded = true;
      wake();
    },
    async *texts() {
      for (;;) {
        const some = waiting;
        const lost = missed;
        waiting = [];
        missed = 0;
        if (lost > 0) yield eventText("missed", { count: lost });
        if (some.length > 0) yield some.join("");
        else if (isEnded) return;
        else {
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
      }
    },
  };
}

/** JSON has no line breaks outside of strings and escapes them inside, so one data line is enough. */
function eventText(name: string, data: object): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}
