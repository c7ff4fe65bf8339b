// Whom the door lets in while the process is under pressure.

import { EventEmitter } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { expect, it } from "vitest";
import type { Edge } from "../../../../src/http/context.ts";
import { createGate } from "../../../../src/http/overload/admission.ts";
import type { PressureReason } from "../../../../src/telemetry/pressure.ts";

function gateUnder(reason: PressureReason) {
  const shed: string[] = [];
  const edge = {
    settings: { limits: { inFlight: 100 } },
    pressure: { reason: () => reason },
    metrics: { shed: (why: string) => shed.push(why) },
    log: { warn: () => undefined },
    now: () => 0,
  } as unknown as Edge;
  let entered = 0;
  const enter = createGate(edge, { passes: () => true } as Parameters<typeof createGate>[1], () => {
    entered += 1;
  });
  return {
    shed,
    entered: () => entered,
    ask(url: string): EventEmitter {
      const response = Object.assign(new EventEmitter(), { writeHead: () => response, end: () => response });
      const request = Object.assign(new EventEmitter(), {
        url,
        headers: {},
        rawHeaders: [],
        complete: true,
        resume() {},
      });
      enter(request as unknown as IncomingMessage, response as unknown as ServerResponse);
      return response;
    },
  };
}

it("a late event loop refuses nobody while there is little to do", () => {
  const gate = gateUnder("event_loop");
  const responses = Array.from({ length: 32 }, () => gate.ask("/v1/models"));
  expect([gate.entered(), gate.shed]).toEqual([32, []]);
  gate.ask("/v1/models");
  expect([gate.entered(), gate.shed]).toEqual([32, ["event_loop"]]);
  gate.ask("/healthz");
  expect(gate.entered()).toBe(33);
  responses[0]?.emit("close");
  gate.ask("/v1/models");
  expect([gate.entered(), gate.shed]).toEqual([34, ["event_loop"]]);
});

it("memory that is used up refuses everybody", () => {
  const gate = gateUnder("memory");
  gate.ask("/v1/models");
  expect([gate.entered(), gate.shed]).toEqual([0, ["memory"]]);
});
