// A WebSocket client of Responses, which keeps every message in its order.

import { once } from "node:events";
import { type ClientOptions, WebSocket } from "ws";
import type { Json } from "./streams.ts";

interface Turn {
  readonly events: readonly Json[];
  /** The last event: the end of the response, or an error. */
  readonly last: Json;
  /** The response of the last event. */
  readonly response: Json;
}

export interface SocketClient {
  readonly socket: WebSocket;
  send(message: unknown): void;
  /** Sends `response.create` and reads to the end of the turn. */
  ask(body: object): Promise<Turn>;
  /** Reads to the end of the next turn. */
  turn(): Promise<Turn>;
  /** Resolves to the code with which the connection is closed. */
  readonly closed: Promise<number>;
  close(): Promise<number>;
}

const ENDS = ["response.completed", "response.incomplete", "response.failed", "error"];

export async function openSocket(
  { url, key }: { readonly url: string; readonly key: string },
  options: ClientOptions = {},
): Promise<SocketClient> {
  const headers = { authorization: `Bearer ${key}`, ...options.headers };
  const socket = new WebSocket(`${url.replace("http", "ws")}/v1/responses`, { ...options, headers });
  const messages: Json[] = [];
  let wake = (): void => undefined;
  socket.on("message", (data) => {
    messages.push(JSON.parse(String(data)) as Json);
    wake();
  });
  const closed = once(socket, "close").then(([code]) => Number(code));
  const isGone = closed.then(() => "closed" as const);
  socket.on("error", () => undefined);
  await Promise.race([
    once(socket, "open"),
    once(socket, "unexpected-response").then(async ([, response]) => {
      const pieces: Buffer[] = [];
      for await (const piece of response) pieces.push(piece);
      throw Object.assign(new Error("refused"), {
        status: response.statusCode,
        body: Buffer.concat(pieces).toString(),
      });
    }),
  ]);
  const turn = async (): Promise<Turn> => {
    for (;;) {
      const end = messages.findIndex(({ type }) => ENDS.includes(String(type)));
      if (end >= 0) {
        const events = messages.splice(0, end + 1);
        const last = events.at(-1) as Json;
        return { events, last, response: (last.response ?? {}) as Json };
      }
      const next = new Promise<void>((resolve) => {
        wake = resolve;
      });
      if ((await Promise.race([next, isGone])) === "closed") throw new Error(`closed with ${await closed}`);
    }
  };
  const send = (message: unknown): void => socket.send(typeof message === "string" ? message : JSON.stringify(message));
  return {
    socket,
    send,
    turn,
    ask(body) {
      send({ type: "response.create", model: "auto", ...body });
      return turn();
    },
    closed,
    close() {
      socket.close();
      return closed;
    },
  };
}
