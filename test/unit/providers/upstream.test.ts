// A long body on its way to a provider: its memory may be freed once it is written, and not before.

import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { Cancellation } from "../../../src/core/cancellation.ts";
import type { Provider } from "../../../src/core/model.ts";
import { freeMemory } from "../../../src/core/requests/body-memory.ts";
import { BytePieces } from "../../../src/formats/json/byte-pieces.ts";
import type { Transport } from "../../../src/providers/transport.ts";
import { createUpstream } from "../../../src/providers/upstream.ts";

/** More than the buffers of a connection take. */
const LONG_BYTES = 16 * 1024 * 1024;

let server: Server;
let transport: Transport;

afterEach(async () => {
  await transport.close();
  server.closeAllConnections();
  server.close();
});

/** Sends a long body to a provider of that kind, reads the answer and tries to free the body. */
async function lengthLeft(provider: "reads" | "answers without reading", inPieces: boolean): Promise<number> {
  const answer = (response: ServerResponse): unknown => response.writeHead(200).end("{}");
  server = createServer((request, response) => {
    if (provider === "reads") request.resume().on("end", () => answer(response));
    else answer(response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const timeouts = { connectMs: 60_000, firstByteMs: 60_000, idleMs: 60_000, totalMs: 60_000 };
  const row = { id: "p", baseUrl: `http://127.0.0.1:${port}/v1`, timeouts, headers: {} } as unknown as Provider;
  const auth = { form: "fixed" as const, headers: {} };
  transport = createUpstream(row, {
    auth,
    streamType: "text/event-stream",
    onStale: () => undefined,
    now: () => performance.now(),
  });
  const bytes = Buffer.alloc(LONG_BYTES, " ");
  const pieces = [Buffer.from("{"), bytes.subarray(1, LONG_BYTES - 1), Buffer.from("}")];
  const body = inPieces ? new BytePieces(pieces) : bytes;
  const reply = await transport.send({ path: "/x", body, isStream: false, signal: new Cancellation() });
  if (reply.ok) while ((await reply.body.read()) !== null);
  freeMemory(bytes);
  return bytes.length;
}

test.each([true, false])("is freed behind an answer (in pieces: %s)", async (inPieces) => {
  expect(await lengthLeft("reads", inPieces)).toBe(0);
});

test.each([true, false])("stays while the system still has to write it (in pieces: %s)", async (inPieces) => {
  expect(await lengthLeft("answers without reading", inPieces)).toBe(LONG_BYTES);
});
