// Text of a stream is forwarded in the turn of the event loop in which it arrives: no timer and no further turn stands
// between a provider's token and the client, the first one included.

import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { Socket } from "node:net";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { labYaml, startGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { chunk, type FakeProvider, startFakeProvider, streams, USAGE } from "../../support/providers/fake-provider.ts";

const TOKENS = ["Lorem-first", "Lorem-second", "Lorem-third"] as const;

let provider: FakeProvider;
let gateway: TestGateway;
beforeAll(async () => {
  provider = await startFakeProvider();
  gateway = await startGateway({ yaml: labYaml(provider.url) });
});
afterAll(async () => {
  await gateway.stop();
  await provider.close();
});

/** Counts turns of the event loop, and notes the turn in which each token came from the provider and went to the client. */
function watchTurns() {
  let turn = 0;
  let next = setImmediate(count);
  function count(): void {
    turn += 1;
    next = setImmediate(count);
  }
  const received = new Map<string, number>();
  const sent = new Map<string, number>();
  const note = (turns: Map<string, number>, text: string): void => {
    for (const token of TOKENS) if (text.includes(token) && !turns.has(token)) turns.set(token, turn);
  };
  const onChunk = (message: unknown): void => note(received, String((message as { readonly chunk: Buffer }).chunk));
  subscribe("undici:request:bodyChunkReceived", onChunk);
  const { write } = Socket.prototype;
  vi.spyOn(Socket.prototype, "write").mockImplementation(function (this: Socket, ...written: unknown[]) {
    // The provider wrote the token before, in this process too.
    const text = String(written[0]);
    for (const token of TOKENS) if (text.includes(token) && received.has(token)) note(sent, token);
    return Reflect.apply(write, this, written) as boolean;
  });
  return {
    received,
    sent,
    end(): void {
      clearImmediate(next);
      unsubscribe("undici:request:bodyChunkReceived", onChunk);
      vi.restoreAllMocks();
    },
  };
}

const HI = [{ role: "user", content: "Hi" }];
const FORMATS = [
  ["/v1/chat/completions", { model: "auto", messages: HI, stream: true }],
  ["/v1/messages", { model: "auto", messages: HI, max_tokens: 100, stream: true }],
  ["/v1/responses", { model: "auto", input: "Hi", store: false, stream: true }],
  ["/v1beta/models/auto:streamGenerateContent?alt=sse", { contents: [{ role: "user", parts: [{ text: "Hi" }] }] }],
] as const;

test.each(FORMATS)("%s forwards each token in the turn in which it arrives", async (path, body) => {
  const read: (() => void)[] = [];
  const isRead = TOKENS.map(() => new Promise<void>((resolve) => read.push(resolve)));
  const chunks = [...TOKENS.map((content) => chunk("alpha", { content })), chunk("alpha", {}, "stop")];
  // Each token waits until the client has read the one before, so that it comes alone.
  provider.on("*", streams(chunks, { usage: USAGE, before: (index) => isRead[index - 1] }));
  const turns = watchTurns();
  try {
    const { status, body: stream } = await gateway.post(path, body);
    expect(status).toBe(200);
    let text = "";
    for await (const piece of stream as ReadableStream<Uint8Array>) {
      text += Buffer.from(piece).toString();
      for (const [index, token] of TOKENS.entries()) if (text.includes(token)) read[index]?.();
    }
    expect([...turns.received.keys()]).toEqual([...TOKENS]);
    expect(turns.sent).toEqual(turns.received);
  } finally {
    turns.end();
  }
});
