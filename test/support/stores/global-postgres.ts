// One PostgreSQL for the whole test run, started when the first test file asks for it and stopped at the end.
// The files run in processes of their own, so they ask over a loopback port.

import { createServer } from "node:http";
import type { TestProject } from "vitest/node";
import { type PostgresServer, startPostgres } from "./postgres-server.ts";

declare module "vitest" {
  interface ProvidedContext {
    postgresBroker: string;
  }
}

/** What a test file is told: where the server is, or why there is none. */
export type PostgresOffer = { readonly url: string } | { readonly reason: string };

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  let server: PostgresServer | null = null;
  let offer: Promise<PostgresOffer> | null = null;

  const makeOffer = async (): Promise<PostgresOffer> => {
    const existing = process.env.SWITCHYARD_TEST_POSTGRES;
    if (existing !== undefined && existing !== "") return { url: existing };
    try {
      server = await startPostgres();
      return { url: server.url };
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      console.warn(`PostgreSQL tests are skipped: no server could be started (${reason})`);
      return { reason };
    }
  };
  const broker = createServer(async (_request, response) => {
    offer ??= makeOffer();
    response.end(JSON.stringify(await offer));
  });
  await new Promise<void>((resolve) => broker.listen(0, "127.0.0.1", resolve));
  const address = broker.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  project.provide("postgresBroker", `http://127.0.0.1:${port}/`);

  return async () => {
    broker.closeAllConnections();
    broker.close();
    await offer;
    await server?.stop();
  };
}
