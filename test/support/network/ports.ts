// Ports that are free now and that the system hands out to nobody else: below those it picks from for port 0 and for
// outgoing connections. For servers that must be told their port, for addresses where nobody is to answer, and for ports
// that are given up for a while and taken again.

import { randomInt } from "node:crypto";
import { createServer } from "node:net";

const LOWEST = 15_000;
const HIGHEST = 30_000;

export async function freePort(): Promise<number> {
  for (let tries = 0; tries < 100; tries += 1) {
    const port = randomInt(LOWEST, HIGHEST);
    if (await isFree(port)) return port;
  }
  throw new Error(`no free port between ${LOWEST} and ${HIGHEST}`);
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once("error", () => resolve(false));
    probe.listen(port, "127.0.0.1", () => probe.close(() => resolve(true)));
  });
}
