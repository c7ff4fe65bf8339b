// Addresses that nobody can be reached at, each in its own way.

import { once } from "node:events";
import { createServer } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { type AddressInfo, connect, type Server, type Socket } from "node:net";
import { Worker } from "node:worker_threads";
import { certificate } from "./certificate.ts";
import { freePort } from "./ports.ts";

export interface Address {
  readonly url: string;
  close(): Promise<void>;
}

export async function closedPort(): Promise<Address> {
  return { url: `http://127.0.0.1:${await freePort()}/v1`, close: async () => undefined };
}

/** `invalid` is reserved: no resolver may ever find it. */
export async function unknownHost(): Promise<Address> {
  return { url: "http://switchyard-test.invalid/v1", close: async () => undefined };
}

export function plainHttpUnderHttps(): Promise<Address> {
  const server = createServer((_request, response) => response.end("{}"));
  return listening(server, "https");
}

/** A server whose certificate nobody trusts. */
export function untrustedCertificate(): Promise<Address> {
  return listening(
    createTlsServer(certificate(), (_request, response) => response.end("{}")),
    "https",
  );
}

/**
 * Listens, but never takes a connection: once the short queue of the kernel is full, a SYN gets no answer. The thread
 * that owns the socket sleeps, and the connections that fill the queue are our own.
 */
export async function deafPort(): Promise<Address> {
  const gate = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(
    `const { parentPort, workerData } = require("node:worker_threads");
     const server = require("node:net").createServer();
     server.listen({ port: 0, host: "127.0.0.1", backlog: 1 }, () => setImmediate(() => {
       parentPort.postMessage(server.address().port);
       Atomics.wait(workerData, 0, 0);
       process.exit();
     }));`,
    { eval: true, workerData: gate },
  );
  const [port] = (await once(worker, "message")) as [number];
  const fillers = Array.from({ length: 8 }, () => connect(port, "127.0.0.1").on("error", () => undefined));
  // On one machine a connection is made, or not, while it is asked for. Sockets ask for it in the next turn.
  await once(fillers[0] as Socket, "connect");
  return {
    url: `http://127.0.0.1:${port}/v1`,
    async close() {
      for (const filler of fillers) filler.destroy();
      Atomics.store(gate, 0, 1);
      Atomics.notify(gate, 0);
      await worker.terminate();
    },
  };
}

async function listening(server: Server, scheme = "http"): Promise<Address> {
  const sockets = new Set<{ destroy(): void }>();
  server.on("connection", (socket) => sockets.add(socket));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
