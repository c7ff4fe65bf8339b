import { expect, test } from "vitest";
import { readRetryAfterMs } from "../../../../src/formats/provider/retry-after.ts";

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
  [{ "x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "1s" }, 1_000],
  [{ "x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "20ms" }, 20],
  [{ "x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "1m7.66s" }, 67_660],
  [{ "x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "2h0m" }, 300_000],
  [{ "x-ratelimit-remaining-tokens": "5", "x-ratelimit-reset-tokens": "9s" }, null],
  [{ "x-ratelimit-reset-tokens": "9s" }, null],
  [{ "x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "soon" }, null],
  [{ "x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "9s", "retry-after": "2" }, 2_000],
  [
    {
      "x-ratelimit-remaining-requests": "0",
      "x-ratelimit-reset-requests": "3s",
      "x-ratelimit-remaining-tokens": "0",
      "x-ratelimit-reset-tokens": "8s",
    },
    8_000,
  ],
  [
    {
      "anthropic-ratelimit-requests-remaining": "40",
      "anthropic-ratelimit-requests-reset": "2026-05-04T10:04:00Z",
      "anthropic-ratelimit-input-tokens-remaining": "0",
      "anthropic-ratelimit-input-tokens-reset": "2026-05-04T10:00:12Z",
    },
    12_000,
  ],
  [{ "x-ratelimit-remaining": "0", "x-ratelimit-reset": String(NOW_MS / 1000 + 7) }, 7_000],
  [{ "x-ratelimit-remaining": "0", "x-ratelimit-reset": String(NOW_MS + 7_000) }, 7_000],
  [{ "x-ratelimit-remaining": "0", "x-ratelimit-reset": "7" }, 7_000],
])("%j", (headers, ms) => {
  expect(readRetryAfterMs(headers, NOW_MS)).toBe(ms);
});
