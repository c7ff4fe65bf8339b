// Remembered digits are never those of another time.

import { expect, test } from "vitest";
import { isoTime, timeInBase36, timeInHex } from "../../../../src/core/requests/time-text.ts";
import { fc } from "../../../support/property.ts";

/** Until the year 2200, with steps as small as those between two requests. */
const time = fc.nat(7_258_118_400_000);
const steps = fc.array(fc.oneof(fc.integer({ min: -3, max: 2_000 }), fc.integer({ min: -1e9, max: 1e9 })));

test("a time reads as V8 writes it, in whatever order times come", () => {
  fc.assert(
    fc.property(time, steps, (first, following) => {
      let ms = first;
      for (const step of [0, ...following]) {
        ms = Math.max(0, ms + step);
        expect(timeInBase36(ms)).toBe(ms.toString(36).padStart(3, "0"));
        expect(timeInHex(ms)).toBe(ms.toString(16).padStart(4, "0"));
        expect(isoTime(ms)).toBe(new Date(ms).toISOString());
      }
    }),
  );
});
