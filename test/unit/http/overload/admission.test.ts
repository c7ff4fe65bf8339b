// Admission while the process is under pressure.

import { EventEmitter } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { expect, it } from "vitest";
import { type AdmissionContext, createAdmission } from "../../../../src/http/overload/admission.ts";
import type { PressureReason } from "../../../../src/http/overload/pressure.ts";
import type { RequestQueue } from "../../../../src/http/overload/queue.ts";
import { SHIPPED_FORMATS } from "../../../support/gateway/formats.ts";

function admissionUnder(reason: PressureReason) {
  const shed: string[] = [];
  const context = {
    settings: { limits: { inFlight: 100 } },
    formats: SHIPPED_FORMATS,
    pressure: { reason: () => reason },
    metrics: { shed: (why: string) => shed.push(why) },
    log: { warn: () => undefined },
    now: () => 0,
  } as unknown as AdmissionContext;
  let admitted = 0;
  const queue = { tryStart: () => true } as RequestQueue;
  const admit = createAdmission(context, queue, () => {
    admitted += 1;
  });
  return {
    shed,
    admitted: () => admitted,
    ask(url: string): EventEmitter {
      const response = Object.assign(new EventEmitter(), { writeHead: () => response, end: () => response });
      const request = Object.assign(new EventEmitter(), {
        url,
        headers: {},
        rawHeaders: [],
        complete: true,
        resume() {},
      });
      admit(request as unknown as IncomingMessage, response as unknown as ServerResponse);
      return response;
    },
  };
}

it("a late event loop rejects nothing while there is little to do", () => {
  const admission = admissionUnder("event_loop");
  const responses = Array.from({ length: 32 }, () => admission.ask("/v1/models"));
  expect([admission.admitted(), admission.shed]).toEqual([32, []]);
  admission.ask("/v1/models");
  expect([admission.admitted(), admission.shed]).toEqual([32, ["event_loop"]]);
  admission.ask("/healthz");
  expect(admission.admitted()).toBe(33);
  responses[0]?.emit("close");
  admission.ask("/v1/models");
  expect([admission.admitted(), admission.shed]).toEqual([34, ["event_loop"]]);
});

it("memory that is used up rejects everything", () => {
  const admission = admissionUnder("memory");
  admission.ask("/v1/models");
  expect([admission.admitted(), admission.shed]).toEqual([0, ["memory"]]);
});
