// Stopping: what runs finishes, nothing new is let in, and then everything is closed.

import { once } from "node:events";
import { Agent, request as httpRequest, type IncomingMessage } from "node:http";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { afterEach, expect, test } from "vitest";
import { chunk, streams } from "../support/fake-provider.ts";
import { HELLO } from "../support/gateway.ts";
import { type Lab, openLab, parseStream } from "./lab.ts";

const hello = chunk("alpha", { content: "Hello" });
const rest = [chunk("alpha", { content: " again" }), chunk("alpha", {}, "stop")];
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
  const response = await send(lab, agent, { method: "POST", path: "/v1/chat/completions" }, { ...HELLO, stream: true });
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
  const lab = await openLab({ timeouts: { idleMs: 10_000, totalMs: 20_000 } });
  const { response, goOn } = await openStream(lab, keepAlive());
  const stopped = lab.gateway.stop();
  await expect(connectTo(lab.gateway.url)).rejects.toThrow(/ECONNREFUSED|ECONNRESET/);
  goOn();
  const stream = parseStream(await text(response));
  expect(stream).toMatchObject({ text: "Hello again", isDone: true, error: null });
  const endedAtMs = performance.now();
  await stopped;
  // The drain time is 5 s; a connection kept alive by the client must not use it up.
  expect(performance.now() - endedAtMs).toBeLessThan(3000);
  await lab.provider.close();
});

test("a stream that outlives the drain time is cut, not ended", async () => {
  const lab = await openLab({ timeouts: { idleMs: 10_000, totalMs: 20_000 }, env: { SWITCHYARD_DRAIN_SECONDS: "0" } });
  const { response } = await openStream(lab, keepAlive());
  const broken = text(response);
  broken.catch(() => undefined);
  const received = lab.provider.requests[0]!;
  await lab.gateway.stop();
  await expect(broken).rejects.toThrow(/aborted/);
  expect(await received.closed).toEqual({ wasCut: true });
  await lab.provider.close();
});

test("a request on a connection that is kept alive is told 503, in our shape, and the connection is closed", async () => {
  const lab = await openLab({ timeouts: { idleMs: 10_000, totalMs: 20_000 } });
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
