// A receiver of webhooks on loopback. Each test says how it answers.

import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface Receiver {
  readonly url: string;
  readonly received: readonly Received[];
  /** How the next calls are answered; 204 at the start. */
  answer: (response: ServerResponse, received: Received) => void;
  /** Resolves once this many calls have arrived. */
  whenReceived(count: number): Promise<void>;
  stop(): Promise<void>;
}

export async function startReceiver(): Promise<Receiver> {
  const received: Received[] = [];
  let onReceived = (): void => undefined;
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const one = { path: request.url ?? "", headers: request.headers, body: Buffer.concat(chunks).toString("utf8") };
    received.push(one);
    receiver.answer(response, one);
    onReceived();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const receiver: Receiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    answer: (response) => void response.writeHead(204).end(),
    async whenReceived(count) {
      while (received.length < count) await new Promise<void>((resolve) => (onReceived = resolve));
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return receiver;
}
