// The client disconnects: the provider's connection is closed at once, nothing more is tried, and the log says so.

import { once } from "node:events";
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import {
  type Behaviour,
  chunk,
  cutsBody,
  fails,
  hangs,
  sends,
  streams,
} from "../../support/providers/fake-provider.ts";
import { promisedMs } from "../../support/random.ts";
import { type Lab, type OpenRequest, openLab } from "../lab.ts";

const hello = chunk("alpha", { content: "Hello" });
const role = chunk("alpha", { role: "assistant" });
const unhandled = vi.fn();
const SOON_MS = promisedMs(1_000);

let lab: Lab;
beforeAll(async () => {
  process.on("unhandledRejection", unhandled);
  lab = await openLab();
});
beforeEach(() => lab.reset());
afterAll(async () => {
  await lab.close();
  process.off("unhandledRejection", unhandled);
  expect(unhandled).not.toHaveBeenCalled();
});

const halfBody: Behaviour = ({ response }) => {
  response.writeHead(200, { "content-type": "application/json" });
  response.write('{"id":"x",');
};

const halfError: Behaviour = ({ response }) => {
  response.writeHead(500, { "content-type": "application/json" });
  response.write('{"error":');
};

interface Case {
  readonly name: string;
  readonly behaviour: Behaviour;
  readonly stream: boolean;
  /** Resolves when the client may leave. */
  readonly until?: (open: OpenRequest) => Promise<unknown>;
}

const firstBytes = async (open: OpenRequest): Promise<unknown> => once(await open.response, "data");
const aMoment = (): Promise<unknown> => lab.gateway.get("/healthz");

const CASES: readonly Case[] = [
  { name: "while waiting for headers", behaviour: hangs, stream: false, until: aMoment },
  { name: "while waiting for the headers of a stream", behaviour: hangs, stream: true, until: aMoment },
  { name: "in the middle of a whole answer", behaviour: halfBody, stream: false, until: aMoment },
  { name: "in the middle of a whole answer to a stream", behaviour: halfBody, stream: true, until: aMoment },
  { name: "in the middle of an error", behaviour: halfError, stream: false, until: aMoment },
  {
    name: "after the role, before content",
    behaviour: streams([role], { ending: "hang" }),
    stream: true,
    until: aMoment,
  },
  { name: "between chunks", behaviour: streams([role, hello], { ending: "hang" }), stream: true, until: firstBytes },
];

test.each(CASES)("$name", async ({ name, behaviour, stream, until }) => {
  lab.provider.on("*", behaviour);
  const requestId = `leaves-${name.replaceAll(/[^a-z]/g, "-")}`;
  const received = lab.provider.nextRequest();
  const open = lab.open(requestId, { stream });
  const { closed } = await received;
  await until?.(open);
  const leftAtMs = performance.now();
  open.leave();
  expect(await closed).toEqual({ wasCut: true });
  expect(performance.now() - leftAtMs).toBeLessThan(SOON_MS);
  const line = await lab.line(requestId);
  expect(line.ending).toBe("client-gone");
  expect(lab.provider.requests).toHaveLength(1);
  expect(line.attempts).toHaveLength(1);
});

test("during the wait before a retry: there is no retry", async () => {
  lab.provider.on("*", fails(429, {}, { "retry-after": "2" }));
  const received = lab.provider.nextRequest();
  const open = lab.open("leaves-in-retry-wait", { model: "alpha", service_profile: "direct" });
  await (await received).closed;
  await aMoment();
  const leftAtMs = performance.now();
  open.leave();
  const line = await lab.line("leaves-in-retry-wait");
  expect(performance.now() - leftAtMs).toBeLessThan(SOON_MS);
  expect(line.ending).toBe("client-gone");
  expect(line.attempts.map(({ outcome }) => outcome)).toEqual(["failed"]);
  expect(lab.provider.requests).toHaveLength(1);
});

test.each([
  { name: "before the headers", behaviour: hangs, stream: false },
  { name: "in the middle of a whole answer to a stream", behaviour: halfBody, stream: true },
])("a client that disconnects $name does not count against the model", async ({ name, behaviour, stream }) => {
  const closedAfterMs: number[] = [];
  for (let round = 0; round < 6; round += 1) {
    lab.provider.once("alpha", behaviour);
    const requestId = `leaves-${name.replaceAll(" ", "-")}-${round}`;
    const received = lab.provider.nextRequest();
    const open = lab.open(requestId, { stream });
    const { closed } = await received;
    await aMoment();
    const leftAtMs = performance.now();
    open.leave();
    await closed;
    closedAfterMs.push(performance.now() - leftAtMs);
    expect((await lab.line(requestId)).attempts.map(({ outcome }) => outcome)).toEqual(["client-gone"]);
  }
  expect(await (await lab.ask()).json()).toMatchObject({ model: "alpha" });
  expect(Math.max(...closedAfterMs), "the call at the provider is cancelled within a second").toBeLessThan(SOON_MS);
});

test("the log line of a client that stays says complete", async () => {
  const response = await lab.ask({ stream: true });
  await response.text();
  expect((await lab.line(response.headers.get("x-request-id")!)).ending).toBe("complete");
  lab.provider.once("alpha", cutsBody, sends(200, "{}"));
  const whole = await lab.ask();
  await whole.text();
  expect(await lab.line(whole.headers.get("x-request-id")!)).toMatchObject({ ending: "complete", model: "beta" });
});
