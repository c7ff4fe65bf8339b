// A scheme whose tokens come from a server of their own and live for a while, and that server. It counts what it hands
// out, and can be told to be slow, to refuse, or to revoke what it gave.

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { AuthRow } from "../../../../src/providers/auth/schemes.ts";

export interface TokenServer {
  readonly row: AuthRow;
  /** How many tokens were handed out. */
  readonly issued: () => number;
  readonly isValid: (header: string | undefined) => boolean;
  /** Tokens from now on live this long. */
  lifeMs: number;
  /** Awaited before each answer. */
  before: () => Promise<void> | void;
  /** The status of the next answers; 200 hands out a token. */
  status: number;
  revokeAll(): void;
  close(): Promise<void>;
}

export async function startTokenServer(): Promise<TokenServer> {
  const live = new Map<string, number>();
  let count = 0;
  const server = createServer(async (request, response) => {
    await tokens.before();
    if (tokens.status !== 200) return void response.writeHead(tokens.status).end();
    count += 1;
    const text = `token-${count}-of-${request.headers["x-account"]}`;
    live.set(text, Date.now() + tokens.lifeMs);
    response.end(JSON.stringify({ token: text, lifeMs: tokens.lifeMs }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const tokens: TokenServer = {
    row: {
      form: "token",
      async fetchToken({ apiKey }, signal) {
        const answer = await fetch(address, { headers: { "x-account": apiKey ?? "" }, signal });
        if (!answer.ok) throw new Error(`the token server answered ${answer.status}`);
        const { token, lifeMs } = (await answer.json()) as { readonly token: string; readonly lifeMs: number };
        return { text: token, expiresAtMs: Date.now() + lifeMs };
      },
    },
    issued: () => count,
    isValid: (header) => (live.get(header?.replace("Bearer ", "") ?? "") ?? 0) > Date.now(),
    lifeMs: 3_600_000,
    before: () => undefined,
    status: 200,
    revokeAll: () => live.clear(),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return tokens;
}
