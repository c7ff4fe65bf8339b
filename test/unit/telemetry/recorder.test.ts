// The recorder: batches, bounds, an absent store, and what is done about records that the store refuses.

import { describe, expect, it, vi } from "vitest";
import type { Log } from "../../../src/core/log.ts";
import { summaryOf } from "../../../src/core/requests/fields.ts";
import type { RequestRecord } from "../../../src/core/requests/records.ts";
import type { RecordBatch, RecordStore, WaitingRecord } from "../../../src/core/requests/waiting.ts";
import { StoreUnavailable, UniqueViolation } from "../../../src/core/store-errors.ts";
import { createRecorder, type RecorderOptions } from "../../../src/telemetry/recorder.ts";
import { makeRecord, NOON } from "../../support/stores/records.ts";

/** What the recorder needs of a flat record. */
function flatten(record: RequestRecord): WaitingRecord {
  const { accountId, content, toolCalls } = record;
  return { accountId, summary: summaryOf(record), detail: new Uint8Array(), toolCalls, content };
}

/** A batch that keeps its records as they are, but for those that it does not take. */
function newBatch(refused: ReadonlySet<string> = new Set()): RecordBatch & { isFreed: boolean } {
  const kept: WaitingRecord[] = [];
  return {
    isFreed: false,
    get count() {
      return kept.length;
    },
    get contents() {
      return kept.flatMap(({ content }) => (content === null ? [] : [content]));
    },
    add(records) {
      if (records.some(({ summary }) => refused.has(summary.id))) throw new TypeError("no row");
      kept.push(...records);
    },
    records: () => [...kept],
    written: () => [...kept],
    free() {
      this.isFreed = true;
    },
  };
}

function idsOf(batch: readonly WaitingRecord[]): readonly string[] {
  return batch.map(({ summary }) => summary.id);
}

const SILENT: Log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

function setUp(options: Partial<RecorderOptions> = {}) {
  const batches: (readonly WaitingRecord[])[] = [];
  const dropped: [string, number][] = [];
  const state = { fail: null as ((batch: readonly WaitingRecord[]) => Error | null) | null };
  const store: RecordStore = {
    flatten,
    newBatch: () => newBatch(),
    async write(batch) {
      const failure = state.fail?.(batch.records()) ?? null;
      if (failure !== null) throw failure;
      batches.push(batch.records());
    },
    deleteBefore: async () => 0,
  };
  const recorder = createRecorder({
    store,
    log: SILENT,
    onDrop: (reason, count) => void dropped.push([reason, count]),
    ...options,
  });
  return { recorder, batches, dropped, state, ids: () => idsOf(batches.flat()) };
}

const records = (count: number): readonly RequestRecord[] => Array.from({ length: count }, () => makeRecord());

