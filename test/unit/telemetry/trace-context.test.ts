// traceparent, read and written. The cases are those of the standard (W3C Trace Context, level 1).

import { describe, expect, it } from "vitest";
import { newSpanId, newTraceId, readTraceparent, writeTraceparent } from "../../../src/telemetry/trace-context.ts";
import { fc } from "../../support/property.ts";

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const SPAN = "b7ad6b7169203331";

describe("a valid traceparent", () => {
  it.each([
    ["sampled", `00-${TRACE}-${SPAN}-01`, true],
    ["not sampled", `00-${TRACE}-${SPAN}-00`, false],
    ["with flags that are not known", `00-${TRACE}-${SPAN}-ff`, true],
    ["only with flags that are not known", `00-${TRACE}-${SPAN}-fe`, false],
    ["of a later version", `01-${TRACE}-${SPAN}-01`, true],
    ["of a later version that says more", `cc-${TRACE}-${SPAN}-01-what-the-future-brings`, true],
  ])("%s", (_name, header, isSampled) => {
    expect(readTraceparent(header)).toEqual({ traceId: TRACE, spanId: SPAN, isSampled });
  });
});

describe("one that is not valid is none", () => {
  it.each<readonly [string, unknown]>([
    ["missing", undefined],
    ["empty", ""],
    ["version ff", `ff-${TRACE}-${SPAN}-01`],
    ["version 00 with more after it", `00-${TRACE}-${SPAN}-01-x`],
    ["version 00 with a dash after it", `00-${TRACE}-${SPAN}-01-`],
    ["a later version with more but no dash", `01-${TRACE}-${SPAN}-01x`],
    ["a trace of zeros", `00-${"0".repeat(32)}-${SPAN}-01`],
    ["a span of zeros", `00-${TRACE}-${"0".repeat(16)}-01`],
    ["upper case", `00-${TRACE.toUpperCase()}-${SPAN}-01`],
    ["a short trace", `00-${TRACE.slice(1)}-${SPAN}-01`],
    ["spaces around", ` 00-${TRACE}-${SPAN}-01`],
    ["two of them", `00-${TRACE}-${SPAN}-01, 00-${TRACE}-${SPAN}-01`],
    ["a line break", `00-${TRACE}-${SPAN}-01\n`],
    ["endless", `01-${TRACE}-${SPAN}-01-${"x".repeat(10_000)}`],
    ["a list", [`00-${TRACE}-${SPAN}-01`]],
  ])("%s", (_name, header) => {
    expect(readTraceparent(header)).toBeNull();
  });

  it("whatever is sent", () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(readTraceparent(text)).toBeNull();
      }),
    );
  });
});

it("what is written is read again", () => {
  fc.assert(
    fc.property(fc.boolean(), (isSampled) => {
      const context = { traceId: newTraceId(), spanId: newSpanId(), parentSpanId: null, isSampled };
      const spanId = newSpanId();
      expect(readTraceparent(writeTraceparent(context, spanId))).toEqual({
        traceId: context.traceId,
        spanId,
        isSampled,
      });
    }),
  );
});

it("ids are not made twice", () => {
  const ids = Array.from({ length: 5_000 }, newSpanId);
  expect(new Set(ids).size).toBe(ids.length);
});
