// The reference: the least a proxy built on the same two libraries can do. It reads the body, sends it on and passes the
// answer back; it knows no keys, reads no JSON, decides and notes nothing.

import type { ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type FastifyReply, fastify } from "fastify";
import { type Dispatcher, Pool } from "undici";
import { answerParent, SERVER_WORK } from "../child.ts";

const { providerPort } = JSON.parse(process.argv[2] as string) as { providerPort: number };
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
await server.listen({ host: "127.0.0.1", port: 0, backlog: 4096 });
answerParent((server.server.address() as AddressInfo).port, SERVER_WORK);

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

function passStream(reply: FastifyReply): Dispatcher.DispatchHandler {
  reply.hijack();
  const response: ServerResponse = reply.raw;
  return {
    onRequestStart(controller) {
      response.once("close", () => {
        if (!response.writableFinished) controller.abort(new Error("the client has gone"));
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
