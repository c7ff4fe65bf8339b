// Messages stay in order and never pile up: while one waits, its source is not read.

import { expect, it } from "vitest";
import { Pump } from "../../../../src/http/realtime-sessions/pump.ts";

it("reads nothing while a message waits, and releases each one once it is handled", async () => {
  const told: string[] = [];
  const waits: (() => void)[] = [];
  const note = (what: string) => (): void => void told.push(what);
  const pump = new Pump({
    source: () => ({ pause: note("pause"), resume: note("resume") }),
    handle(message) {
      const text = String(message);
      told.push(text);
      if (text === "broken") return Promise.reject(new Error("broken"));
      return text.startsWith("slow") ? new Promise((resolve) => void waits.push(resolve)) : null;
    },
    failed: note("failed"),
  });
  const take = (text: string): void => {
    const release = note(`-${text}`);
    pump.take(Buffer.from(text), { add: () => undefined, release } as never);
  };
  for (const text of ["one", "slow", "two", "broken", "three"]) take(text);
  expect(told).toEqual(["one", "-one", "slow", "pause"]);
  waits[0]?.();
  await expect.poll(() => told.at(-1)).toBe("resume");
  expect(told.slice(4)).toEqual(["-slow", "two", "-two", "broken", "failed", "-broken", "three", "-three", "resume"]);
  take("four");
  expect(told.slice(-2)).toEqual(["four", "-four"]);
});
