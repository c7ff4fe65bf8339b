// The moments inside a stream come out as they went in.

import { expect, test } from "vitest";
import { nowUs, readMarks, writeMark } from "../../../bench/marks.ts";

test("marks are found among other text, in order", () => {
  const before = nowUs();
  const text = `data: {"content":"${writeMark()} word"}\n\ndata: {"content":"${writeMark()} @home 12@"}\n\n`;
  const marks = readMarks(Buffer.from(text));
  expect(marks).toHaveLength(2);
  for (const mark of marks) {
    expect(mark).toBeGreaterThanOrEqual(before);
    expect(mark).toBeLessThanOrEqual(nowUs());
  }
  expect(readMarks(Buffer.from("data: [DONE]"))).toEqual([]);
});
