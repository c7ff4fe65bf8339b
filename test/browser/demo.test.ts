// A store filled by `switchyard demo`, seen in a browser: a month that looks like one, on every page.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readArguments } from "../../src/cli/command/arguments.ts";
import { demo } from "../../src/cli/demo.ts";
import { recordTerminal } from "../support/gateway/terminal.ts";
import { hasBrowser, settled, startDashboard } from "./dashboard.ts";

const folder = mkdtempSync(join(tmpdir(), "switchyard-demo-"));
const database = `sqlite:${join(folder, "demo.db")}`;

describe.skipIf(!hasBrowser)("a demo", () => {
  beforeAll(async () => {
    const quiet = recordTerminal({ cwd: folder });
    const args = readArguments(["demo", "--requests", "4000", "--database", database]);
    expect(await demo(args, quiet)).toBe(0);
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const { visit } = startDashboard({ database, creditsUsd: null });

  test("has a month in every tile and chart of the overview", async () => {
    const { page, troubles } = await visit("/?range=30d&live=off");
    await page.locator(".tiles .big").nth(5).waitFor();
    await settled(page);
    const tiles = Object.fromEntries(
      await Promise.all(
        (await page.locator(".tiles .tile").all()).map(async (tile) => [
          await tile.locator("h2").innerText(),
          await tile.locator(".big").innerText(),
        ]),
      ),
    ) as Record<string, string>;
    const shownIn = (name: string): string => {
      const found = Object.entries(tiles).find(([title]) => title.startsWith(name));
      return found?.[1] ?? `no tile ${name} among ${Object.keys(tiles).join(", ")}`;
    };
    expect(shownIn("Requests")).toMatch(/^[12],?\d\d\d$|^[12]\.\d+k$/i);
    expect(shownIn("Spend")).toMatch(/^\$[1-9]/);
    expect(shownIn("Saved")).toMatch(/\$[\d.]*[1-9]/);
    expect(shownIn("Error rate")).toMatch(/^[\d.]*[1-9][\d.]*%/);
    expect(shownIn("Fallback rate")).toMatch(/^[\d.]*[1-9][\d.]*%/);
    await expect.poll(() => page.locator("figure.chart").count()).toBe(6);
    expect(await page.getByText(/^No requests \(/).count()).toBe(0);
    expect(troubles).toEqual([]);
  });

  test("says in a session without a name why its requests belong together", async () => {
    const { page } = await visit("/sessions?range=30d");
    await page
      .getByText(/^[2-9] turns$/)
      .first()
      .click();
    await page.getByText("requests that begin alike are turns of one session").waitFor();
  });

  test("has keys that were used, a profile, a balance that lasts, and models with traffic", async () => {
    const { page } = await visit("/keys");
    await page.getByRole("row", { name: /production .*active/ }).waitFor();
    await page.getByRole("row", { name: /batch .* budget .*active/ }).waitFor();
    await expect.poll(() => page.locator("[data-cell=requests]").first().innerText()).toMatch(/^[1-9]/);
    await page.locator(".balance .runway").waitFor();
    await page.getByRole("link", { name: "Credits" }).click();
    await page.locator(".ledger tbody tr").nth(20).waitFor();
    expect(await page.locator(".ledger [data-cell=time]").first().innerText()).toMatch(/^\d+ \w+, \d\d:\d\d:\d\d$/);
    const days = page.locator("figure.chart", { hasText: "Balance by day" });
    await days.getByText(/^\$[\d.]+ charged in 30 days\.$/).waitFor();
    await days.getByRole("button", { name: /table/ }).click();
    expect(await days.locator("tbody tr").count()).toBe(30);
    await page.getByRole("link", { name: "Models" }).click();
    const shares = page.locator(".models [data-cell=traffic]");
    await expect
      .poll(async () => (await shares.allInnerTexts()).filter((text) => text !== "0%").length)
      .toBeGreaterThan(2);
  });
});