describe("batches", () => {
  it("are written after the interval, all at once", async () => {
    vi.useFakeTimers();
    const { recorder, batches } = setUp();
    recorder.start();
    for (const record of records(3)) recorder.add(record);
    await vi.advanceTimersByTimeAsync(249);
    expect(batches).toHaveLength(0);
    await vi.advanceTimersByTimeAsync(2);
    expect(batches.map(({ length }) => length)).toEqual([3]);
  });

  it("are written sooner when one is full, and never hold more than that", async () => {
    const { recorder, batches, ids } = setUp({ batchMax: 10 });
    const all = records(25);
    for (const record of all) recorder.add(record);
    await recorder.flush();
    expect(batches.map(({ length }) => length)).toEqual([10, 10, 5]);
    expect(ids()).toEqual(all.map(({ id }) => id));
  });

  it("are waited for up to what was there when one asked, though more keeps coming", async () => {
    const written: (readonly WaitingRecord[])[] = [];
    const store: RecordStore = {
      flatten,
      newBatch: () => newBatch(),
      async write(batch) {
        written.push(batch.records());
        // As under steady traffic: each write finds the next record waiting.
        if (written.length < 50) recorder.add(makeRecord());
        await new Promise((resolve) => setImmediate(resolve));
      },
      deleteBefore: async () => 0,
    };
    const { recorder } = setUp({ store, batchMax: 2 });
    const all = records(5);
    for (const record of all) recorder.add(record);
    await recorder.flush();
    expect(idsOf(written.flat())).toEqual(expect.arrayContaining(all.map(({ id }) => id)));
    expect(written.length).toBeLessThan(10);
    await vi.waitFor(() => expect(written.length).toBe(50), 60_000);
  });

  it("are prepared while another one is written, and waited for though a later one is done first", async () => {
    const ends: (() => void)[] = [];
    const store: RecordStore = {
      flatten,
      newBatch: () => newBatch(),
      write: () => new Promise((resolve) => void ends.push(resolve)),
      deleteBefore: async () => 0,
    };
    const { recorder } = setUp({ store, batchMax: 2, writesMax: 2 });
    for (const record of records(2)) recorder.add(record);
    const isWritten = vi.fn();
    const flushed = recorder.flush().then(isWritten);
    for (const record of records(3)) recorder.add(record);
    expect(ends).toHaveLength(2);
    ends[1]?.();
    await vi.waitFor(() => expect(ends).toHaveLength(3), 120_000);
    ends[2]?.();
    await new Promise((resolve) => setImmediate(resolve));
    expect(isWritten).not.toHaveBeenCalled();
    ends[0]?.();
    await flushed;
    expect(ends).toHaveLength(3);
  });

  it("share one write where they are not full", async () => {
    const ends: (() => void)[] = [];
    const store: RecordStore = {
      flatten,
      newBatch: () => newBatch(),
      write: () => new Promise((resolve) => void ends.push(resolve)),
      deleteBefore: async () => 0,
    };
    const { recorder } = setUp({ store, batchMax: 10, writesMax: 2 });
    recorder.add(makeRecord());
    void recorder.flush();
    recorder.add(makeRecord());
    void recorder.flush();
    expect(ends).toHaveLength(1);
  });

  it("are not begun by adding: the caller is not made to wait", () => {
    const { recorder, batches } = setUp();
    recorder.add(makeRecord());
    expect(batches).toHaveLength(0);
  });
});

it("says each time that the store is away, and how many wait", async () => {
  const onAway = vi.fn<() => void>();
  const onDepth = vi.fn<(waiting: number) => void>();
  const { recorder, state } = setUp({ onAway, onDepth });
  state.fail = () => new StoreUnavailable(new Error("away"));
  recorder.add(makeRecord());
  await recorder.flush();
  expect(onAway).toHaveBeenCalledTimes(1);
  expect(onDepth).toHaveBeenLastCalledWith(1);
  state.fail = null;
  await recorder.flush();
  expect(onAway).toHaveBeenCalledTimes(1);
  expect(onDepth).toHaveBeenLastCalledWith(0);
});

describe("a queue that is full", () => {
  it("drops the newest and counts them", async () => {
    const { recorder, dropped, state, ids } = setUp({ queueMax: 4, batchMax: 2 });
    state.fail = () => new StoreUnavailable(new Error("away"));
    const all = records(7);
    for (const record of all) recorder.add(record);
    expect(dropped).toEqual([
      ["queue-full", 1],
      ["queue-full", 1],
      ["queue-full", 1],
    ]);
    state.fail = null;
    await recorder.flush();
    await recorder.flush();
    expect(ids()).toEqual(all.slice(0, 4).map(({ id }) => id));
  });

  it("of contents lets the content go and keeps the record", async () => {
    const { recorder, dropped, batches } = setUp({ contentMax: 10 });
    const content = {
      request: "12345",
      isRequestCut: false,
      answer: "678",
      isAnswerCut: false,
      prompt: "",
      preview: "",
    };
    recorder.add(makeRecord({ content }));
    recorder.add(makeRecord({ content }));
    await recorder.flush();
    expect(dropped).toEqual([["content-full", 1]]);
    expect(batches.flat().map((record) => record.content)).toEqual([content, null]);
    recorder.add(makeRecord({ content }));
    await recorder.flush();
    expect(batches.flat().at(-1)?.content).toEqual(content);
  });
});

