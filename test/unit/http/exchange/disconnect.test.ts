// Client disconnects, also for listeners that come too late.

import { ServerResponse } from "node:http";
import { expect, test, vi } from "vitest";
import { whenOver } from "../../../../src/http/exchange/disconnect.ts";

function newResponse(): ServerResponse {
  return new ServerResponse({ method: "GET", httpVersionMajor: 1, httpVersionMinor: 1 } as never);
}

test("runs when the response closes", () => {
  const response = newResponse();
  const end = vi.fn();
  whenOver(response, end);
  expect(end).not.toHaveBeenCalled();
  response.emit("close");
  expect(end).toHaveBeenCalledTimes(1);
});

test("runs at once if the response has closed before, and only once", () => {
  const response = newResponse();
  response.destroy();
  const end = vi.fn();
  whenOver(response, end);
  response.emit("close");
  expect(end).toHaveBeenCalledTimes(1);
});

test("runs everything in the order in which it was added, once however often the response closes", () => {
  const response = newResponse();
  const ran: string[] = [];
  for (const name of ["first", "second", "third"]) whenOver(response, () => ran.push(name));
  response.emit("close");
  response.emit("close");
  expect(ran).toEqual(["first", "second", "third"]);
  expect(response.listenerCount("close")).toBe(1);
});
