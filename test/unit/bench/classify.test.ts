// The benchmark of the decision runs, measures every size, and measures something.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { measureClassify } from "../../../bench/classify.ts";
import { bodyOf, SIZES } from "../../../bench/clients/bodies.ts";
import { benchSettings } from "../../../bench/harness/settings.ts";

const folder = mkdtempSync(join(tmpdir(), "switchyard-test-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("the bodies have about the sizes their names say, and a few characters outside of ASCII", () => {
  const bodies = SIZES.map((size) => Buffer.from(JSON.stringify(bodyOf(size))));
  const [small = 0, page = 0, agent = 0, long = 0] = bodies.map(({ length }) => length);
  const share = bodies.map((bytes) => bytes.filter((byte) => byte >= 0x80).length / bytes.length);
  expect(
    share.slice(1).every((one) => one > 0.005 && one < 0.3),
    String(share),
  ).toBe(true);
  expect(small).toBeLessThan(200);
  expect(page).toBeGreaterThan(3_500);
  expect(page).toBeLessThan(4_600);
  expect(agent).toBeGreaterThan(90_000);
  expect(agent).toBeLessThan(110_000);
  expect(long).toBeGreaterThan(900_000);
  expect(long).toBeLessThan(1_100_000);
});

test("classify gives a row of times for every size", () => {
  const { rows, columns } = measureClassify(benchSettings(folder, 9).catalog, { forMs: 5 });
  expect(rows.map(([size]) => size)).toEqual([...SIZES]);
  for (const row of rows) {
    expect(row).toHaveLength(columns.length);
    for (const [index, cell] of row.entries()) {
      // A difference of two times may fall below zero.
      if (columns[index] === "session adds") expect(Number(cell)).not.toBeNaN();
      else if (index > 0) expect(Number(cell)).toBeGreaterThan(0);
    }
  }
});