describe("a store that is away", () => {
  it("is tried again after the pause, also when the clock was set back meanwhile", async () => {
    vi.useFakeTimers();
    const { recorder, batches, state } = setUp();
    state.fail = () => new StoreUnavailable(new Error("away"));
    recorder.start();
    recorder.add(makeRecord());
    await vi.advanceTimersByTimeAsync(300);
    state.fail = null;
    vi.setSystemTime(Date.now() - 3_600_000);
    await vi.advanceTimersByTimeAsync(1_500);
    expect(batches).toHaveLength(1);
  });

  it("gets everything when it is back, in order", async () => {
    vi.useFakeTimers();
    const { recorder, state, ids, dropped } = setUp({ batchMax: 2 });
    state.fail = () => new StoreUnavailable(new Error("away"));
    recorder.start();
    const all = records(5);
    for (const record of all) recorder.add(record);
    await vi.advanceTimersByTimeAsync(3_000);
    expect(ids()).toEqual([]);
    state.fail = null;
    await vi.advanceTimersByTimeAsync(1_500);
    expect(ids()).toEqual(all.map(({ id }) => id));
    expect(dropped).toEqual([]);
  });

  it("may have written a batch whose answer was lost: it is not written twice", async () => {
    const { recorder, state, batches, dropped } = setUp();
    const tried: (readonly string[])[] = [];
    state.fail = (batch) => {
      tried.push(idsOf(batch));
      return tried.length === 1 ? new StoreUnavailable(new Error("lost")) : new UniqueViolation(0, null);
    };
    recorder.add(makeRecord());
    await recorder.flush();
    recorder.add(makeRecord());
    state.fail = (batch) => {
      tried.push(idsOf(batch));
      return tried.length === 2 ? new UniqueViolation(0, null) : null;
    };
    await recorder.flush();
    expect(tried[1]).toEqual(tried[0]);
    expect(batches.map(({ length }) => length)).toEqual([1]);
    expect(dropped).toEqual([]);
  });

  it("at the end costs what still waits, and that is counted", async () => {
    const { recorder, state, dropped } = setUp();
    state.fail = () => new StoreUnavailable(new Error("away"));
    for (const record of records(3)) recorder.add(record);
    await recorder.stop();
    expect(dropped).toEqual([["stopped", 3]]);
  });
});

it("one record that the store refuses does not take the others with it", async () => {
  const { recorder, state, ids, dropped } = setUp();
  const all = records(9);
  const bad = all[4] as RequestRecord;
  state.fail = (batch) => (idsOf(batch).includes(bad.id) ? new Error("no such character") : null);
  for (const record of all) recorder.add(record);
  await recorder.flush();
  expect([...ids()].sort()).toEqual(
    all
      .filter((record) => record !== bad)
      .map(({ id }) => id)
      .sort(),
  );
  expect(dropped).toEqual([["refused", 1]]);
});

it("a record that cannot be made flat is dropped, and neither fails its request nor takes up room", async () => {
  const content = { request: "12345", isRequestCut: false, answer: "", isAnswerCut: false, prompt: "", preview: "" };
  const [bad, good] = [makeRecord({ content }), makeRecord({ content })];
  const written: WaitingRecord[] = [];
  const store: RecordStore = {
    flatten(record) {
      if (record === bad) throw new TypeError("no text");
      return flatten(record);
    },
    newBatch: () => newBatch(),
    write: async (batch) => void written.push(...batch.records()),
    deleteBefore: async () => 0,
  };
  const error = vi.fn<Log["error"]>();
  const { recorder, dropped } = setUp({ store, log: { ...SILENT, error }, contentMax: 5 });
  recorder.add(bad);
  recorder.add(good);
  await recorder.flush();
  expect(dropped).toEqual([["refused", 1]]);
  const fields = { event: "records.rejected", err: new TypeError("no text"), requestId: bad.requestId };
  expect(error.mock.calls).toEqual([[fields, "database rejected a request record"]]);
  expect(written.map(({ summary, content }) => [summary.id, content])).toEqual([[good.id, content]]);
});

