// The request log as a tool, the panel of a failed request and the sessions page in a real browser, at three widths and in
// both themes.

import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import type { RequestRecord } from "../../src/core/requests/records.ts";
import { openDb } from "../../src/store/db.ts";
import { HELLO } from "../support/gateway/gateway.ts";
import { createRecordStore, makeRecord } from "../support/stores/records.ts";
import { faultsOf } from "./axe.ts";
import { beyondWindow, hasBrowser, settled, show, startDashboard } from "./dashboard.ts";

const NOW = Date.now();
const prompt = { request: "{}", isRequestCut: false, answer: "Mild.", isAnswerCut: false };
const base = makeRecord();
const failure = { ...base.attempts[0], outcome: "failed", status: 401, failure: "status", durationMs: 40 } as const;

/** A conversation that switched, a request that no credit covered, and one that every provider failed. */
const RECORDS: readonly RequestRecord[] = [
  ...([1, 2, 3] as const).map((n) =>
    makeRecord({
      atMs: NOW - 3_600_000 + n * 60_000,
      requestId: `turn-${n}`,
      session: "s_trip",
      sessionState: (["started", "stayed", "switched"] as const)[n - 1] ?? null,
      latencyMs: n * 1_000,
      user: "ada",
      tags: { team: "search" },
      answeredBy: n < 3 ? base.answeredBy : { model: "beta", provider: "mill" },
      content: { ...prompt, prompt: `weather ${n}`, preview: `What is the weather on day ${n}?` },
    }),
  ),
  makeRecord({
    ...{ atMs: NOW - 1_800_000, requestId: "too-poor", status: 402, errorCode: "insufficient_credits", attempts: [] },
    ...{ answeredBy: null, cost: null, hold: null, ending: null, firstContentMs: null },
    errorMessage: "Not enough credits (0.120000 USD needed, 0.010000 USD available). Add credits.",
  }),
  makeRecord({
    ...{ atMs: NOW - 1_700_000, requestId: "all-failed", status: 503, errorCode: "all_providers_failed" },
    ...{ answeredBy: null, cost: null, ending: null, firstContentMs: null },
    attempts: [{ ...failure, reason: "Incorrect API key provided: •••." } as RequestRecord["attempts"][number]],
    errorMessage: "All 1 models in the LIGHT chain failed. The last one returned 401.",
    operatorMessage: "Last error: lab returned 401.",
  }),
];
/** More than a page, before the range that is shown at first. */
const OLDER = Array.from({ length: 60 }, (_, n) =>
  makeRecord({ atMs: NOW - 3 * 86_400_000 + n, requestId: `old-${n}` }),
);

const database = `sqlite:${join(mkdtempSync(join(tmpdir(), "switchyard-tools-")), "log.db")}`;
const db = await openDb(database);
await db.migrate();
await createRecordStore(db).write([...OLDER, ...RECORDS]);
await db.close();

const SIZES = [
  [1440, 900],
  [1024, 768],
  [390, 844],
] as const;

