// One request of a soak client over a keep-alive connection: what it saw, and what that must have cost.

import { type Agent, request as httpRequest } from "node:http";
import { costOf, type ShownUsage } from "./charges.ts";

/** A request, and when to disconnect from it. */
export interface SoakRequest {
  readonly method: "GET" | "POST" | "DELETE";
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  /** The client disconnects after so many bytes of the response; 0 before any. */
  readonly disconnectAfterBytes: number | null;
}

/** Outcome of the request. */
export interface SoakOutcome {
  /** A status with its code, or what happened to the connection. */
  readonly kind: string;
  readonly status: number | null;
  readonly text: string;
  /** Cost of the response; null when the response is incomplete, or costs nothing. */
  readonly cost: bigint | null;
}

/** Never rejects: a broken connection is an outcome, too. */
export function send(url: string, agent: Agent, soakRequest: SoakRequest): Promise<SoakOutcome> {
  const { method, path, headers, body, disconnectAfterBytes } = soakRequest;
  return new Promise((resolve) => {
    const request = httpRequest(`${url}${path}`, { method, agent, headers });
    let text = "";
    let isDisconnected = false;
    const disconnect = (): void => {
      isDisconnected = true;
      request.destroy();
    };
    const disconnected: SoakOutcome = { kind: "disconnected", status: null, text: "", cost: null };
    const lose = (error: NodeJS.ErrnoException): void =>
      resolve(isDisconnected ? disconnected : { ...disconnected, kind: `connection ${error.code ?? error.message}` });
    request.once("error", lose);
    request.once("response", (response) => {
      response.setEncoding("utf8").on("data", (piece: string) => {
        text += piece;
        if (disconnectAfterBytes !== null && text.length >= disconnectAfterBytes) disconnect();
      });
      response.once("error", lose);
      // A client that disconnects with the last piece may still see the end of the response.
      response.once("end", () =>
        resolve(isDisconnected ? disconnected : read(response.statusCode ?? 0, text, soakRequest)),
      );
    });
    request.end(body ?? undefined);
    if (disconnectAfterBytes === 0) setTimeout(disconnect, 3);
  });
}

/** Only completions cost something; all other responses are judged by their status. */
function read(status: number, text: string, { path, body }: SoakRequest): SoakOutcome {
  if (status !== 200 || !path.startsWith("/v1/") || body === null || path === "/v1/routing/debug") {
    return { kind: status < 400 ? "ok" : `${status} ${codeOf(text)}`, status, text, cost: null };
  }
  const isStream = text.startsWith("data:") || text.startsWith("event:") || text.startsWith(":");
  if (!isStream) return { kind: "answer", status, text, cost: costOf(JSON.parse(text) as ShownUsage) };
  const events = text.split("\n").filter((line) => line.startsWith("data: {"));
  const shown = events.map((line) => JSON.parse(line.slice("data: ".length)) as ShownUsage & { error?: object });
  if (shown.some(({ error }) => error !== undefined)) return { kind: "stream broken", status, text, cost: null };
  const isWhole = text.includes("data: [DONE]") || text.includes("event: message_stop");
  if (!isWhole) return { kind: "stream without an end", status, text, cost: null };
  return { kind: "stream", status, text, cost: costOf(merge(shown)) };
}

/** The model and usage of a stream; later events win over earlier ones. */
function merge(events: readonly ShownUsage[]): ShownUsage {
  let shown: ShownUsage = {};
  for (const { model, usage, message } of events) {
    shown = {
      model: shown.model ?? message?.model ?? model,
      usage: { ...shown.usage, ...message?.usage, ...usage },
    };
  }
  return shown;
}

/** The error code of either format. */
function codeOf(text: string): string {
  try {
    const { error } = JSON.parse(text) as { error?: { code?: string; type?: string } };
    return error?.code ?? error?.type ?? "";
  } catch {
    return "without a code";
  }
}