it("a record that cannot be added to a batch is dropped, takes no other with it, and takes up no room", async () => {
  const content = { request: "12345", isRequestCut: false, answer: "", isAnswerCut: false, prompt: "", preview: "" };
  const all = [makeRecord(), makeRecord({ content }), makeRecord(), makeRecord()];
  const bad = all[1] as RequestRecord;
  const written: WaitingRecord[] = [];
  const store: RecordStore = {
    flatten,
    newBatch: () => newBatch(new Set([bad.id])),
    write: async (batch) => void written.push(...batch.records()),
    deleteBefore: async () => 0,
  };
  const error = vi.fn<Log["error"]>();
  const { recorder, dropped } = setUp({ store, log: { ...SILENT, error }, contentMax: 5 });
  for (const record of all) recorder.add(record);
  await recorder.flush();
  const late = makeRecord({ content });
  recorder.add(late);
  await recorder.flush();
  expect(idsOf(written)).toEqual([...all.filter((record) => record !== bad), late].map(({ id }) => id));
  expect(written.at(-1)?.content).toEqual(content);
  expect(dropped).toEqual([["refused", 1]]);
  expect(error.mock.calls[0]?.[0]).toMatchObject({ event: "records.rejected", requestId: bad.requestId });
});

it("a batch gives its memory back once it is written and was shown, not while it may be tried again", async () => {
  const made: ReturnType<typeof newBatch>[] = [];
  let isAway = true;
  const store: RecordStore = {
    flatten,
    newBatch() {
      const batch = newBatch();
      made.push(batch);
      return batch;
    },
    async write() {
      if (isAway) throw new StoreUnavailable(new Error("away"));
    },
    deleteBefore: async () => 0,
  };
  const shown: boolean[] = [];
  const onWritten: RecorderOptions["onWritten"] = (batch) => void shown.push((batch as (typeof made)[number]).isFreed);
  const { recorder } = setUp({ store, onWritten });
  recorder.add(makeRecord());
  await recorder.flush();
  expect(made.map(({ isFreed }) => isFreed)).toEqual([false]);
  isAway = false;
  await recorder.flush();
  expect([made.map(({ isFreed }) => isFreed), shown]).toEqual([[true], [false]]);
});

it("loses nothing where the live log cannot be told", async () => {
  const error = vi.fn();
  let tries = 0;
  const onWritten = (): void => {
    tries += 1;
    if (tries === 1) throw new Error("no listener");
  };
  const made = setUp({ log: { ...SILENT, error }, onWritten, batchMax: 2, writesMax: 2 });
  let isAway = true;
  // The second batch waits while the first is shown.
  made.state.fail = (batch) => {
    const isSecond = batch[0]?.summary.id === "rec_3";
    if (!isSecond || !isAway) return null;
    isAway = false;
    return new StoreUnavailable(new Error("away"));
  };
  for (let at = 1; at <= 4; at++) made.recorder.add(makeRecord({ id: `rec_${at}` }));
  await made.recorder.flush();
  await made.recorder.flush();
  expect(made.batches.flatMap(idsOf).sort()).toEqual(["rec_1", "rec_2", "rec_3", "rec_4"]);
  expect(made.dropped).toEqual([]);
  expect(error.mock.calls).toEqual([[expect.objectContaining({ event: "records.unshown" }), expect.any(String)]]);
});

it("few records wait as objects, also before a batch is full", () => {
  const sizes: number[] = [];
  const store: RecordStore = {
    flatten,
    newBatch() {
      const batch = newBatch();
      const add = batch.add.bind(batch);
      batch.add = (some) => {
        sizes.push(some.length);
        add(some);
      };
      return batch;
    },
    write: () => new Promise(() => {}),
    deleteBefore: async () => 0,
  };
  const { recorder } = setUp({ store });
  for (const record of records(120)) recorder.add(record);
  expect(sizes).toEqual([50, 50]);
});

it("stop writes what waits, also what was added in the same turn", async () => {
  const { recorder, ids } = setUp();
  const late = makeRecord();
  setImmediate(() => recorder.add(late));
  const early = makeRecord();
  recorder.add(early);
  await recorder.stop();
  expect(ids()).toEqual([early.id, late.id]);
});

it("ids are unique and sort by time", () => {
  const { recorder } = setUp();
  const other = setUp().recorder;
  const ids = Array.from({ length: 2_000 }, (_, index) => recorder.newId(NOON + Math.floor(index / 10)));
  expect(new Set([...ids, ...ids.map((_, index) => other.newId(NOON + index))]).size).toBe(4_000);
  expect([...ids].sort()).toEqual(ids);
  expect(ids[0]).toMatch(/^r[0-9a-z]{23}$/);
});
