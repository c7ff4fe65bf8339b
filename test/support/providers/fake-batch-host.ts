// A host that runs batches, as OpenAI and as Anthropic have them, and answers single requests as well. A batch ends when the
// test says so, with the answers that the test gives.

import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";

export const TOKENS = { input: 1_000, output: 100 };

interface Line {
  readonly custom_id: string;
  readonly url?: string;
  readonly body: Record<string, unknown>;
}

interface HostBatch {
  readonly id: string;
  readonly lines: readonly Line[];
  state: "running" | "over";
  isCancelled: boolean;
  /** What the host answers to a line: nothing, an error, or whole. */
  fate: (line: Line) => "answered" | "failed" | "missing";
}

export interface BatchHost {
  readonly url: string;
  readonly batches: HostBatch[];
  /** Paths of all requests, in order. */
  readonly calls: string[];
  /** Fails the calls to these paths with 500. */
  readonly broken: Set<string>;
  finish(fate?: HostBatch["fate"]): void;
  close(): Promise<void>;
}

export async function startBatchHost(): Promise<BatchHost> {
  const files = new Map<string, string>();
  const batches: HostBatch[] = [];
  const calls: string[] = [];
  const broken = new Set<string>();
  const server = createServer(async (request, response) => {
    const text = await textOf(request);
    const path = request.url ?? "";
    calls.push(`${request.method} ${path}`);
    const { status, body } = broken.has(path)
      ? { status: 500, body: { error: { message: "broken" } } }
      : answer(`${request.method} ${path}`, text, { files, batches });
    response.writeHead(status, { "content-type": "application/json" });
    response.end(typeof body === "string" ? body : JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    batches,
    calls,
    broken,
    finish(fate = () => "answered") {
      for (const batch of batches) Object.assign(batch, { state: "over", fate });
    },
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

interface World {
  readonly files: Map<string, string>;
  readonly batches: HostBatch[];
}

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

const ok = (body: unknown): Answer => ({ status: 200, body });

function answer(call: string, text: string, { files, batches }: World): Answer {
  const [, name = ""] = /(batch_\d+)/.exec(call) ?? [];
  const batch = batches.find(({ id }) => id === name);
  const begin = (lines: readonly Line[]): HostBatch => {
    const begun: HostBatch = {
      ...{ id: `batch_${batches.length}`, lines, state: "running", isCancelled: false },
      fate: () => "answered",
    };
    batches.push(begun);
    return begun;
  };
  if (call === "POST /chat/completions") return ok(chatAnswer(JSON.parse(text)));
  if (call === "POST /v1/messages") return ok(messageAnswer(JSON.parse(text)));
  if (call === "POST /files") {
    const id = `file_${files.size}`;
    files.set(id, /\r\n\r\n(\{.*\})\r?\n?\r\n--/s.exec(text.slice(text.indexOf("filename=")))?.[1] ?? "");
    return ok({ id });
  }
  if (call === "POST /batches") {
    const { input_file_id: file } = JSON.parse(text) as { input_file_id: string };
    const lines = (files.get(file) ?? "").trim().split("\n");
    return ok(writeOpenai(begin(lines.map((line) => JSON.parse(line) as Line))));
  }
  if (call === "POST /v1/messages/batches") {
    const { requests } = JSON.parse(text) as { requests: { custom_id: string; params: Line["body"] }[] };
    return ok(writeMessages(begin(requests.map(({ custom_id, params }) => ({ custom_id, body: params })))));
  }
  if (batch === undefined) return { status: 404, body: { error: { message: "unknown" } } };
  if (call.endsWith("/cancel")) batch.isCancelled = true;
  if (call.endsWith("/content")) return ok(openaiResults(batch));
  if (call.endsWith("/results")) return ok(messageResults(batch));
  return ok(call.includes("/v1/messages") ? writeMessages(batch) : writeOpenai(batch));
}

const writeOpenai = ({ id, state, isCancelled }: HostBatch) => ({
  id,
  status: state === "running" ? "in_progress" : isCancelled ? "cancelled" : "completed",
  output_file_id: state === "over" ? `out-${id}` : null,
});

const writeMessages = ({ id, state }: HostBatch) => ({
  id,
  processing_status: state === "running" ? "in_progress" : "ended",
});

function openaiResults({ lines, fate }: HostBatch): string {
  const written = lines.flatMap((line) => {
    const end = fate(line);
    if (end === "missing") return [];
    const status = end === "failed" ? 500 : 200;
    const body =
      end === "failed" ? { error: { message: "no" } } : { ...chatAnswer(line.body), service_tier: "default" };
    return [JSON.stringify({ custom_id: line.custom_id, response: { status_code: status, body }, error: null })];
  });
  return `${written.join("\n")}\n`;
}

function messageResults({ lines, fate }: HostBatch): string {
  const written = lines.map((line) => {
    const result =
      fate(line) === "answered"
        ? { type: "succeeded", message: messageAnswer(line.body) }
        : { type: "errored", error: { type: "error", error: { type: "api_error", message: "no" } } };
    return JSON.stringify({ custom_id: line.custom_id, result });
  });
  return `${written.join("\n")}\n`;
}

const chatAnswer = ({ model }: Record<string, unknown>) => ({
  ...{ id: "chatcmpl-1", object: "chat.completion", created: 1, model },
  choices: [{ index: 0, message: { role: "assistant", content: "by the host" }, finish_reason: "stop" }],
  usage: {
    prompt_tokens: TOKENS.input,
    completion_tokens: TOKENS.output,
    total_tokens: TOKENS.input + TOKENS.output,
  },
});

const messageAnswer = ({ model }: Record<string, unknown>) => ({
  ...{ id: "msg_1", type: "message", role: "assistant", model, stop_reason: "end_turn", stop_sequence: null },
  content: [{ type: "text", text: "by the host" }],
  usage: { input_tokens: TOKENS.input, output_tokens: TOKENS.output },
});

async function textOf(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  return Buffer.concat(pieces).toString("utf8");
}
