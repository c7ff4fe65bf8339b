// The gateway's own times, read from the text of its metrics.

import { expect, test } from "vitest";
import { ownTimesIn, showOwn } from "../../../../bench/harness/own-times.ts";

const series = (name: string, labels: string, counts: readonly number[]): string =>
  ["0.0001", "0.0002", "+Inf"]
    .map((bound, index) => `switchyard_${name}_seconds_bucket{le="${bound}"${labels}} ${counts[index]}`)
    .join("\n");

const text = (whole: readonly number[]): string =>
  [
    series("to_provider", "", [0, 10, 10]),
    series("to_client", ',part="whole"', whole),
    series("to_client", ',part="first"', [7, 7, 7]),
  ].join("\n");

test("quantiles lie within their bucket by proportion, of the part that was asked for", () => {
  const times = ownTimesIn(text([100, 100, 100]));
  expect(showOwn(null, times, "to provider")).toBe("150 / 199");
  expect(showOwn(null, times, "to client")).toBe("50.0 / 99.0");
});

test("only what came between two readings counts", () => {
  expect(showOwn(ownTimesIn(text([100, 100, 100])), ownTimesIn(text([100, 120, 120])), "to client")).toBe("150 / 199");
});

test("beyond the last bound, the bound is all that is known", () => {
  expect(showOwn(null, ownTimesIn(text([0, 0, 5])), "to client")).toBe("200 / 200");
});

test("a part without requests, and a server without the metrics, have no times", () => {
  expect(showOwn(null, ownTimesIn(text([1, 1, 1])), "last")).toBe("- / -");
  expect(showOwn(null, ownTimesIn("http_requests_total 3"), "first")).toBe("");
});
