// The recording of a request: written exactly once, and with the report wherever there is one to come.

import { EventEmitter } from "node:events";
import type { FastifyReply, FastifyRequest } from "fastify";
import { expect, test, vi } from "vitest";
import type { CallReport } from "../../../../src/core/call-report.ts";
import type { ClientRequest } from "../../../../src/formats/format.ts";
import { NO_FACTS, reportOf } from "../../../../src/gateway/report.ts";
import { RequestRecording } from "../../../../src/http/v1/record.ts";
import { SHIPPED_FORMATS } from "../../../support/gateway/formats.ts";

const REQUEST = { chat: { isStream: false } } as ClientRequest;
const DISCONNECTED: CallReport = reportOf(NO_FACTS, { event: "disconnected", isCutting: false });

function begin() {
  const raw = Object.assign(new EventEmitter(), { headersSent: false, statusCode: 200 });
  const request = { id: "req_1", method: "POST", url: "/v1/x", headers: {}, raw: {}, routeOptions: {}, caller: null };
  const log = { info: vi.fn() };
  const metrics = { begin: vi.fn(), end: vi.fn() };
  const edge = {
    now: () => 1_000,
    log,
    metrics,
    traces: null,
    records: {},
    formats: SHIPPED_FORMATS,
    settings: { logging: { logContent: false } },
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