describe.skipIf(!hasBrowser)("the request log as a tool", () => {
  const { gateway, visit } = startDashboard({ database });
  const rows = (page: Page) => page.locator(".requests tbody tr");
  const ids = (page: Page) =>
    page
      .locator('td[data-cell="time"] a')
      .evaluateAll((links) => links.map((link) => link.getAttribute("title")?.split(" ").at(-1)));

  test("sorts, sums up, searches, chooses columns and time zone, and counts what is new", async () => {
    const prepare = async (opened: Page): Promise<void> => opened.clock.install();
    const { page, troubles } = await visit("/requests", { timezoneId: "Asia/Tokyo", prepare });
    await page.locator(".totals b", { hasText: "5 requests" }).waitFor();
    await page.locator(".totals", { hasText: "2 errors" }).waitFor();
    await page.getByRole("columnheader", { name: "Time, UTC+9 ↓" }).waitFor();
    const hour = (zone: string) =>
      new Intl.DateTimeFormat("en-GB", { timeZone: zone, hour: "2-digit", minute: "2-digit" }).format(
        RECORDS[4]?.atMs ?? 0,
      );
    await page.locator('td[data-cell="time"]', { hasText: hour("Asia/Tokyo") }).waitFor();
    await page.getByText("What is the weather on day 3?").waitFor();
    await page.getByText("Columns", { exact: true }).click();
    await page.getByLabel("Times in UTC").check();
    await page.getByRole("checkbox", { name: "User" }).check();
    await page.getByRole("checkbox", { name: "Saved" }).uncheck();
    await page.keyboard.press("Escape");
    await page.reload();
    await page.locator('td[data-cell="time"]', { hasText: hour("UTC") }).waitFor();
    expect(await page.locator('td[data-cell="saved"]').count()).toBe(0);
    await page.locator('td[data-cell="user"]', { hasText: "ada" }).first().waitFor();
    await page.getByRole("link", { name: "Total" }).click();
    await page.waitForURL(/sort=latency/);
    await expect.poll(() => ids(page)).toEqual(["turn-3", "turn-2", "turn-1", "all-failed", "too-poor"]);
    await page.getByRole("link", { name: "Total ↓" }).click();
    await page.waitForURL(/order=asc/);
    await expect.poll(() => ids(page)).toEqual(["too-poor", "all-failed", "turn-1", "turn-2", "turn-3"]);
    await page.getByRole("columnheader", { name: "Total ↑" }).waitFor();
    await page.getByLabel("Request id or text").fill("weather");
    await page.keyboard.press("Enter");
    await page.waitForURL(/q=weather/);
    await expect.poll(() => rows(page).count()).toBe(3);
    await page.locator(".totals b", { hasText: "3 requests" }).waitFor();
    await show(page, "/requests?latencyFrom=2000&user=ada&tag=team%3Dsearch");
    await expect.poll(() => ids(page)).toEqual(["turn-3", "turn-2"]);
    await show(page, "/requests");
    await expect.poll(() => rows(page).count()).toBe(5);
    await settled(page);
    await (await gateway().post("/v1/chat/completions", HELLO)).text();
    await page.clock.fastForward(16_000);
    await page.getByRole("button", { name: "1 new request" }).click();
    await expect.poll(() => rows(page).count()).toBe(6);
    expect(troubles).toEqual([]);
  });

  test("nothing is cut at any width, and failures say what happened first", async () => {
    const { page, troubles } = await visit("/requests");
    const panel = page.locator(".sheet");
    const atEachSize = async (look: (width: number, height: number) => Promise<void>): Promise<void> => {
      await settled(page);
      for (const [width, height] of SIZES) {
        await page.setViewportSize({ width, height });
        expect(await beyondWindow(page), `${page.url()}, ${width}`).toBe(0);
        await look(width, height);
      }
      await page.setViewportSize({ width: 1440, height: 900 });
    };
    const fillsWindow = async (_: number, height: number): Promise<void> => {
      await expect.poll(async () => (await panel.boundingBox())?.y).toBe(0);
      await expect.poll(async () => (await panel.boundingBox())?.height).toBe(height);
      const foot = await panel.locator("footer").boundingBox();
      expect((foot?.y ?? 0) + (foot?.height ?? 0)).toBeLessThanOrEqual(height);
      expect(await faultsOf(page, "light", ".sheet")).toEqual([]);
    };
    await rows(page).first().waitFor();
    await atEachSize(async (width) => {
      if (width < 1024) return;
      expect(await page.evaluate<number>(BEYOND_BOX)).toBe(0);
      expect(await page.locator(".requests thead th").first().evaluate(positionOf)).toBe("sticky");
    });
    await show(page, "/requests/too-poor");
    await panel.getByRole("heading", { name: "What happened" }).waitFor();
    for (const text of ["$0.120000", "$0.010000", "No provider was called."]) await panel.getByText(text).waitFor();
    await panel.getByRole("link", { name: "Add credits" }).waitFor();
    await atEachSize(fillsWindow);
    expect(await panel.getByText("saved").count()).toBe(0);
    await show(page, "/requests/all-failed");
    await panel.getByText("Incorrect API key provided").waitFor();
    await panel.getByRole("link", { name: "Test the provider" }).waitFor();
    await expect.poll(() => panel.locator(".happened .waterfall li").count()).toBe(1);
    await show(page, "/sessions");
    await page.getByText("3 turns").click();
    const timeline = panel.getByRole("list", { name: "Turns, oldest first" });
    await timeline.getByText("Switched", { exact: true }).waitFor();
    await expect.poll(() => timeline.locator("li").count()).toBe(3);
    await timeline.getByText("mathematics").waitFor();
    await timeline.getByText("Model: alpha → beta, Host: lab → mill").waitFor();
    await atEachSize(async () => expect(await faultsOf(page, "light", ".sheet")).toEqual([]));
    expect(troubles).toEqual([]);
  });

  test("a page of older requests begins at its top", async () => {
    const { page } = await visit("/requests?range=7d");
    await expect.poll(() => rows(page).count()).toBe(50);
    await page.evaluate("scrollTo(0, document.body.scrollHeight)");
    await page.getByRole("link", { name: "Older" }).click();
    await page.waitForURL(/after=/);
    await expect.poll(() => rows(page).count()).toBe(OLDER.length + RECORDS.length + 1 - 50);
    await expect.poll(() => page.evaluate("scrollY")).toBe(0);
  });

  test("j and k move the focus, and closing a panel leaves it on the row of the last one", async () => {
    const { page } = await visit("/requests?q=weather");
    await expect.poll(() => rows(page).count()).toBe(3);
    const focused = () => page.evaluate<string>("document.activeElement.title?.split(' ').at(-1)");
    await page.keyboard.press("j");
    await expect.poll(focused).toBe("turn-3");
    await page.keyboard.press("j");
    await expect.poll(focused).toBe("turn-2");
    await page.keyboard.press("Enter");
    await page.getByRole("region", { name: /^Request / }).waitFor();
    await page.keyboard.press("j");
    await page.locator("h2", { hasText: "turn-1" }).waitFor();
    await page.keyboard.press("Escape");
    await expect.poll(focused).toBe("turn-1");
  });

  test("so they do on Sessions and Models, whose panels close the same way", async () => {
    const { page } = await visit("/sessions?range=7d");
    await page.locator("[data-row=s_trip]").waitFor();
    const focused = () => page.evaluate<string>("document.activeElement.closest('[data-row]')?.dataset.row");
    await page.keyboard.press("j");
    const [first] = await page.locator("[data-row]").evaluateAll((found) => found.map((row) => row.dataset.row));
    await expect.poll(focused).toBe(first);
    await page.keyboard.press("Enter");
    await page.getByRole("list", { name: "Turns, oldest first" }).waitFor();
    await page.keyboard.press("j");
    await page.waitForURL(({ pathname }) => !pathname.endsWith(`/${first}`));
    const second = decodeURIComponent(new URL(page.url()).pathname.split("/")[2] ?? "");
    await page.keyboard.press("Escape");
    await page.waitForURL(/\/sessions\?range=7d$/);
    await expect.poll(focused).toBe(second);
    await show(page, "/models");
    await page.locator(".models tbody tr").nth(5).waitFor();
    const model = (): string | null => new URL(page.url()).searchParams.get("model");
    await page.keyboard.press("j");
    await expect.poll(model).not.toBe(null);
    const above = model();
    await page.keyboard.press("j");
    await expect.poll(model).not.toBe(above);
    const last = model();
    await page.keyboard.press("Escape");
    await expect.poll(focused).toBe(last);
  });

  test("what a request saved is one figure in row, decision and cost", async () => {
    const { page } = await visit("/requests?q=weather");
    const saved = await page.locator('td[data-cell="saved"]').first().innerText();
    expect(saved).toMatch(/^\d+(\.\d)?%$/);
    await page.locator('td[data-cell="time"] a').first().click();
    await page.locator(".verdict").getByText(`${saved} saved`).waitFor();
    await page.getByRole("tab", { name: "Cost" }).click();
    await page.getByRole("rowheader", { name: `Saved (${saved})` }).waitFor();
  });

  test("a key made in another tab appears in this one", async () => {
    const { page, context } = await visit("/keys");
    await page.getByRole("row", { name: /first key/ }).waitFor();
    const other = await context.newPage();
    await other.goto(`${gateway().url}/keys?new=1`);
    await other.getByRole("dialog").getByLabel("Name").fill("made elsewhere");
    await other.keyboard.press("Enter");
    await page.getByRole("row", { name: /made elsewhere/ }).waitFor();
  });

  test("in the dark, too, and Escape gives the focus back to its row", async () => {
    const { page } = await visit("/requests", { colorScheme: "dark" });
    const link = page.locator('a[title$="request all-failed"]');
    await link.focus();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "What happened" }).waitFor();
    expect(await faultsOf(page, "dark", ".sheet")).toEqual([]);
    await page.keyboard.press("Escape");
    await expect.poll(() => link.evaluate((node) => node === document.activeElement)).toBe(true);
    await show(page, "/sessions/s_trip");
    await page.getByText("Switched", { exact: true }).waitFor();
    // The client named it.
    expect(await page.getByText("requests that begin alike").count()).toBe(0);
    expect(await faultsOf(page, "dark", ".sheet")).toEqual([]);
  });
});

/** How far the table is wider than its box. */
const BEYOND_BOX =
  "(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(document.querySelector('.table-box'))";

function positionOf(element: Element): string {
  return getComputedStyle(element).position;
}
