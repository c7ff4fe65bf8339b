// The audit page in a real browser: search, one entry before and after, the file, and what an owner sees.

import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, test } from "vitest";
import { faultsOf } from "./axe.ts";
import { beyondWindow, hasBrowser, settled, startDashboard } from "./dashboard.ts";

describe.skipIf(!hasBrowser)("the audit page", () => {
  const { gateway, visit } = startDashboard();
  beforeAll(async () => {
    const made = await gateway().api("POST", "/api/keys", { name: "before" });
    const { id } = (await made.json()) as { id: string };
    await gateway().api("PATCH", `/api/keys/${id}`, { name: "after the change" });
    await gateway().api("PATCH", "/api/settings", { options: { "logging.retentionDays": 9 } });
  });

  test("finds a change, shows it before and after, and fits a phone", async () => {
    const { page, troubles } = await visit("/audit");
    await page.getByRole("searchbox", { name: "Action", exact: true }).fill("changeKey");
    await page.waitForURL(/action=changeKey/);
    await expect.poll(() => page.locator("#main tbody tr").count()).toBe(1);
    await page.locator("#main tbody tr").getByRole("link").click();
    const sheet = page.locator(".sheet");
    await sheet.getByRole("heading", { name: "changeKey" }).waitFor();
    const row = sheet.getByRole("row", { name: /^name/ });
    expect(await row.getByRole("cell").allTextContents()).toEqual(["name", "before", "after the change"]);
    await sheet.getByText("admin token (admin token)").waitFor();
    for (const width of [320, 390, 1024]) {
      await page.setViewportSize({ width, height: 844 });
      expect(await beyondWindow(page)).toBeLessThanOrEqual(0);
    }
    for (const theme of ["light", "dark"] as const) expect(await faultsOf(page, theme, ".sheet")).toEqual([]);
    await page.keyboard.press("Escape");
    await sheet.waitFor({ state: "detached" });
    expect(troubles).toEqual([]);
  });

  test("tells a change of the configuration in words", async () => {
    const { page } = await visit("/audit?action=changeSettings");
    await page.locator("#main tbody tr").getByRole("link").click();
    await page.locator(".sheet").getByText("logging.retentionDays: not set → 9").waitFor();
  });

  test("says that nothing is found, and exports what is", async () => {
    const { page } = await visit("/audit?object=nothing-of-this-name");
    await page.getByText("No entries in this range").waitFor();
    await page.getByRole("searchbox", { name: "Object or id" }).fill("");
    await settled(page);
    const [file] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("link", { name: "Export NDJSON" }).click(),
    ]);
    const lines = readFileSync(await file.path(), "utf8")
      .trimEnd()
      .split("\n");
    expect(lines.map((line) => (JSON.parse(line) as { action: string }).action)).toContain("createKey");
  });
});
