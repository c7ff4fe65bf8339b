// Timestamps inside a stream are read back as they were written.

import { expect, test } from "vitest";
import { nowUs, readTimestamps, writeTimestamp } from "../../../../bench/clients/timestamps.ts";

test("timestamps are found among other text, in order", () => {
  const before = nowUs();
  const text = `data: {"content":"${writeTimestamp()} word"}\n\ndata: {"content":"${writeTimestamp()} @home 12@"}\n\n`;
  const stamps = readTimestamps(Buffer.from(text));
  expect(stamps).toHaveLength(2);
  for (const stamp of stamps) {
    expect(stamp).toBeGreaterThanOrEqual(before);
    expect(stamp).toBeLessThanOrEqual(nowUs());
  }
  expect(readTimestamps(Buffer.from("data: [DONE]"))).toEqual([]);
});
