import { expect, test } from "vitest";
import { readRetryAfterMs } from "../../../src/gateway/retry-after.ts";

const NOW_MS = Date.parse("2026-05-04T10:00:00Z");

test.each<readonly [Record<string, string | string[]>, number | null]>([
  [{}, null],
  [{ "retry-after": "" }, null],
  [{ "retry-after": "soon" }, null],
  [{ "retry-after": "Infinity" }, null],
  [{ "retry-after": "2" }, 2_000],
  [{ "retry-after": " 1.5 " }, 1_500],
  [{ "retry-after": "-3" }, 0],
  [{ "retry-after": "86400" }, 300_000],
  [{ "retry-after": ["4", "9"] }, 4_000],
  [{ "retry-after": "Mon, 04 May 2026 10:00:30 GMT" }, 30_000],
  [{ "retry-after": "Mon, 04 May 2026 09:00:00 GMT" }, 0],
  [{ "retry-after-ms": "250" }, 250],
  [{ "x-ms-retry-after-ms": "750" }, 750],
  [{ "retry-after-ms": "250", "retry-after": "9" }, 250],
  [{ "retry-after-ms": "", "retry-after": "9" }, 9_000],
  [{ "retry-after-ms": "x", "x-ms-retry-after-ms": "40", "retry-after": "9" }, 40],
])("%j", (headers, ms) => {
  expect(readRetryAfterMs(headers, NOW_MS)).toBe(ms);
});
