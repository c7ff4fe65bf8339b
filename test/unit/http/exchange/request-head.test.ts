// The head of a request: one spelling of its path, and its id.

import type { IncomingMessage } from "node:http";
import { describe, expect, it, test } from "vitest";
import { newRequestId, pathOf, requestIdOf } from "../../../../src/http/exchange/request-head.ts";
import { fc } from "../../../support/property.ts";

test.each([
  ["/v1/models", "/v1/models"],
  ["/%761/%6Dodels", "/v1/models"],
  ["/%2576%31/x", "/%25761/x"],
  ["/v1/models/a%2fb", "/v1/models/a%2fb"],
  ["/v1/%2e%2E/api", "/v1/../api"],
  ["/x%00%0d%ff%zz%", "/x%00%0d%ff%zz%"],
  ["/v1/models?after=%61%2f", "/v1/models?after=%61%2f"],
  ["/%3fx", "/%3fx"],
  ["http://here:1/%761/models", "/v1/models"],
  ["http://elsewhere/v1/models", "http://elsewhere/v1/models"],
])("the path of %s is %s", (url, path) => {
  expect(pathOf({ url, headers: { host: "here:1" } } as IncomingMessage)).toBe(path);
});

describe("requestIdOf", () => {
  it("keeps what is short and plain and replaces the rest", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[A-Za-z0-9_.=-]{1,140}$/)), (given) => {
        const id = requestIdOf({ headers: { "x-request-id": given } });
        if (/^[A-Za-z0-9_.=-]{1,128}$/.test(given)) expect(id).toBe(given);
        else expect(id).toMatch(/^req_[0-9a-f]{24}$/);
      }),
    );
  });

  it("makes one where there is none", () => {
    expect(requestIdOf({ headers: {} })).toMatch(/^req_/);
  });
});

describe("newRequestId", () => {
  it("sorts by the time it was made at", async () => {
    const earlier = newRequestId();
    const madeAtMs = Date.now();
    while (Date.now() <= madeAtMs) await new Promise((resolve) => setImmediate(resolve));
    expect(newRequestId() > earlier).toBe(true);
  });

  it("never gives the same twice", () => {
    const ids = Array.from({ length: 5000 }, newRequestId);
    expect(new Set(ids).size).toBe(ids.length);
  });
});
