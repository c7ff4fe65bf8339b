// Many keys and the explore page in a real browser: found, sorted, opened and revoked; charts that live in their address.

import { beforeAll, describe, expect, test } from "vitest";
import { faultsOf } from "./axe.ts";
import { beyondWindow, hasBrowser, sendTraffic, settled, show, startDashboard } from "./dashboard.ts";

/** More than a page, and more than any list could show before. */
const KEYS = 520;
const LONG = "x".repeat(100);
const HEBREW = "מפתח ייצור";

describe.skipIf(!hasBrowser)("with many keys", () => {
  const { gateway, visit } = startDashboard();
  const ids = new Map<string, string>();

  const make = async (name: string): Promise<void> => {
    const made = await gateway().api("POST", "/api/keys", { name });
    ids.set(name, ((await made.json()) as { id: string }).id);
  };
  beforeAll(async () => {
    await sendTraffic(gateway());
    for (let at = 0; at < KEYS; at += 40) {
      const names = Array.from(
        { length: Math.min(40, KEYS - at) },
        (_, n) => `customer-${String(at + n).padStart(4, "0")}`,
      );
      await Promise.all(names.map(make));
    }
    for (const name of [LONG, HEBREW]) await make(name);
  });

  test("one is found, opened and revoked in four steps", async () => {
    const { page, troubles } = await visit("/keys");
    await page.getByText(/^52\d keys$/).waitFor();
    await page.getByLabel("Search keys").fill("customer-0007");
    await page.getByRole("link", { name: "customer-0007" }).click();
    await page.getByRole("heading", { level: 1, name: "customer-0007" }).waitFor();
    await page.getByText(/ saved\. Baseline: \S+/).waitFor();
    await page.getByRole("button", { name: "Revoke key" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Revoke key" }).click();
    await page.getByText("“customer-0007” revoked.").waitFor();
    await page.locator(".key-facts").getByText("revoked", { exact: true }).waitFor();
    expect(troubles).toEqual([]);
  });

  test("the list is sorted and paged by the gateway", async () => {
    const { page } = await visit("/keys?q=customer&sort=name");
    const first = page.locator(".keys tbody tr").first().getByRole("link").first();
    await first.getByText("customer-0000").waitFor();
    await page.getByRole("link", { name: "Next page" }).click();
    await first.getByText("customer-0051").waitFor();
    await page.getByRole("button", { name: /^Name/ }).click();
    await first.getByText("customer-0519").waitFor();
    expect(page.url()).toContain("sort=-name");
    await page.getByLabel("Status").selectOption("Revoked");
    await page.getByText("1 key", { exact: true }).waitFor();
    await page.getByLabel("Search keys").fill("nobody");
    await page.getByText("No keys match").waitFor();
  });

  test("several are revoked at once, after their number is typed", async () => {
    const { page } = await visit("/keys?q=customer-010&sort=name");
    await page.getByText("10 keys", { exact: true }).waitFor();
    await page.getByLabel("Select all on this page").check();
    await page.getByLabel("Select customer-0100").uncheck();
    await page.getByRole("button", { name: "Revoke 9 keys" }).click();
    const dialog = page.getByRole("dialog");
    const confirm = dialog.getByRole("button", { name: "Revoke", exact: true });
    expect(await confirm.isDisabled()).toBe(true);
    await dialog.getByLabel("Type “9” to confirm").fill("9");
    expect(await faultsOf(page, "light", "dialog[open]")).toEqual([]);
    await confirm.click();
    await page.getByText("9 keys revoked.").waitFor();
    await page.getByText("1 key", { exact: true }).waitFor();
  });

  test("pages are narrowed to a key by searching for it, and so is the palette", async () => {
    const { page } = await visit("/?live=off");
    await page.locator("summary", { hasText: "All keys" }).waitFor();
    await settled(page);
    // What `/` focuses is never in a panel that may be closed.
    expect(await page.locator("details [data-filter]").count()).toBe(0);
    await page.locator("summary", { hasText: "All keys" }).click();
    await page.getByText(/^50 of 52\d keys\. Type to find others\.$/).waitFor();
    await page.getByLabel("Search keys").fill("0400");
    await page.getByRole("link", { name: "customer-0400" }).click();
    await page.locator("summary", { hasText: "customer-0400" }).waitFor();
    expect(page.url()).toContain(`key=${ids.get("customer-0400")}`);
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox").fill("customer-0300");
    await page.getByRole("option", { name: "customer-0300 key" }).waitFor();
    await expect.poll(() => page.getByRole("option").count()).toBe(1);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "customer-0300" }).waitFor();
  });

  test("a chart is chosen, saved, sent as a link and read as a table", async () => {
    const { page, context, troubles } = await visit("/explore");
    await page.getByRole("heading", { name: "Cost by time, model" }).waitFor();
    await page.getByLabel("Metric").selectOption("Requests");
    await page.getByLabel("By", { exact: true }).selectOption("Key");
    await page.getByLabel("And by").selectOption("Tier");
    await page.getByRole("heading", { name: "Requests by key, tier" }).waitFor();
    await page
      .locator(".ranked li")
      .first()
      .getByText(/^first key · /)
      .waitFor();
    expect(await page.getByRole("link", { name: "CSV" }).getAttribute("href")).toMatch(/by=key%2Ctier.*format=csv/);
    await page.locator("summary", { hasText: "Views" }).click();
    await page.getByLabel("View name").fill("by key");
    await page.getByRole("button", { name: "Save" }).click();
    await page.locator("summary", { hasText: "by key" }).waitFor();
    const sent = await context.newPage();
    await sent.goto(page.url());
    await sent.getByRole("heading", { name: "Requests by key, tier" }).waitFor();
    await sent.getByRole("button", { name: /as a table$/ }).click();
    await sent.getByRole("cell", { name: "first key" }).first().waitFor();
    await sent.getByLabel("And by").selectOption("Tag");
    await sent.getByLabel("And by, tag name").fill("team");
    await sent.keyboard.press("Enter");
    await sent.getByRole("heading", { name: "Requests by key, team" }).waitFor();
    await sent.getByRole("cell", { name: "(none)" }).first().waitFor();
    expect(troubles).toEqual([]);
  });

  test("a part of a ranking opens its requests", async () => {
    const { page } = await visit("/explore?metric=latencyP95&by=status");
    await page.locator(".ranked a", { hasText: "404" }).click();
    await page.waitForURL(/\/requests\?.*status=404/);
  });

  test("nothing is cut at any width", async () => {
    const { page, troubles } = await visit("/keys");
    await page.getByText(HEBREW).first().waitFor();
    const long = `/keys/${ids.get(LONG)}`;
    for (const path of ["/keys", long, "/explore?by=time,tier", "/explore?by=key"]) {
      await show(page, path);
      await page
        .locator(path === "/keys" ? ".keys tbody tr" : "figure.chart:not(.unknown)")
        .first()
        .waitFor();
      await settled(page);
      for (const width of [1440, 1024, 390]) {
        await page.setViewportSize({ width, height: 900 });
        expect(await beyondWindow(page), `${path}, ${width}`).toBeLessThanOrEqual(0);
        if (width < 1024 || path !== "/keys") continue;
        expect(await page.evaluate<number>(BEYOND_BOX), `table, ${width}`).toBeLessThanOrEqual(0);
      }
    }
    expect(troubles).toEqual([]);
  });
});

/** How far the table is wider than its box. */
const BEYOND_BOX =
  "(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(document.querySelector('.table-box'))";
