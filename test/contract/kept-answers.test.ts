// Answers kept for Idempotency-Key on every store: nothing of them can be read in the database, and those of earlier
// versions are sealed.

import { readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Db, sqlitePathOf } from "../../src/core/db.ts";
import { openDb } from "../../src/store/db.ts";
import { idempotencyOf, keptAnswersOf } from "../support/stores/idempotency.ts";
import { describeStores } from "../support/stores/stores.ts";

const CANARY = "the canary sings in the mine";
const LONG = CANARY.repeat(2_000);

await describeStores("kept answers", ({ url }) => {
  let db: Db;
  beforeAll(async () => {
    db = await openDb(url);
    await db.migrate();
  });
  afterAll(() => db.close());

  /** A request as an earlier version answered it, readable. */
  async function answeredBefore(id: string, text: string): Promise<void> {
    await idempotencyOf(db, "me").begin(id, "body");
    await note(id, text, "answer_text");
  }

  /** Notes what the charge of a request would note, or that of an earlier version. */
  async function note(id: string, noted: string, column: "kept" | "answer_text" = "kept"): Promise<void> {
    await db.query(`UPDATE idempotent_requests SET content_type = 'text/plain', ${column} = $2 WHERE id = $1`, [
      id,
      noted,
    ]);
  }

  async function rows(): Promise<string> {
    const noted = await db.query("SELECT answer_text, kept FROM idempotent_requests");
    return JSON.stringify([...noted, ...(await db.query("SELECT content FROM idempotent_answers"))]);
  }

  /** Every file of a SQLite database, and its rows where it has no file. */
  async function everything(): Promise<string> {
    const path = sqlitePathOf(url);
    if (path === null || path === ":memory:") return rows();
    const names = readdirSync(dirname(path)).filter((name) => name.startsWith(basename(path)));
    return names.map((name) => readFileSync(join(dirname(path), name), "latin1")).join("");
  }

  const answered = (text: string) => ({ state: "answered", contentType: "text/plain", text });

  test.each([
    ["short", CANARY],
    ["long", LONG],
    ["with NUL", `a\0b ${CANARY}`],
  ])("a %s answer comes back, and the database does not show it", async (name, text) => {
    const store = idempotencyOf(db, "me");
    await store.begin(name, "body");
    const { text: noted } = await store.keep({ idempotencyId: name, contentType: "text/plain", text });
    await note(name, noted);
    expect(await store.begin(name, "body")).toEqual(answered(text));
    expect(await everything()).not.toContain("canary");
  });

  test("answers of an earlier version are sealed, all of them", async () => {
    const ids = Array.from({ length: 250 }, (_, n) => `old-${n}`);
    for (const id of ids) await answeredBefore(id, `{"text":"${id} ${LONG.slice(0, 6_000)}"}`);
    expect(await rows()).toContain("canary");
    expect(await idempotencyOf(db, "me").begin("old-7", "body")).toMatchObject({ state: "answered" });
    await idempotencyOf(db, "me").sweepAnswers(60_000);
    expect(await rows()).not.toContain("canary");
    for (const id of ["old-0", "old-249"]) {
      const text = expect.stringContaining(`${id} ${CANARY}`);
      expect(await idempotencyOf(db, "me").begin(id, "body")).toEqual({ ...answered(""), text });
    }
  });

  test("an answer that has no row is noted sealed, and gets one later", async () => {
    const away = Object.create(db, { query: { value: () => Promise.reject(new Error("away")) } }) as Db;
    await answeredBefore("inline", await keptAnswersOf(db, away).keep("inline", CANARY));
    expect(await idempotencyOf(db, "me").begin("inline", "body")).toEqual(answered(CANARY));
    await keptAnswersOf(db).settle();
    const [row] = await db.query("SELECT answer_text, kept FROM idempotent_requests WHERE id = 'inline'");
    expect(row).toEqual({ answer_text: null, kept: expect.stringMatching(/^kept:/) });
    expect(await idempotencyOf(db, "me").begin("inline", "body")).toEqual(answered(CANARY));
  });

  test("an answer that is gone, of another request, or sealed with another secret is lost", async () => {
    const noted = await keptAnswersOf(db).keep("mine", CANARY);
    expect(await keptAnswersOf(db).open("mine", noted)).toBe(CANARY);
    expect(await keptAnswersOf(db).open("another", noted)).toBeNull();
    expect(await keptAnswersOf(db, db, "another secret").open("mine", noted)).toBeNull();
    await keptAnswersOf(db).sweep(0);
    expect(await keptAnswersOf(db).open("mine", noted)).toBeNull();
    await answeredBefore("mine", noted);
    expect(await idempotencyOf(db, "me").begin("mine", "body")).toEqual({ state: "lost" });
  });
});
