// Settlements on disk: found again by the next process, whatever was cut off, taken over or could not be written.

import {
  appendFileSync,
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createOutbox, type Outbox } from "../../../src/billing/outbox.ts";
import type { Log, LogFields } from "../../../src/core/log.ts";
import { settle } from "../../support/stores/ledger.ts";

let folder: string;
let errors: string[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "switchyard-outbox-"));
  errors = [];
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const log = { error: ({ event }: LogFields) => errors.push(event) } as unknown as Log;
const open = (name: string, at = folder): Outbox => createOutbox({ folder: at, name, log });
const fileOf = (name: string): string => join(folder, `outbox-${name}.ndjson`);
const ids = async (outbox: Outbox): Promise<readonly string[]> => (await outbox.waiting()).map(({ holdId }) => holdId);

test("what was added is there for the next process, with its amounts and its answer", async () => {
  const answer = { idempotencyId: "i", contentType: "text", text: 'line\nbreak "and" \\ more' };
  const op = settle("h", 5, { answer, charge: 2n ** 62n });
  await open("one").add(op);
  expect(await open("two").waiting()).toEqual([op]);
  expect(statSync(fileOf("two")).mode & 0o777).toBe(0o600);
});

test("what is done is gone, and with the last one the file", async () => {
  const outbox = open("one");
  await outbox.add(settle("h", 5));
  await outbox.add(settle("i", 5));
  await outbox.done(["h"]);
  expect(await ids(open("reader", folder))).toEqual(["i"]);
  await outbox.add(settle("j", 5));
  await outbox.done(["i", "j"]);
  expect(readdirSync(folder)).toEqual(["outbox-reader.ndjson"]);
});

test("it says how many wait, also of those an earlier process left", async () => {
  const counts: number[] = [];
  await open("one").add(settle("h", 5));
  const outbox = createOutbox({ folder, name: "two", log, onWaiting: (count) => counts.push(count) });
  await outbox.waiting();
  await outbox.add(settle("i", 5));
  await outbox.done(["h", "i"]);
  expect(counts).toEqual([1, 2, 0]);
});

test("it knows what waits", async () => {
  const outbox = open("one");
  await outbox.add(settle("h", 5));
  expect([outbox.has("h"), outbox.has("i")]).toEqual([true, false]);
  await outbox.done(["h"]);
  expect(outbox.has("h")).toBe(false);
});

test.each([1, 10, 200])(
  "a line that was cut off after %i characters spoils neither those before nor those after",
  async (length) => {
    const outbox = open("one");
    await outbox.add(settle("h", 5));
    appendFileSync(
      fileOf("one"),
      readFileSync(fileOf("one"), "utf8").trim().replaceAll('"h"', '"torn"').slice(0, length),
    );
    await outbox.add(settle("i", 5));
    expect(await ids(open("two"))).toEqual(["h", "i"]);
    expect(errors).toEqual(["outbox.line_skipped"]);
  },
);

test("a process that starts beside a living one takes the file over, and what the living one adds is still kept", async () => {
  const [one, two] = [open("one"), open("two")];
  await one.add(settle("h", 5));
  expect(await ids(two)).toEqual(["h"]);
  await one.add(settle("i", 5));
  await one.done(["h"]);
  expect([...(await ids(open("three")))].sort()).toEqual(["h", "i"]);
});

test("two that start at once have each settlement between them", async () => {
  for (let number = 0; number < 6; number += 1) await open(`dead-${number}`).add(settle(`h${number}`, 5));
  const found = (await Promise.all(["one", "two"].map((name) => ids(open(name))))).flat();
  expect([...new Set(found)].sort()).toEqual(["h0", "h1", "h2", "h3", "h4", "h5"]);
  expect(readdirSync(folder).filter((name) => name.includes("dead"))).toEqual([]);
});

test("what was taken over survives a crash in the middle of taking it over", async () => {
  await open("dead").add(settle("h", 5));
  // As it is between the two steps: claimed, and not yet copied.
  writeFileSync(fileOf("crashed-0"), readFileSync(fileOf("dead")));
  expect(await ids(open("next"))).toEqual(["h"]);
});

test("many at once share their writes, and all are there", async () => {
  const outbox = open("one");
  await Promise.all(Array.from({ length: 200 }, (_, index) => outbox.add(settle(`h${index}`, 5))));
  expect(await ids(open("two"))).toHaveLength(200);
});

test("a folder that cannot be written keeps them in memory, says so, and writes them when it can", async () => {
  const blocked = join(folder, "blocked");
  writeFileSync(blocked, "a file where the folder should be");
  const outbox = open("one", blocked);
  await outbox.add(settle("h", 5));
  expect(errors).toEqual(["outbox.write_failed"]);
  expect(outbox.has("h")).toBe(true);
  rmSync(blocked);
  await expect(ids(outbox)).resolves.toEqual(["h"]);
  await outbox.add(settle("i", 5));
  expect(await ids(open("two", blocked))).toEqual(["h", "i"]);
});

test.skipIf(process.getuid?.() === 0)("what cannot be read stops the start instead of being lost", async () => {
  await open("dead").add(settle("h", 5));
  chmodSync(fileOf("dead"), 0o000);
  await expect(open("next").waiting()).rejects.toThrow(/EACCES/);
});
