// Connections that are kept: a free one is used again, and one that has closed never.

import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setImmediate as turn } from "node:timers/promises";
import type { Dispatcher } from "undici";
import { afterEach, describe, expect, it } from "vitest";
import { openConnections, type Sent } from "../../../src/providers/connections.ts";

let onEnd: () => Promise<void> = async () => undefined;

afterEach(() => onEnd());

/** A provider that answers when it is told to, and the connections to it. */
async function openProvider() {
  /** Those not answered yet, the oldest first. */
  const asked: ServerResponse[] = [];
  const server = createServer((_request, response) => void asked.push(response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const { reused } = openConnections(`http://127.0.0.1:${port}`, { connect: {} });
  onEnd = async () => {
    await reused.destroy();
    server.closeAllConnections();
    server.close();
  };
  const sendAll = async (count: number): Promise<readonly Exchange[]> => {
    const exchanges = Array.from({ length: count }, () => {
      const exchange = new Exchange();
      reused.dispatch(exchange.sent, exchange);
      return exchange;
    });
    await expect.poll(() => asked.length, { interval: 1 }).toBe(count);
    return exchanges;
  };
  const answerAll = async (exchanges: readonly Exchange[]): Promise<void> => {
    for (const response of asked.splice(0)) response.end("ok");
    for (const { end } of exchanges) expect(await end).toBe("whole");
    await turns();
  };
  return { server, reused, asked, sendAll, answerAll };
}

/** A client says that it is free a turn after the end of its answer. */
async function turns(): Promise<void> {
  for (let count = 0; count < 5; count++) await turn();
}

/** One request and how it ends. */
class Exchange implements Dispatcher.DispatchHandler {
  readonly sent: Sent = { path: "/", method: "GET", carrier: null };
  readonly end: Promise<string>;
  #resolve: (end: string) => void = () => undefined;
  #controller: Dispatcher.DispatchController | null = null;

  constructor() {
    this.end = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
  }

  onResponseStart(): void {}

  onResponseData(): void {}

  onResponseEnd(): void {
    this.#resolve("whole");
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#resolve(error.message);
  }

  abort(): void {
    this.#controller?.abort(new Error("aborted"));
  }
}

function carriersOf(exchanges: readonly Exchange[]): Set<Sent["carrier"]> {
  return new Set(exchanges.map(({ sent }) => sent.carrier));
}

describe("connections that are kept", () => {
  it("carry one request at a time, and the next ones after it", async () => {
    const { sendAll, answerAll } = await openProvider();
    const first = await sendAll(3);
    expect(carriersOf(first).size).toBe(3);
    await answerAll(first);
    const second = await sendAll(3);
    expect(carriersOf(second)).toEqual(carriersOf(first));
    await answerAll(second);
  });

  it("are used in the order that leaves idle ones idle", async () => {
    const { sendAll, answerAll } = await openProvider();
    await answerAll(await sendAll(3));
    const [one] = await sendAll(1);
    await answerAll([one as Exchange]);
    const [again] = await sendAll(1);
    expect(again?.sent.carrier).toBe(one?.sent.carrier);
    await answerAll([again as Exchange]);
  });

  it("are replaced when a request is given up in the middle", async () => {
    const { sendAll, answerAll, asked } = await openProvider();
    const [first] = await sendAll(1);
    const given = first?.sent.carrier?.socket;
    first?.abort();
    expect(await first?.end).toBe("aborted");
    asked.length = 0;
    const second = await sendAll(1);
    expect(second[0]?.sent.carrier?.socket).not.toBe(given);
    await answerAll(second);
  });

  it("are open again for the next requests when some were given up", async () => {
    const { server, sendAll, answerAll, asked } = await openProvider();
    let opened = 0;
    server.on("connection", () => {
      opened += 1;
    });
    const given = await sendAll(3);
    for (const exchange of given) exchange.abort();
    for (const { end } of given) expect(await end).toBe("aborted");
    asked.length = 0;
    await expect.poll(() => opened, { interval: 1 }).toBe(6);
    await turns();
    await answerAll(await sendAll(3));
    expect(opened).toBe(6);
  });

  it("are forgotten when the provider closes them while they are idle", async () => {
    const { server, sendAll, answerAll } = await openProvider();
    const first = await sendAll(2);
    await answerAll(first);
    server.closeIdleConnections();
    await expect.poll(() => first.map(({ sent }) => sent.carrier?.socket)).toEqual([null, null]);
    const second = await sendAll(2);
    for (const carrier of carriersOf(second)) expect(carriersOf(first)).not.toContain(carrier);
    await answerAll(second);
  });

  it("are forgotten when they cannot be opened", async () => {
    const { server, reused } = await openProvider();
    await new Promise((resolve) => server.close(resolve));
    const ends = await Promise.all(
      [1, 2].map(() => {
        const exchange = new Exchange();
        reused.dispatch(exchange.sent, exchange);
        return exchange.end;
      }),
    );
    expect(ends).toEqual([expect.stringContaining("ECONNREFUSED"), expect.stringContaining("ECONNREFUSED")]);
    await reused.close();
  });

  it("are forgotten when the certificate has another name, after which undici cannot close one", async () => {
    const failure = Object.assign(new Error("another name"), { code: "ERR_TLS_CERT_ALTNAME_INVALID" });
    const lookup = (_host: string, _options: object, done: (error: Error, address: string, family: number) => void) =>
      done(failure, "", 4);
    const { reused } = openConnections("http://provider.example", { connect: { lookup } });
    const exchange = new Exchange();
    reused.dispatch(exchange.sent, exchange);
    expect(await exchange.end).toBe("another name");
    await turns();
    await reused.close();
  });

  it("stay free when a request cannot be sent at all", async () => {
    const { reused, sendAll, answerAll } = await openProvider();
    const refuse = async (): Promise<void> => {
      const exchange = new Exchange();
      Object.assign(exchange.sent, { headers: { authorization: "Bearer sk\u2011x" } });
      reused.dispatch(exchange.sent, exchange);
      expect(await exchange.end).toBe("invalid authorization header");
    };
    await refuse();
    const first = await sendAll(1);
    await answerAll(first);
    for (let count = 0; count < 3; count++) await refuse();
    const second = await sendAll(1);
    expect(carriersOf(second)).toEqual(carriersOf(first));
    await answerAll(second);
    await reused.close();
  });

  it("are closed once their requests have ended, and take no others", async () => {
    const { reused, sendAll, answerAll } = await openProvider();
    const [busy, ...others] = await sendAll(2);
    const closed = reused.close();
    expect(() => reused.dispatch({ path: "/", method: "GET", carrier: null }, new Exchange())).toThrow(/closed/);
    await answerAll([busy as Exchange, ...others]);
    await closed;
    expect(busy?.sent.carrier?.socket).toBe(null);
  });

  it("can be ended in the middle", async () => {
    const { reused, sendAll } = await openProvider();
    const exchanges = await sendAll(2);
    await reused.destroy();
    expect(await Promise.all(exchanges.map(({ end }) => end))).toEqual([
      expect.stringContaining("destroyed"),
      expect.stringContaining("destroyed"),
    ]);
    expect(() => reused.dispatch({ path: "/", method: "GET", carrier: null }, new Exchange())).toThrow(/destroyed/);
  });
});
