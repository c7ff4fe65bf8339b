// A process that works on its own: it parses and writes JSON, as a gateway does, and shares nothing with other processes.

import { answerParent } from "../harness/child.ts";

export type AloneWork = {
  /** CPU µs of one piece of work, over so many ms. */
  work(forMs: number): number;
};

const TEXT = JSON.stringify(
  Array.from({ length: 20 }, (_, index) => ({ role: "user", content: `${index} ${"text ".repeat(20)}` })),
);

const work: AloneWork = {
  work(forMs) {
    const before = process.cpuUsage();
    const endsAtMs = performance.now() + forMs;
    let pieces = 0;
    for (; performance.now() < endsAtMs; pieces += 1) {
      const messages = JSON.parse(TEXT) as { role: string; content: string }[];
      const byContent = new Map(messages.map((message) => [message.content.slice(0, 40), message]));
      Buffer.from(JSON.stringify([...byContent.values()]));
    }
    const { user, system } = process.cpuUsage(before);
    return (user + system) / pieces;
  },
};
answerParent(null, work);
