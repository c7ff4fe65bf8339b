// Admission while the process is under pressure.

import { EventEmitter } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { afterEach, expect, it, vi } from "vitest";
import { createSemaphore } from "../../../../src/core/processes/semaphores.ts";
import {
  type AdmissionContext,
  createAdmission,
  createAdmissionServer,
} from "../../../../src/http/overload/admission.ts";
import type { PressureReason } from "../../../../src/http/overload/pressure.ts";
import { createQueue, type RequestQueue } from "../../../../src/http/overload/queue.ts";
import { SHIPPED_FORMATS } from "../../../support/gateway/formats.ts";
import { keptOf } from "../../../support/young-garbage.ts";

let queue: RequestQueue;
afterEach(() => queue.close());

function admissionUnder(reason: PressureReason) {
  const shed: string[] = [];
  const context = {
    semaphores: { requests: createSemaphore(() => 100) },
    formats: SHIPPED_FORMATS,
    pressure: { reason: () => reason },
    metrics: { shed: (why: string) => shed.push(why) },
    log: { warn: () => undefined },
    now: () => 0,
  } as unknown as AdmissionContext;
  let admitted = 0;
  queue = createQueue(500);
  const admit = createAdmission(context, queue, () => {
    admitted += 1;
  });
  return {
    shed,
    admitted: () => admitted,
    ask(url: string, key = "busy"): EventEmitter {
      const response = Object.assign(new EventEmitter(), { writeHead: () => response, end: () => response });
      const request = Object.assign(new EventEmitter(), {
        url,
        headers: { authorization: `Bearer ${key}` },
        rawHeaders: [],
        complete: true,
        resume() {},
      });
      admit(request as unknown as IncomingMessage, response as unknown as ServerResponse);
      return response;
    },
  };
}

it("a late event loop rejects nothing while there is little to do", async () => {
  const admission = admissionUnder("event_loop");
  for (let count = 0; count < 32; count += 1) admission.ask("/v1/models");
  await vi.waitFor(() => expect(admission.admitted()).toBe(32), 120_000);
  expect(admission.shed).toEqual([]);
  admission.ask("/healthz");
  expect(admission.admitted()).toBe(33);
});

it("a late event loop rejects what a key sends beyond its fair place, and serves other keys", async () => {
  const admission = admissionUnder("event_loop");
  for (let count = 0; count < 32; count += 1) admission.ask("/v1/models");
  await vi.waitFor(() => expect(admission.admitted()).toBe(32), 120_000);
  for (let count = 0; count < 20; count += 1) admission.ask("/v1/models");
  admission.ask("/v1/models", "modest");
  expect([admission.admitted(), admission.shed]).toEqual([32, Array(19).fill("event_loop")]);
  await vi.waitFor(() => expect(admission.admitted()).toBe(34), 120_000);
  admission.ask("/v1/models", "modest");
  await vi.waitFor(() => expect(admission.admitted()).toBe(35), 120_000);
  expect(admission.shed).toHaveLength(19);
});

it("memory that is used up rejects everything", () => {
  const admission = admissionUnder("memory");
  admission.ask("/v1/models");
  expect([admission.admitted(), admission.shed]).toEqual([0, ["memory"]]);
});

it("holds no request of a connection that is gone", () => {
  queue = createQueue(500);
  const context = {
    settings: { server: { headersTimeoutMs: 1_000, requestTimeoutMs: 1_000, keepAliveMs: 1_000 } },
    semaphores: { connections: createSemaphore(() => 100), requests: createSemaphore(() => 10_000) },
    formats: SHIPPED_FORMATS,
    pressure: { reason: () => null },
  } as unknown as AdmissionContext;
  const server = createAdmissionServer(context, queue, () => undefined);
  const askTen = (): void => {
    for (let count = 0; count < 10; count += 1) {
      const socket = new EventEmitter();
      const body = Array.from({ length: 10_000 }, Math.random);
      const response = Object.assign(new EventEmitter(), { socket, body });
      server.emit("request", { socket, url: "/healthz", headers: {}, rawHeaders: [] }, response);
      response.emit("close");
    }
  };
  // 100 bodies of 80 KB.
  expect(keptOf(10, askTen)).toBeLessThan(3e6);
});
