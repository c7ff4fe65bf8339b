// Checks the key of a client that wants a WebSocket, before the protocol changes: a cheap request inside the process, which
// is admitted, limited, logged and refused as every other one.

import type { OutgoingHttpHeaders, Server } from "node:http";
import type { Socket } from "node:net";
import { text } from "node:stream/consumers";
import { keyOf, requestInside } from "../exchange/inner-socket.ts";
import type { Refusal } from "./handshake.ts";

const CHECK_PATH = "/v1/models";

interface Checking {
  readonly socket: Socket;
  readonly headers: OutgoingHttpHeaders;
  /** The hash of the key, where the client brings something else that stands for it. */
  readonly keyHash?: string;
}

/** The key, with the headers that say what is left of its limits. */
interface CheckedKey {
  readonly keyId: string;
  readonly keyHash: string;
  readonly headers: Refusal["headers"];
}

/** Returns null where the client has left. */
export function checkKey(
  server: Server,
  { socket, headers, keyHash }: Checking,
): Promise<CheckedKey | { readonly refusal: Refusal } | null> {
  const origin = { ...addressOf(socket), holder: null, ...(keyHash !== undefined && { keyHash }) };
  const check = requestInside(server, origin, { method: "GET", path: CHECK_PATH, headers });
  const leave = (): void => void check.destroy();
  socket.once("close", leave);
  return new Promise((resolve) => {
    const gone = (): void => {
      socket.destroy();
      resolve(null);
    };
    check.on("error", gone);
    check.on("response", (response) => {
      const key = keyOf(check);
      const go = (body: string): void => {
        socket.off("close", leave);
        if (socket.destroyed) {
          resolve(null);
          return;
        }
        const { statusCode = 500, headers: told } = response;
        if (statusCode === 200 && key !== null) resolve({ keyId: key.id, keyHash: key.hash, headers: limitsIn(told) });
        else resolve({ refusal: { status: statusCode, headers: told, body } });
      };
      text(response).then(go, gone);
    });
  });
}

function limitsIn(headers: Refusal["headers"]): Refusal["headers"] {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith("x-ratelimit-")));
}

export function addressOf(socket: Socket & { readonly encrypted?: boolean }) {
  const { remoteAddress, remotePort, encrypted = false } = socket;
  return { remoteAddress, remotePort, encrypted };
}
