// One exchange of a soaking client, over a connection that is kept: what it saw, and what that must have cost.

import { type Agent, request as httpRequest } from "node:http";
import { costOf, type Shown } from "./books.ts";

export interface Question {
  readonly method: "GET" | "POST" | "DELETE";
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  /** The client leaves after so many bytes of the answer; 0 before any. */
  readonly leaveAfterBytes: number | null;
}

export interface Outcome {
  /** A status with its code, or what happened to the connection. */
  readonly kind: string;
  readonly status: number | null;
  readonly text: string;
  /** Null when the answer is not whole, or is none that costs anything. */
  readonly cost: bigint | null;
}

export function ask(url: string, agent: Agent, question: Question): Promise<Outcome> {
  const { method, path, headers, body, leaveAfterBytes } = question;
  return new Promise((resolve) => {
    const request = httpRequest(`${url}${path}`, { method, agent, headers });
    let text = "";
    let hasLeft = false;
    const leave = (): void => {
      hasLeft = true;
      request.destroy();
    };
    const left: Outcome = { kind: "left", status: null, text: "", cost: null };
    const lose = (error: NodeJS.ErrnoException): void =>
      resolve(hasLeft ? left : { ...left, kind: `connection ${error.code ?? error.message}` });
    request.once("error", lose);
    request.once("response", (response) => {
      response.setEncoding("utf8").on("data", (piece: string) => {
        text += piece;
        if (leaveAfterBytes !== null && text.length >= leaveAfterBytes) leave();
      });
      response.once("error", lose);
      // A client that leaves with the last piece in hand may still be told that it was the last.
      response.once("end", () => resolve(hasLeft ? left : read(response.statusCode ?? 0, text, question)));
    });
    request.end(body ?? undefined);
    if (leaveAfterBytes === 0) setTimeout(leave, 3);
  });
}

function read(status: number, text: string, { path, body }: Question): Outcome {
  if (status !== 200 || !path.startsWith("/v1/") || body === null || path === "/v1/routing/debug") {
    return { kind: status < 400 ? "ok" : `${status} ${codeOf(text)}`, status, text, cost: null };
  }
  const isStream = text.startsWith("data:") || text.startsWith("event:") || text.startsWith(":");
  if (!isStream) return { kind: "answer", status, text, cost: costOf(JSON.parse(text) as Shown) };
  const events = text.split("\n").filter((line) => line.startsWith("data: {"));
  const shown = events.map((line) => JSON.parse(line.slice("data: ".length)) as Shown & { error?: object });
  if (shown.some(({ error }) => error !== undefined)) return { kind: "stream broken", status, text, cost: null };
  const isWhole = text.includes("data: [DONE]") || text.includes("event: message_stop");
  if (!isWhole) return { kind: "stream without an end", status, text, cost: null };
  return { kind: "stream", status, text, cost: costOf(merge(shown)) };
}

/** The model and the usage as the events of a stream tell them, the later ones over the earlier. */
function merge(events: readonly Shown[]): Shown {
  let shown: Shown = {};
  for (const { model, usage, message } of events) {
    shown = {
      model: shown.model ?? message?.model ?? model,
      usage: { ...shown.usage, ...message?.usage, ...usage },
    };
  }
  return shown;
}

function codeOf(text: string): string {
  try {
    const { error } = JSON.parse(text) as { error?: { code?: string; type?: string } };
    return error?.code ?? error?.type ?? "";
  } catch {
    return "without a code";
  }
}
