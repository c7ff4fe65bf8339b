// A server that remembers what it was asked, and answers as a test says: token endpoints and metadata services.

import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";

interface Asked {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

interface Said {
  readonly status?: number;
  readonly body: unknown;
}

export interface AskedServer {
  readonly url: string;
  asked: Asked[];
  /** Text is sent as it is, everything else as JSON. */
  answer: (request: Asked) => Said | Promise<Said>;
  close(): void;
}

export async function startAskedServer(): Promise<AskedServer> {
  const http = createServer(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const { method = "", url: path = "", headers } = request;
    const seen = { method, path, headers, body: Buffer.concat(pieces).toString() };
    server.asked.push(seen);
    const { status = 200, body } = await server.answer(seen);
    response.writeHead(status).end(typeof body === "string" ? body : JSON.stringify(body));
  });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  const server: AskedServer = {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    asked: [],
    answer: () => ({ status: 500, body: {} }),
    close: () => void http.close(),
  };
  return server;
}
