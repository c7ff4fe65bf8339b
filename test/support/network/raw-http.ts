// HTTP as bytes on a socket, for what a well-behaved client cannot send.

import { connect, type Socket } from "node:net";

export interface RawAnswer {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

/** Writes the bytes and reads until the server closes the connection or `content-length` bytes of a body are in. */
export function sendRaw(url: string, ...pieces: readonly (string | Buffer)[]): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const socket = openSocket(url);
    let received = "";
    const finish = (): void => {
      const answer = parseAnswer(received);
      if (answer === null) return;
      socket.destroy();
      resolve(answer);
    };
    socket.setEncoding("utf8");
    socket.on("data", (text: string) => {
      received += text;
      finish();
    });
    socket.on("close", () => reject(new Error(`closed without a whole answer: ${JSON.stringify(received)}`)));
    // A server that refuses a body may close while it is still being written; what it said before still counts.
    socket.on("error", () => undefined);
    for (const piece of pieces) socket.write(piece);
  });
}

export function openSocket(url: string): Socket {
  const { hostname, port } = new URL(url);
  return connect(Number(port), hostname);
}

function parseAnswer(text: string): RawAnswer | null {
  const end = text.indexOf("\r\n\r\n");
  if (end < 0) return null;
  const [statusLine = "", ...lines] = text.slice(0, end).split("\r\n");
  const headers = new Map(lines.map((line) => splitHeader(line)));
  const body = text.slice(end + 4);
  if (Buffer.byteLength(body) < Number(headers.get("content-length") ?? 0)) return null;
  return { status: Number(statusLine.split(" ")[1]), headers, body };
}

function splitHeader(line: string): readonly [string, string] {
  const colon = line.indexOf(":");
  return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
}
