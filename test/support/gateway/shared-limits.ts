// Limits that several processes share are exact while the store that counts them answers in time. On a machine that is out
// of breath it may not, which the log says; then each process enforces its part.

import { expect } from "vitest";
import type { LogEvent } from "../../../src/core/events.ts";
import type { TestGateway } from "./gateway.ts";
import type { GatewayProcess } from "./gateway-process.ts";

type Speaking = Pick<GatewayProcess, "output"> | Pick<TestGateway, "logged">;

/** How often the gateways have logged this. */
export function timesLogged(gateways: readonly Speaking[], event: LogEvent): number {
  const counts = gateways.map((gateway) =>
    "output" in gateway
      ? gateway.output().split(`"event":"${event}"`).length - 1
      : gateway.logged.filter(({ fields }) => fields.event === event).length,
  );
  return counts.reduce((sum, count) => sum + count, 0);
}

/** What comes of the work when the store answers from its beginning to its end; it is done again until it does. */
export async function whileShared<T>(gateways: readonly Speaking[], work: () => Promise<T>): Promise<T> {
  const lost = (): number => timesLogged(gateways, "rate_limits.sharing_lost");
  const recovered = (): number => timesLogged(gateways, "rate_limits.sharing_recovered");
  for (;;) {
    await expect.poll(() => lost() - recovered()).toBe(0);
    const before = lost();
    const result = await work();
    if (lost() === before) return result;
  }
}
