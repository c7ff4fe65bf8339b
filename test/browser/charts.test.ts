// What the charts of the overview say: colours that can be told apart, and numbers that agree with their bars.

import type { Page } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import { hasBrowser, sendTraffic, settled, startDashboard } from "./dashboard.ts";

/** In OKLab, where white and black are 1 apart. Two browns that nobody could tell apart were at 0.07. */
const DISTANCE_MIN = 0.12;

describe.skipIf(!hasBrowser)("the charts of the overview", () => {
  const { gateway, visit } = startDashboard();
  beforeAll(async () => {
    await sendTraffic(gateway());
  });

  test.each(["light", "dark"] as const)("have colours that differ, %s", async (colorScheme) => {
    const { page } = await visit("/?live=off", { colorScheme });
    await settled(page);
    for (const title of ["Errors", "Attempts", "Spend vs. baseline"]) {
      const colours = await coloursOf(page, title);
      expect(colours.length).toBeGreaterThan(1);
      for (const [at, one] of colours.entries())
        for (const other of colours.slice(at + 1)) {
          const distance = Math.hypot(...one.map((part, axis) => part - (other[axis] ?? 0)));
          expect(distance, `${title}: ${one} and ${other}`).toBeGreaterThan(DISTANCE_MIN);
        }
    }
  });

  test("count the share of the top tier among the requests that have a tier, as the bars do", async () => {
    const { page } = await visit("/?live=off");
    const chart = page.locator("figure", { has: page.getByRole("heading", { name: "Tier mix" }) });
    await chart.getByRole("button", { name: /as a table/ }).click();
    const cells = await chart.locator("tbody td.number").allInnerTexts();
    const total = cells.reduce((sum, text) => sum + Number(text), 0);
    const columns = await chart.locator("thead th.number").allInnerTexts();
    const sums = columns.map((_, at) =>
      cells.reduce((sum, text, cell) => sum + (cell % 5 === at ? Number(text) : 0), 0),
    );
    const most = Math.max(...sums);
    await chart.getByText(`Top tier: ${columns[sums.indexOf(most)]} (${Math.round((most / total) * 100)}%)`).waitFor();
    const listed = (await (await gateway().api("GET", "/api/requests?limit=50")).json()) as { data: object[] };
    expect(listed.data.length).toBeGreaterThan(total);
  });

  test("have the hours of the rows beside them: local, or UTC where that was chosen", async () => {
    const { page } = await visit("/requests", { timezoneId: "Asia/Kolkata" });
    const chart = page.locator("figure", { has: page.getByRole("heading", { name: "Requests over time" }) });
    const zoneAndHour = async (): Promise<readonly string[]> => {
      const [row = ""] = await page.locator(".requests td[data-cell=time] a").allInnerTexts();
      const rows = chart.locator("tbody tr", { hasNotText: /\s0\s+0$/ });
      return [
        await chart.locator("thead th").first().innerText(),
        row,
        await rows.last().locator("td").first().innerText(),
      ];
    };
    await chart.getByRole("button", { name: /as a table/ }).click();
    await chart.locator("thead", { hasText: "Time, UTC+5.5" }).waitFor();
    const [, local = "", localBar = ""] = await zoneAndHour();
    expect(localBar).toMatch(/:30$/);
    await page.getByText("Columns", { exact: true }).click();
    await page.getByLabel("Times in UTC").check();
    await chart.locator("thead", { hasText: "Time, UTC" }).filter({ hasNotText: "+" }).waitFor();
    const [, utc = "", utcBar = ""] = await zoneAndHour();
    expect([utc === local, utcBar === localBar]).toEqual([false, false]);
    expect(utcBar).toMatch(new RegExp(`${utc.slice(-8, -6)}:00$`));
    await page.goto(`${gateway().url}/?live=off`);
    await page
      .getByText(/^Last 24 hours \(since .* UTC\), by hour/)
      .first()
      .waitFor();
  });

  test("a finished request's share saved is that of the amounts beside it", async () => {
    const { page } = await visit("/requests?status=2xx");
    const verdict = page.locator(".verdict");
    let amounts: RegExpExecArray | null = null;
    // A request may cost more than the baseline would have.
    for (let row = 0; row < 8 && amounts === null; row += 1) {
      await page.locator(".requests tbody tr").nth(row).click();
      await verdict.waitFor();
      amounts = /charged \$([\d.]+), baseline \$([\d.]+)\s+(\d+(?:\.\d)?)% saved/.exec(await verdict.innerText());
      await page.keyboard.press("Escape");
      await verdict.waitFor({ state: "detached" });
    }
    const [, charged, baseline, saved] = amounts ?? [];
    expect(Math.abs(100 * (1 - Number(charged) / Number(baseline)) - Number(saved))).toBeLessThan(1);
  });
});

/** The colours of a chart's legend in OKLab. */
function coloursOf(page: Page, title: string): Promise<readonly (readonly number[])[]> {
  const chart = page.locator("figure", { has: page.getByRole("heading", { name: title, exact: true }) });
  return chart.locator(".legend .mark").evaluateAll((marks) =>
    marks.map((mark) => {
      const probe = document.createElement("i");
      mark.append(probe);
      probe.style.color = `color-mix(in oklab, ${getComputedStyle(mark).backgroundColor}, ${getComputedStyle(mark).backgroundColor})`;
      const { color } = getComputedStyle(probe);
      probe.remove();
      return (color.match(/-?[\d.]+(?:e-\d+)?/g) ?? []).slice(0, 3).map(Number);
    }),
  );
}
