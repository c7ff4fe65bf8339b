// The second net of the log: secrets are blotted out at the top and one level below, and nothing else is touched.

import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createLog, type ProcessLog, withoutSecrets } from "../../../src/telemetry/log.ts";

describe("withoutSecrets", () => {
  test("hands back the very same object when there is nothing to hide", () => {
    const fields = { requestId: "req_1", usage: [1, 2], attempts: [{ model: "m" }], nothing: null };
    expect(withoutSecrets(fields, 0)).toBe(fields);
  });

  test.each([
    [{ authorization: "Bearer x" }, { authorization: "[Redacted]" }],
    [
      { apiKey: "x", port: 1 },
      { apiKey: "[Redacted]", port: 1 },
    ],
    [{ provider: { id: "lab", token: "x" } }, { provider: { id: "lab", token: "[Redacted]" } }],
  ])("%j becomes %j, in a copy", (fields, expected) => {
    const before = structuredClone(fields);
    expect(withoutSecrets(fields, 0)).toEqual(expected);
    expect(fields).toEqual(before);
  });

  test("keeps what an error says, without the secrets it carries", () => {
    const err = Object.assign(new TypeError("it broke"), { token: "x" });
    const { err: shown } = withoutSecrets({ err }, 0);
    expect(shown).toMatchObject({ type: "TypeError", message: "it broke", token: "[Redacted]" });
  });
});

describe("createLog", () => {
  test("writes one line for each event, in order, and keeps the type of an error", async () => {
    const lines = await linesOf((log) => {
      log.info({ event: "request.completed", requestId: "req_1" }, "request");
      log.warn({ event: "attempt.failed", err: new TypeError("it broke") }, "trouble");
      log.debug({ event: "redis.error" }, "not at this level");
    });
    expect(lines).toMatchObject([
      {
        level: 30,
        event: "request.completed",
        requestId: "req_1",
        msg: "request",
        time: expect.stringMatching(/^\d{4}-.*Z$/),
      },
      { level: 40, err: { type: "TypeError", message: "it broke" }, msg: "trouble" },
    ]);
  });

  test("says how many lines of an event it left out, at every level", async () => {
    const lines = await linesOf((log) => {
      for (let count = 0; count < 150; count += 1) log.error({ event: "request.failed" }, "failed");
    }, "error");
    expect(lines).toHaveLength(101);
    expect(lines.at(-1)).toMatchObject({ level: 40, event: "log.repeated", repeated: "request.failed", leftOut: 50 });
  });

  test("tells the causes of an error, and goes on where a field cannot be written as JSON", async () => {
    const circle: { self?: object } = {};
    circle.self = circle;
    const err = new Error("no reply", { cause: new RangeError("no route") });
    const lines = await linesOf((log) => {
      log.error({ event: "request.failed", err }, "failed");
      log.error({ event: "request.failed", circle, amount: 5n, requestId: "req_2", err }, "failed");
      log.error({ event: "request.failed", err: new AggregateError([undefined, err], "several") }, "failed");
    });
    expect(lines).toMatchObject([
      { level: 50, err: { message: "no reply: no route", stack: expect.stringContaining("\ncaused by: RangeError") } },
      { event: "request.failed", circle: expect.stringContaining("[Circular"), amount: "5", err: { type: "Error" } },
      { err: { type: "AggregateError", aggregateErrors: [null, { type: "Error" }] } },
    ]);
  });

  test("hands a long text on without waiting for more", async () => {
    const lines = await linesOf((log) => {
      for (let at = 0; at < 1_000; at++) log.info({ event: "request.completed", at, text: "x".repeat(100) }, "request");
    });
    expect(lines.map(({ at }) => at)).toEqual(Array.from({ length: 1_000 }, (_, at) => at));
  });
});

test("a line that is too long keeps its event and the beginning of its fields", async () => {
  const [cut, whole] = await linesOf((log) => {
    log.error({ event: "request.failed", id: "a", err: new Error("\u0001".repeat(10_000_000)) }, "failed");
    log.error({ event: "request.failed", id: "b", text: "x".repeat(60_000) }, "failed");
  });
  expect(cut).toMatchObject({ event: "request.failed", level: 50, msg: "failed" });
  expect(cut?.cut).toContain('"id":"a"');
  expect(JSON.stringify(cut).length).toBeLessThan(64 * 1024);
  expect(whole).toMatchObject({ id: "b", text: "x".repeat(60_000) });
});

/** What `work` logs, read back from the file it goes to. */
async function linesOf(work: (log: ProcessLog) => void, level = "info"): Promise<readonly Record<string, unknown>[]> {
  const folder = mkdtempSync(join(tmpdir(), "switchyard-log-"));
  const file = join(folder, "log");
  const fd = openSync(file, "w");
  try {
    const log = createLog(level, { fd });
    work(log);
    await log.flush();
    return readFileSync(file, "utf8")
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
  } finally {
    closeSync(fd);
    rmSync(folder, { recursive: true });
  }
}
