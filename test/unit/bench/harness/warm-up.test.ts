import { expect, test } from "vitest";
import type { Child } from "../../../../bench/harness/processes.ts";
import type { Server } from "../../../../bench/harness/server.ts";
import { warmUp } from "../../../../bench/harness/warm-up.ts";

test("each worker gets as many requests as the gateway of one process", async () => {
  const server = (name: string, workers?: number): Server => ({
    name,
    target: { port: 1, key: name },
    process: {} as Child<never>,
    ...(workers === undefined ? {} : { workers }),
  });
  const [proxy, gateway, four, peer] = [server("proxy"), server("gateway"), server("four", 4), server("peer")] as const;
  const rounds: (string | null)[] = [];
  const perRound: Readonly<Record<string, number>> = { proxy: 900, gateway: 300, four: 500, peer: 10 };
  const ask = (_: "saturate", { target }: { readonly target: Server["target"] }) => {
    rounds.push(target.key);
    return Promise.resolve({ requests: perRound[String(target.key)] });
  };
  const served = await warmUp({
    load: { ask } as never,
    servers: [proxy, gateway, four, peer],
    gateway,
    bodyOf: () => ({}),
    connections: 32,
    forMs: 1,
  });
  expect(served).toBe(300);
  expect(rounds).toEqual(["proxy", "gateway", "four", "four", "four", "peer"]);
});
