// The recording of a request: written exactly once, and with the report wherever there is one to come.

import { EventEmitter } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { FastifyReply, FastifyRequest } from "fastify";
import { describe, expect, test, vi } from "vitest";
import type { CallReport } from "../../../../src/core/call-report.ts";
import { createSemaphore } from "../../../../src/core/processes/semaphores.ts";
import type { ClientRequest } from "../../../../src/formats/format.ts";
import { NO_FACTS, reportOf } from "../../../../src/gateway/report.ts";
import { createAdmission } from "../../../../src/http/overload/admission.ts";
import type { RequestQueue } from "../../../../src/http/overload/queue.ts";
import { RequestRecording } from "../../../../src/http/v1/record.ts";
import { SHIPPED_FORMATS } from "../../../support/gateway/formats.ts";

type AdmissionContext = Parameters<typeof createAdmission>[0];
type Waiting = Parameters<RequestQueue["add"]>[0];

const REQUEST = { chat: { isStream: false } } as ClientRequest;
const DISCONNECTED: CallReport = reportOf(NO_FACTS, { event: "disconnected", isCutting: false });

/** A request that waited so long before it was read. */
function queued(waitedMs: number): IncomingMessage {
  const request = { url: "/v1/x", headers: {} } as IncomingMessage;
  const response = new EventEmitter() as ServerResponse;
  const queue = { tryStart: () => false, add: ({ start }: Waiting) => start(waitedMs) } as unknown as RequestQueue;
  const context = {
    semaphores: { requests: createSemaphore(() => 10) },
    formats: SHIPPED_FORMATS,
    pressure: { reason: () => null },
  } as unknown as AdmissionContext;
  createAdmission(context, queue, () => undefined)(request, response);
  return request;
}

function begin(message: IncomingMessage = {} as IncomingMessage, body: Buffer | null = null) {
  const raw = Object.assign(new EventEmitter(), { headersSent: false, statusCode: 200 });
  const request = {
    id: "req_1",
    method: "POST",
    url: "/v1/x",
    headers: {},
    raw: message,
    routeOptions: {},
    caller: null,
    body,
  };
  const log = { info: vi.fn() };
  const metrics = { begin: vi.fn(), end: vi.fn() };
  const edge = {
    now: () => 1_000,
    log,
    metrics,
    traces: null,
    records: {},
    formats: SHIPPED_FORMATS,
    services: () => ({ logging: { logContent: false } }),
  };
  const recording = new RequestRecording(
    request as unknown as FastifyRequest,
    { raw } as unknown as FastifyReply,
    edge as unknown as ConstructorParameters<typeof RequestRecording>[2],
  );
  const close = async (): Promise<void> => {
    raw.emit("close");
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { recording, raw, close, writes: metrics.end };
}

test("a request without a call is written when it closes", async () => {
  const { raw, close, writes } = begin();
  raw.headersSent = true;
  raw.statusCode = 401;
  await close();
  expect(writes.mock.calls.map(([metric]) => metric.status)).toEqual([401]);
});

test("a client that disconnects is written once its call is settled, with status 499", async () => {
  const { recording, raw, close, writes } = begin();
  recording.callStarted(REQUEST);
  await close();
  expect(writes).not.toHaveBeenCalled();
  // An error that nobody receives is written to the dead connection before the call is over.
  raw.headersSent = true;
  recording.ended(DISCONNECTED);
  recording.callOver();
  expect(writes.mock.calls.map(([metric]) => metric.status)).toEqual([499]);
});

test("a call that has ended before the connection closes is written when it closes", async () => {
  const { recording, raw, close, writes } = begin();
  recording.callStarted(REQUEST);
  raw.headersSent = true;
  recording.ended(reportOf(NO_FACTS, { event: "finished", isCutting: false }));
  expect(writes).not.toHaveBeenCalled();
  await close();
  recording.callOver();
  expect(writes).toHaveBeenCalledTimes(1);
});

test("a call that starts after its client disconnected is not written twice", async () => {
  const { recording, close, writes } = begin();
  await close();
  recording.callStarted(REQUEST);
  recording.ended(DISCONNECTED);
  recording.callOver();
  expect(writes).toHaveBeenCalledTimes(1);
});

test("a call that fails without a report is written all the same", async () => {
  const { recording, close, writes } = begin();
  recording.callStarted(REQUEST);
  await close();
  recording.callOver();
  expect(writes).toHaveBeenCalledTimes(1);
});

describe("the body", () => {
  const FINISHED = reportOf(NO_FACTS, { event: "finished", isCutting: false });
  const longBody = (): Buffer => Buffer.alloc(64 * 1024, "a");

  test("is freed once the record is written", async () => {
    const body = longBody();
    const { recording, close } = begin(undefined, body);
    recording.callStarted(REQUEST);
    recording.ended(FINISHED);
    recording.callOver(true);
    expect(body.length).toBeGreaterThan(0);
    await close();
    expect(body.length).toBe(0);
  });

  test.each<[string, (recording: RequestRecording) => void]>([
    ["the call goes on", () => undefined],
    ["what goes on may read it", (recording) => recording.callOver()],
    [
      "a second model is asked the same",
      (recording) => {
        recording.compare({} as Parameters<RequestRecording["compare"]>[0]);
        recording.callOver(true);
      },
    ],
  ])("stays where %s", async (_case, end) => {
    const body = longBody();
    const { recording, close, writes } = begin(undefined, body);
    recording.callStarted(REQUEST);
    recording.ended(FINISHED);
    end(recording);
    await close();
    expect(writes).toHaveBeenCalledTimes(1);
    expect(body.length).toBeGreaterThan(0);
  });
});

test("the place in the queue is left as soon as the credits are reserved", () => {
  const { recording } = begin();
  const leave = vi.fn();
  recording.bodyRead(leave);
  recording.routing();
  recording.routed();
  expect(leave).not.toHaveBeenCalled();
  recording.reserved();
  expect(leave).toHaveBeenCalledTimes(1);
});

test("the time in the queue counts, in whole milliseconds", async () => {
  const { close, writes } = begin(queued(12.3456));
  await close();
  expect(writes.mock.calls.map(([metric]) => metric.durationMs)).toEqual([12]);
});
