// @ts-check
// A stand-in for every provider, for pictures only: answers of a plausible length after a plausible time, and a bad
// afternoon now and then.

import { createServer } from "node:http";

/** @typedef {{ readonly baseUrl: (provider: string) => string, failing: Set<string>, close(): Promise<void> }} Providers */

const WORDS = "the switch routes each train to the shortest line that still reaches its station on time".split(" ");

/** @returns {Promise<Providers>} */
export async function startProviders() {
  /** @type {Set<string>} */
  const failing = new Set();
  const server = createServer((request, response) => {
    /** @type {Buffer[]} */
    const parts = [];
    request.on("data", (part) => parts.push(part));
    request.on("end", () => {
      const provider = (request.url ?? "").split("/")[1] ?? "";
      const body = JSON.parse(Buffer.concat(parts).toString("utf8"));
      if (failing.has(provider)) return fail(response);
      setTimeout(() => answer(body, response), 15 + Math.random() * 60);
    });
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(undefined)));
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  return {
    failing,
    baseUrl: (provider) => `http://127.0.0.1:${port}/${provider}/v1`,
    close: () => new Promise((resolve) => server.close(() => resolve(undefined))),
  };
}

function fail(/** @type {import("node:http").ServerResponse} */ response) {
  response.writeHead(503, { "content-type": "application/json" });
  response.end(JSON.stringify({ error: { message: "The engine is overloaded. Try again later." } }));
}

function answer(/** @type {any} */ body, /** @type {import("node:http").ServerResponse} */ response) {
  const asked = JSON.stringify(body.messages ?? "").length;
  const length = Math.min(900, Math.round(40 + asked * (0.4 + Math.random())));
  const content = Array.from({ length: Math.ceil(length / 4) }, (_, index) => WORDS[index % WORDS.length]).join(" ");
  const usage = { prompt_tokens: Math.ceil(asked / 4), completion_tokens: length };
  const head = { id: "chatcmpl-demo", created: 1, model: body.model };
  if (body.stream !== true) {
    response.writeHead(200, { "content-type": "application/json" });
    const choices = [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }];
    response.end(JSON.stringify({ ...head, object: "chat.completion", choices, usage }));
    return;
  }
  response.writeHead(200, { "content-type": "text/event-stream" });
  const send = (/** @type {object} */ chunk) =>
    response.write(`data: ${JSON.stringify({ ...head, object: "chat.completion.chunk", ...chunk })}\n\n`);
  send({ choices: [{ index: 0, delta: { role: "assistant", content }, finish_reason: null }] });
  send({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] });
  send({ choices: [], usage });
  response.end("data: [DONE]\n\n");
}
