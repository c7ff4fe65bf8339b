// The reference: the least that a proxy on the same two libraries can do. It forwards the body and passes the response
// back. It checks no keys, reads no JSON, decides nothing and records nothing.

import type { ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type FastifyReply, fastify } from "fastify";
import { type Dispatcher, Pool } from "undici";
import { answerParent, SERVER_WORK } from "../harness/child.ts";
import { serveFrom } from "../harness/cluster.ts";

interface ProxyArgument {
  readonly providerPort: number;
  readonly processes?: number;
}

const { providerPort, processes = 1 } = JSON.parse(process.argv[2] as string) as ProxyArgument;
const pool = new Pool(`http://127.0.0.1:${providerPort}`, { headersTimeout: 0, bodyTimeout: 0 });
const server = fastify({ bodyLimit: 32 * 1024 * 1024 });

server.removeAllContentTypeParsers();
server.addContentTypeParser("application/json", { parseAs: "buffer" }, (_request, body, done) => done(null, body));
server.post("/v1/chat/completions", (request, reply) => {
  const accept = request.headers.accept ?? "*/*";
  const headers = { "content-type": "application/json", accept };
  const body = request.body as Buffer;
  const handler = accept === "text/event-stream" ? passStream(reply) : passWhole(reply);
  pool.dispatch({ path: "/v1/chat/completions", method: "POST", headers, body }, handler);
  return reply;
});
await serveFrom(processes, listen, (port) => answerParent(port, SERVER_WORK));

async function listen(): Promise<number> {
  await server.listen({ host: "127.0.0.1", port: 0, backlog: 4096 });
  return (server.server.address() as AddressInfo).port;
}

/** Collects the response and sends it at once, as the gateway does. */
function passWhole(reply: FastifyReply): Dispatcher.DispatchHandler {
  const chunks: Buffer[] = [];
  return {
    onRequestStart() {},
    onResponseStart(_controller, status) {
      reply.code(status).type("application/json");
    },
    onResponseData(_controller, chunk) {
      chunks.push(chunk);
    },
    onResponseEnd() {
      reply.send(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks));
    },
    onResponseError(_controller, error) {
      reply.send(error);
    },
  };
}

/** Each chunk is written as it comes. */
function passStream(reply: FastifyReply): Dispatcher.DispatchHandler {
  reply.hijack();
  const response: ServerResponse = reply.raw;
  return {
    onRequestStart(controller) {
      response.once("close", () => {
        if (!response.writableFinished) controller.abort(new Error("the client disconnected"));
      });
    },
    onResponseStart(_controller, status) {
      response.writeHead(status, { "content-type": "text/event-stream" });
    },
    onResponseData(_controller, chunk) {
      response.write(chunk);
    },
    onResponseEnd() {
      response.end();
    },
    onResponseError() {
      response.destroy();
    },
  };
}
