// Request ids: the caller's own when short and plain, else fresh and never the same twice.

import { describe, expect, it } from "vitest";
import { newRequestId, requestIdOf } from "../../../../src/http/exchange/request-id.ts";
import { fc } from "../../../support/property.ts";

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
  it("never gives the same twice", () => {
    const ids = Array.from({ length: 5000 }, newRequestId);
    expect(new Set(ids).size).toBe(ids.length);
  });
});
