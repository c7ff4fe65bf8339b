// Stopping: what runs finishes, nothing new is let in, and then everything is closed.

import { once } from "node:events";
import { Agent, request as httpRequest, type IncomingMessage, type ServerResponse } from "node:http";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { afterEach, expect, test } from "vitest";
import { expectError } from "../../support/errors.ts";
import { HELLO } from "../../support/gateway/gateway.ts";
import { type Behaviour, chunk, hangs, streams } from "../../support/providers/fake-provider.ts";
import { promisedMs } from "../../support/random.ts";
import { type Lab, openLab, parseStream } from "../lab.ts";

const hello = chunk("alpha", { content: "Hello" });
const rest = [chunk("alpha", { content: " again" }), chunk("alpha", {}, "stop")];
const STREAM = { ...HELLO, stream: true };
const agents: Agent[] = [];

afterEach(() => {
  for (const agent of agents.splice(0)) agent.destroy();
});

/** A stream that has sent its first words and waits for `goOn`. */
async function openStream(lab: Lab, agent: Agent): Promise<{ response: IncomingMessage; goOn(): void }> {
  let goOn = (): void => undefined;
  const mayGoOn = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const before = (index: number): Promise<void> | void => (index === 1 ? mayGoOn : undefined);
  lab.provider.on("alpha", streams([hello, ...rest], { before }));
  const response = await send(lab, agent, { method: "POST", path: "/v1/chat/completions" }, STREAM);
  return { response, goOn };
}

async function send(
  { gateway }: Lab,
  agent: Agent,
  target: { method: string; path: string },
  body?: object,
): Promise<IncomingMessage> {
  const headers = { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" };
  const request = httpRequest(`${gateway.url}${target.path}`, { method: target.method, agent, headers });
  request.end(body === undefined ? undefined : JSON.stringify(body));
  const [response] = (await once(request, "response")) as [IncomingMessage];
  return response;
}

function keepAlive(): Agent {
  const agent = new Agent({ keepAlive: true });
  agents.push(agent);
  return agent;
}

test("a running stream finishes, new connections are refused, and then everything is closed", async () => {
  const lab = await openLab({ server: { drainSeconds: 60 } });
  const { response, goOn } = await openStream(lab, keepAlive());
  const stopped = lab.gateway.stop();
  await expect(connectTo(lab.gateway.url)).rejects.toThrow(/ECONNREFUSED|ECONNRESET/);
  goOn();
  const stream = parseStream(await text(response));
  expect(stream).toMatchObject({ text: "Hello again", isDone: true, error: null });
  const endedAtMs = performance.now();
  await stopped;
  // The drain time is a minute; a connection kept alive by the client must not use it up.
  expect(performance.now() - endedAtMs).toBeLessThan(promisedMs(3_000));
  await lab.provider.close();
});

test("a stream that outlives the drain time ends with an error event, and the provider is let go", async () => {
  const lab = await openLab({ env: { SWITCHYARD_DRAIN_SECONDS: "0" } });
  const { response } = await openStream(lab, keepAlive());
  const received = lab.provider.requests[0]!;
  const [stream] = await Promise.all([text(response).then(parseStream), lab.gateway.stop()]);
  expect(stream).toMatchObject({ text: "Hello", isDone: false, error: { code: "shutting_down" } });
  expect(await received.closed).toEqual({ wasCut: true });
  await lab.provider.close();
});

test("a request without an answer at the end of the drain time is told 503", async () => {
  const lab = await openLab({ env: { SWITCHYARD_DRAIN_SECONDS: "0" } });
  lab.provider.on("alpha", hangs);
  const received = lab.provider.nextRequest();
  const answer = lab.gateway.post("/v1/chat/completions", HELLO);
  await received;
  const stopped = lab.gateway.stop();
  await expectError(await answer, { status: 503, code: "shutting_down" });
  await stopped;
  await lab.provider.close();
});

let events = 0;

/** More than all buffers on the way hold, as fast as it is taken. */
const floods: Behaviour = async ({ response }) => {
  response.writeHead(200, { "content-type": "text/event-stream" });
  const event = `data: ${JSON.stringify(chunk("alpha", { content: "x".repeat(100_000) }))}\n\n`;
  for (; !response.destroyed; events += 1) {
    if (!response.write(event)) await drainedOrClosed(response);
  }
};

async function drainedOrClosed(response: ServerResponse): Promise<void> {
  const waiting = new AbortController();
  const events = ["drain", "close"].map((name) => once(response, name, { signal: waiting.signal }));
  for (const event of events) event.catch(() => undefined);
  await Promise.race(events);
  waiting.abort();
}

test("a client that reads nothing does not hold up the end", async () => {
  const lab = await openLab({ env: { SWITCHYARD_DRAIN_SECONDS: "0" } });
  lab.provider.on("alpha", floods);
  const response = await send(lab, keepAlive(), { method: "POST", path: "/v1/chat/completions" }, STREAM);
  response.on("error", () => undefined);
  response.pause();
  let seen = -1;
  const isStuck = (): boolean => {
    const before = seen;
    seen = events;
    return before === seen;
  };
  await expect.poll(isStuck, { interval: 300 }).toBe(true);
  const received = lab.provider.requests[0]!;
  await lab.gateway.stop();
  expect(await received.closed).toEqual({ wasCut: true });
  await lab.provider.close();
});

test("a request on a connection that is kept alive is told 503, in our shape, and the connection is closed", async () => {
  const lab = await openLab({ server: { drainSeconds: 60 } });
  const agent = keepAlive();
  const socket = connect(Number(new URL(lab.gateway.url).port), "127.0.0.1");
  await once(socket, "connect");
  // Half a request makes the connection busy, so that it is not among the idle ones that are closed at once.
  socket.write("GET /readyz HTTP/1.1\r\nhost: gateway\r\n");
  await lab.gateway.get("/healthz");
  const { response, goOn } = await openStream(lab, agent);
  const stopped = lab.gateway.stop();
  await expect(connectTo(lab.gateway.url)).rejects.toThrow(/ECONNREFUSED|ECONNRESET/);
  socket.write("\r\n");
  const answer = await text(socket);
  expect(answer).toMatch(/^HTTP\/1\.1 503 /);
  expect(answer).toMatch(/^x-request-id: \S+\r$/im);
  expect(answer).toMatch(/^connection: close\r$/im);
  expect(JSON.parse(answer.split("\r\n\r\n")[1]!)).toMatchObject({
    error: { type: "provider_error", code: "shutting_down" },
  });
  goOn();
  await text(response);
  await stopped;
  await lab.provider.close();
});

async function connectTo(url: string): Promise<void> {
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  await once(socket, "connect");
  socket.destroy();
}
