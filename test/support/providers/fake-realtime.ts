// A provider with realtime sessions. Each response consists of sound and of the usage that the test says, or goes as it says.

import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { type WebSocket, WebSocketServer } from "ws";
import type { Json } from "./streams.ts";

/** One session, seen from the provider. */
export interface FakeSession {
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly socket: WebSocket;
  /** Messages of the client. */
  readonly received: readonly Json[];
  send(event: object): void;
  readonly closed: Promise<number>;
}

export interface FakeRealtime {
  readonly url: string;
  readonly sessions: FakeSession[];
  /** Says what to do with the next `response.create`. */
  once(...behaviours: ((session: FakeSession) => void)[]): void;
  /** The newest session. */
  last(): FakeSession;
  openCount(): number;
  close(): Promise<void>;
}

/** Bytes of sound that a test compares: no text in them survives a change of encoding. */
export const SOUND = Array.from({ length: 3 }, (_, place) => Buffer.alloc(48, place * 85).toString("base64"));

let responses = 0;

/** Begins a response, and returns its id. */
export function begins(session: FakeSession): string {
  responses += 1;
  const id = `resp_${responses}`;
  session.send({ type: "response.created", event_id: "event_1", response: { id, status: "in_progress" } });
  return id;
}

export function ends(session: FakeSession, id: string, usage: object | null, status = "completed"): void {
  session.send({ type: "response.done", event_id: "event_2", response: { id, status, usage } });
}

/** A response with sound that counts this. */
export function speaks(usage: object | null): (session: FakeSession) => void {
  return (session) => {
    const id = begins(session);
    for (const delta of SOUND) session.send({ type: "response.output_audio.delta", response_id: id, delta });
    ends(session, id, usage);
  };
}

export async function startFakeRealtime(): Promise<FakeRealtime> {
  const server = createServer((_request, response) => response.writeHead(404).end("{}"));
  const sockets = new WebSocketServer({ server });
  const sessions: FakeSession[] = [];
  const queued: ((session: FakeSession) => void)[] = [];
  sockets.on("connection", (socket, { url = "", headers }) => {
    const received: Json[] = [];
    const session: FakeSession = {
      ...{ url, headers, socket, received },
      send: (event) => socket.send(JSON.stringify(event)),
      closed: new Promise((resolve) => socket.once("close", resolve)),
    };
    sessions.push(session);
    const settings: Json = { type: "realtime", model: new URLSearchParams(url.split("?")[1]).get("model") };
    socket.on("error", () => undefined);
    socket.on("message", (data) => {
      const event = JSON.parse(String(data)) as Json;
      received.push(event);
      if (event.type === "response.create") (queued.shift() ?? speaks(null))(session);
      if (event.type !== "session.update") return;
      session.send({ type: "session.updated", session: { ...settings, ...(event.session as object) } });
    });
    session.send({ type: "session.created", event_id: "event_0", session: settings });
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    sessions,
    once: (...behaviours) => void queued.push(...behaviours),
    last: () => sessions.at(-1) as FakeSession,
    openCount: () => sockets.clients.size,
    async close() {
      for (const socket of sockets.clients) socket.terminate();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
