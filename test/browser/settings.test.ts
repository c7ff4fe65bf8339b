// Options that change at run time, where the dashboard says so: content logging beside a request, and all of them in Settings.

import { beforeAll, describe, expect, test } from "vitest";
import type { TestGateway } from "../support/gateway/gateway.ts";
import { faultsOf } from "./axe.ts";
import { beyondWindow, hasBrowser, sendTraffic, settled, startDashboard } from "./dashboard.ts";

interface Document {
  readonly logging?: { readonly content?: boolean; readonly retentionDays?: number };
}

const documentOf = async (gateway: TestGateway): Promise<Document> =>
  ((await (await gateway.api("GET", "/api/configuration")).json()) as { document: Document }).document;

describe.skipIf(!hasBrowser)("options that change at run time", () => {
  const { gateway, visit } = startDashboard();
  beforeAll(() => sendTraffic(gateway()));

  test("content logging is turned on beside a request that has no content, and counts from the next one", async () => {
    const { page, troubles } = await visit("/requests");
    await page.locator(".requests tbody tr").first().click();
    await page.getByRole("tab", { name: "Payload" }).click();
    await page.getByText("Not stored: content logging was off").waitFor();
    for (const theme of ["light", "dark"] as const) expect(await faultsOf(page, theme, ".sheet")).toEqual([]);
    await page.getByRole("button", { name: "Turn on content logging" }).click();
    await page.getByText("It is on now.").waitFor();
    expect(await documentOf(gateway())).toEqual({ logging: { content: true } });
    await sendTraffic(gateway());
    // The newest one that was answered, which is the fourth of six.
    const { data } = (await (await gateway().api("GET", "/api/requests?limit=3")).json()) as { data: { id: string }[] };
    const newest = await (await gateway().api("GET", `/api/requests/${data[2]?.id}`)).json();
    expect((newest as { content: { request: string } | null }).content?.request).toContain("Prove that");
    expect(troubles).toEqual([]);
  });

  test("each tab of Settings says what it is about, and its cards keep apart", async () => {
    const { page } = await visit("/settings");
    await page.getByText("How the dashboard looks, and how you sign in.").waitFor();
    const boxes = await Promise.all((await page.locator("#main .card").all()).map((card) => card.boundingBox()));
    for (const [index, box] of boxes.slice(1).entries()) {
      const above = boxes[index];
      expect((box?.y ?? 0) - (above?.y ?? 0) - (above?.height ?? 0)).toBeGreaterThan(7);
    }
    for (const [tab, purpose] of [
      ["Users", "Who may sign in"],
      ["Configuration", "The options that the gateway runs with."],
      ["Gateway", "Version, store and uptime"],
    ] as const) {
      await page.getByRole("tab", { name: tab }).click();
      await page.locator(".page-head").getByText(purpose).waitFor();
    }
  });

  test("Settings changes what can change, says what went wrong, and shows who did it in History", async () => {
    const { page, troubles } = await visit("/settings?tab=configuration&q=logging");
    const row = (name: string) => page.getByRole("row", { name: new RegExp(`^${name}`) });
    const days = row("logging.retentionDays").getByLabel("logging.retentionDays");
    await days.fill("0");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByText(/logging\.retentionDays: .*from 1/).waitFor();
    await days.fill("12");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByText("logging.retentionDays changed.").waitFor();
    await row("logging.content").getByLabel("On", { exact: true }).click();
    await expect.poll(() => documentOf(gateway())).toEqual({ logging: { content: false, retentionDays: 12 } });
    expect(await row("logging.level").getByRole("textbox").count()).toBe(0);
    const saved = page.getByRole("status").locator("p", { hasText: "logging.content changed." });
    await saved.getByRole("button", { name: "Undo" }).click();
    await expect.poll(() => documentOf(gateway())).toEqual({ logging: { content: true, retentionDays: 12 } });
    await row("logging.retentionDays")
      .getByRole("button", { name: /^Reset/ })
      .click();
    await expect.poll(() => documentOf(gateway())).toEqual({ logging: { content: true } });
    for (const width of [320, 390, 1024]) {
      await page.setViewportSize({ width, height: 844 });
      expect(await beyondWindow(page)).toBeLessThanOrEqual(0);
    }
    for (const theme of ["light", "dark"] as const) expect(await faultsOf(page, theme, "#main")).toEqual([]);
    await page.getByLabel("Search options").fill("billing.mode");
    await row("billing.mode").getByLabel("billing.mode").selectOption("metered");
    await page.getByLabel("Search options").fill("");
    await page.getByText("billing.mode: not set → metered").waitFor();
    const before = (await (await gateway().api("GET", "/api/settings/history")).json()) as {
      data: { number: number }[];
    };
    await page.getByRole("button", { name: `Roll back to version ${before.data[1]?.number}`, exact: true }).click();
    await expect.poll(() => documentOf(gateway())).toEqual({ logging: { content: true } });
    await gateway().api("PATCH", "/api/settings", { options: { "limits.requestsPerMinute": 77 } });
    await expect.poll(() => page.getByLabel("limits.requestsPerMinute", { exact: true }).inputValue()).toBe("77");
    await page.getByText(/limits\.requestsPerMinute: .* → 77/).waitFor();
    await page.goto(`${gateway().url}/providers?tab=history`);
    await page.getByText("logging.content: true → false").waitFor();
    await page
      .getByText(/^ops@example\.com, /)
      .first()
      .waitFor();
    expect(troubles).toEqual([]);
  });
});

describe.skipIf(!hasBrowser)("an option that the file sets", () => {
  const { gateway, visit } = startDashboard({ yaml: "logging: { content: false }" });
  beforeAll(() => sendTraffic(gateway()));

  test("is locked, and both places say where it is set", async () => {
    const { page } = await visit("/settings?tab=configuration&q=logging.content");
    await page.getByText(/^Locked: set in switchyard\.yaml:1:/).waitFor();
    expect(await page.getByLabel("On", { exact: true }).count()).toBe(0);
    await page.goto(`${gateway().url}/requests`);
    await settled(page);
    await page.locator(".requests tbody tr").first().click();
    await page.getByRole("tab", { name: "Payload" }).click();
    await page.getByText(/^switchyard\.yaml:1:.* turns it off\./).waitFor();
    expect(await page.getByRole("button", { name: "Turn on content logging" }).count()).toBe(0);
  });
});
