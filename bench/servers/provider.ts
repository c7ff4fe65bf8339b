// A mock provider that uses almost no CPU: bare node:http, a fixed response, and streams with a given number and pace of
// chunks. Each chunk carries a timestamp, so that a reader can tell how long it travelled. For gateways on many cores it
// can be several processes on one port. Their streams have one chunk then.

import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { writeTimestamp } from "../clients/timestamps.ts";
import { answerParent, SERVER_WORK, type ServerWork } from "../harness/child.ts";
import { serveFrom } from "../harness/cluster.ts";

/** The form of every stream from now on. */
interface Pace {
  readonly chunks: number;
  readonly everyMs: number;
}

export type ProviderWork = ServerWork & { pace(input: Pace): void };

/** A whole response, made once. */
const ANSWER = Buffer.from(
  JSON.stringify({
    id: "chatcmpl-bench",
    object: "chat.completion",
    created: 1_767_225_600,
    model: "bench",
    choices: [
      {
        index: 0,
        message: { role: "assistant", content: "The capital of France is Paris, on the Seine." },
        logprobs: null,
        finish_reason: "stop",
      },
    ],
    usage: { prompt_tokens: 14, completion_tokens: 11, total_tokens: 25 },
  }),
);
const ANSWER_HEADERS = { "content-type": "application/json", "content-length": String(ANSWER.length) };

const SHORT_BYTES = 2_048;
const ASKS_FOR_STREAM = /"stream": ?true/;

let pace: Pace = { chunks: 1, everyMs: 0 };

const server = createServer((request, response) => {
  let isStream = request.headers.accept === "text/event-stream";
  // Some peers send the header of a whole answer. Only short bodies ask for streams.
  if (isStream || Number(request.headers["content-length"] ?? 0) > SHORT_BYTES) request.resume();
  else {
    request.on("data", (bytes: Buffer) => {
      isStream ||= ASKS_FOR_STREAM.test(bytes.toString("latin1"));
    });
  }
  request.on("end", () => {
    if (isStream) sendStream(response, pace);
    else response.writeHead(200, ANSWER_HEADERS).end(ANSWER);
  });
});
server.keepAliveTimeout = 60_000;
const work: ProviderWork = {
  ...SERVER_WORK,
  pace(wanted) {
    pace = wanted;
  },
};
const { processes = 1 } = JSON.parse(process.argv[2] ?? "{}") as { readonly processes?: number };
await serveFrom(processes, listen, (port) => answerParent(port, work));

function listen(): Promise<number> {
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", 4096, () => resolve((server.address() as AddressInfo).port));
  });
}

/** The first chunk is sent at once. */
function sendStream(response: ServerResponse, { chunks, everyMs }: Pace): void {
  let sent = 0;
  response.writeHead(200, { "content-type": "text/event-stream" });
  const timer = setInterval(sendNext, everyMs);
  response.on("close", () => clearInterval(timer));
  sendNext();

  function sendNext(): void {
    response.write(event({ content: `${writeTimestamp()} word` }, null));
    sent += 1;
    if (sent < chunks) return;
    clearInterval(timer);
    response.end(`${event({}, "stop")}data: [DONE]\n\n`);
  }
}

/** One chunk as chat-completions streams it. */
function event(delta: object, finish: string | null): string {
  const choices = [{ index: 0, delta, finish_reason: finish }];
  const chunk = { id: "chatcmpl-bench", object: "chat.completion.chunk", created: 1_767_225_600, model: "bench" };
  return `data: ${JSON.stringify({ ...chunk, choices })}\n\n`;
}
