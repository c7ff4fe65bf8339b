// The request log in a real browser: filters in the address and on chips, the histogram under the same filters, live
// requests, saved views, copying, and numbers of the overview that open exactly what they count.

import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Page, Request } from "playwright-core";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { HELLO } from "../support/gateway/gateway.ts";
import { faultsOf } from "./axe.ts";
import { beyondWindow, hasBrowser, pressInOneGo, sendTraffic, settled, show, startDashboard } from "./dashboard.ts";

describe.skipIf(!hasBrowser)("the request log", () => {
  const { gateway, visit } = startDashboard();
  const ask = async (id: string, body: object = HELLO): Promise<void> => {
    await (await gateway().post("/v1/chat/completions", body, { "x-request-id": id })).text();
  };
  beforeAll(async () => {
    await sendTraffic(gateway());
    await ask("raised", { ...HELLO, messages: [{ role: "user", content: "Hi!" }], service_tier_floor: "STANDARD" });
  });
  const rows = (page: Page) => page.locator(".requests tbody tr");
  const countedBy = (page: Page) => page.locator("figure.chart figcaption").first().innerText();

  test("shows a range of days that was chosen, and rejects one that runs backwards", async () => {
    const { page } = await visit("/requests?range=24h");
    await page.getByText("Custom range", { exact: true }).click();
    await page.getByLabel("From", { exact: true }).fill("2026-03-09");
    await page.getByLabel("To", { exact: true }).fill("2026-03-02");
    await page.getByText("Choose a day on or after “From”.").waitFor();
    expect(await page.getByRole("link", { name: "Apply" }).count()).toBe(0);
    await page.getByLabel("From", { exact: true }).fill("2026-03-01");
    await page.getByRole("link", { name: "Apply" }).click();
    await page.waitForURL(/from=2026-03-01T00.*to=2026-03-03T00/);
    await page.getByText("1 Mar – 2 Mar", { exact: true }).waitFor();
    await page.getByText(/^No requests \(/).waitFor();
    await page.goBack();
    await page.waitForURL(/range=24h$/);
  });

  test("narrows by every filter together, with a chip that removes each, and the histogram follows", async () => {
    const { page, troubles } = await visit("/requests");
    await page.getByText("More filters").click();
    await page.getByLabel("Tier adjusted").check();
    await page.waitForURL(/adjusted=true/);
    await expect.poll(() => countedBy(page)).toContain("1 matching request");
    await expect.poll(() => rows(page).count()).toBe(1);
    await page.getByLabel("provider", { exact: true }).selectOption("sandbox");
    await page.getByLabel("min cost", { exact: true }).selectOption("0.000001");
    await page.getByLabel("routing", { exact: true }).selectOption("auto");
    await page.waitForURL(/adjusted=true&provider=sandbox&costFrom=0.000001&profile=auto/);
    await expect.poll(() => countedBy(page)).toContain("1 matching request");
    await page.getByLabel("max cost", { exact: true }).selectOption("0.00001");
    await page.getByText("No requests match these 5 filters").waitFor();
    await expect.poll(() => countedBy(page)).toContain("0 matching requests");
    expect(await faultsOf(page, "light", "details[open]")).toEqual([]);
    await page.keyboard.press("Escape");
    await page.locator("details[open]").waitFor({ state: "detached" });
    expect(await faultsOf(page, "light", "#main")).toEqual([]);
    await page.getByRole("button", { name: "Remove filter: Max cost $0.00001" }).click();
    await expect.poll(() => rows(page).count()).toBe(1);
    await page.getByRole("button", { name: "Clear filters" }).click();
    await page.waitForURL(/\/requests$/);
    await expect.poll(() => rows(page).count()).toBe(7);
    expect(troubles).toEqual([]);
  });

  test("shows live requests, counts them while one reads, and polls where no stream can be opened", async () => {
    // The list is read again when the stream is there; until that is over, it may bring what comes live as well.
    const reading = new Set<Request>();
    const prepare = async (page: Page): Promise<void> => {
      page.on("request", (request) => {
        if (request.url().includes("/api/requests?")) reading.add(request);
      });
      for (const over of ["requestfinished", "requestfailed"] as const)
        page.on(over as "requestfinished", (request) => void reading.delete(request));
    };
    const viewport = { width: 1280, height: 500 };
    const { page, troubles } = await visit("/requests?status=2xx&tail=on", { viewport, prepare });
    await page.locator(".live.on").waitFor();
    await rows(page).first().waitFor();
    await expect.poll(() => reading.size).toBe(0);
    await settled(page);
    const before = await rows(page).count();
    await ask("came-live");
    await ask("filtered-away", {});
    await page.locator('a[title$="request came-live"]').waitFor();
    await expect.poll(() => rows(page).count()).toBe(before + 1);
    await expect.poll(() => reading.size).toBe(0);
    await page.evaluate("scrollTo(0, 400)");
    await ask("while-reading");
    const news = page.getByRole("button", { name: "1 new request" });
    await news.waitFor();
    expect(await rows(page).count()).toBe(before + 1);
    expect(await faultsOf(page, "light")).toEqual([]);
    await news.click();
    await page.locator('a[title$="request while-reading"]').waitFor();
    await page.route("**/api/events*", (route) => route.abort());
    await page.reload();
    await page.getByText("Live, every 3 s").waitFor();
    await ask("asked-for");
    await page.locator('a[title$="request asked-for"]').waitFor();
    expect(troubles).toEqual([]);
  });

  test("keeps its rows when a read is given up, breaks off or loses the network in the middle of its answer", async () => {
    // The list that it sends stays open behind its beginning, or breaks off there.
    let isBreaking = false;
    const half = createServer((_, response) => {
      response
        .writeHead(200, { "content-type": "application/json" })
        .write('{"data":[', () => isBreaking && response.destroy());
    });
    onTestFinished(() => {
      half.closeAllConnections();
      half.close();
    });
    await once(half.listen(0, "127.0.0.1"), "listening");
    const url = `http://127.0.0.1:${(half.address() as AddressInfo).port}/`;
    const { page, context } = await visit("/requests");
    await rows(page).first().waitFor();
    const lists = "**/api/requests?*";
    const readHalf = async (): Promise<void> => {
      await page.route(lists, (route) => route.continue({ url }));
      const begun = page.waitForResponse(url);
      await page.evaluate("dispatchEvent(new Event('online'))");
      await begun;
    };
    const old = page.locator(".stale", { has: rows(page) });
    await readHalf();
    await readHalf();
    expect(await rows(page).count()).toBeGreaterThan(0);
    isBreaking = true;
    half.closeAllConnections();
    await old.getByText("Can't reach the gateway.").waitFor();
    await page.unroute(lists);
    await old.waitFor({ state: "detached" });
    expect(await rows(page).count()).toBeGreaterThan(0);
    isBreaking = false;
    await readHalf();
    await context.setOffline(true);
    await page.getByText("Reconnecting…").first().waitFor();
    await old.waitFor();
  });

  test("keeps views under a name in this browser", async () => {
    const { page } = await visit("/requests?tier=COMPLEX&range=7d");
    await page.getByText("Views", { exact: true }).click();
    await page.getByLabel("View name").fill("hard ones");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("View: hard ones").waitFor();
    expect(await faultsOf(page, "light", "details[open]")).toEqual([]);
    await page.keyboard.press("Escape");
    await page.locator("details[open]").waitFor({ state: "detached" });
    await show(page, "/requests");
    await page.getByText("Views", { exact: true }).click();
    await page.getByRole("link", { name: "hard ones" }).click();
    await page.waitForURL(/range=7d&tier=COMPLEX/);
    await page.getByRole("button", { name: "Remove filter: Tier COMPLEX" }).waitFor();
    await page.getByText("View: hard ones").click();
    await page.getByRole("button", { name: "Delete view hard ones" }).click();
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByText("View: hard ones").click();
    await page.getByRole("button", { name: "Delete view hard ones" }).click();
    await page.reload();
    await page.getByText("Views", { exact: true }).waitFor();
  });

  test("copies the id by a key and the request as curl", async () => {
    const { page, context } = await visit("/requests?status=2xx");
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    const clipboard = () => page.evaluate<string>("navigator.clipboard.readText()");
    await rows(page).first().click();
    await page.getByRole("tab", { name: "Decision" }).waitFor();
    await page.keyboard.press("c");
    await page.getByText("Request id copied.").waitFor();
    const id = await page.locator(".sheet h2 code").innerText();
    expect(await clipboard()).toBe(id);
    // It says so for two seconds, which a busy machine may need to begin looking.
    const copied = page.getByRole("button", { name: "Copied" }).waitFor();
    await Promise.all([copied, page.getByRole("button", { name: "Copy as curl" }).click()]);
    expect(await clipboard()).toContain(`curl ${gateway().url}/v1/chat/completions`);
    await pressInOneGo(page, "g", "c");
    await page.getByRole("heading", { level: 1, name: "Credits" }).waitFor();
    expect(await clipboard()).toContain("curl");
  });

  test("is behind each number of the overview, exactly", async () => {
    const { page } = await visit("/?live=off");
    const tile = (name: string) => page.locator(".tile", { hasText: name }).locator("a.big");
    await tile("Error rate").locator("small").waitFor();
    await settled(page);
    const errors = Number(await tile("Error rate").locator("small").innerText());
    const key = (await page.getByLabel("Key", { exact: true }).locator("option").nth(1).getAttribute("value")) ?? "";
    await page.getByLabel("Key", { exact: true }).selectOption(key);
    await page.waitForURL(/key=/);
    await tile("Error rate").click();
    await page.waitForURL(
      ({ searchParams }) => searchParams.get("key") === key && searchParams.get("status") === "error",
    );
    await expect.poll(() => rows(page).count()).toBe(errors);
    await expect.poll(() => countedBy(page)).toContain(`${errors} matching requests`);
    await page.goBack();
    await page.locator("figure", { hasText: "Tier mix" }).getByRole("link", { name: "COMPLEX" }).click();
    await page.waitForURL(/tier=COMPLEX/);
    await expect.poll(() => rows(page).count()).toBe(1);
    await page.goBack();
    await page.locator("figure", { hasText: "Errors" }).getByRole("link", { name: "Other 4xx" }).click();
    await page.waitForURL(/status=404|status=4\d\d(%2C4\d\d)*/);
    await expect.poll(() => rows(page).count()).toBe(errors);
    await page.goBack();
    await page.getByRole("button", { name: "Gateway" }).click();
    await page.getByText(/^.*Gateway overhead .* of TTFT/).waitFor();
  });

  test("is behind the numbers of keys and models, exactly", async () => {
    const { page } = await visit("/keys");
    const key = page.locator('td[data-cell="requests"] a').first();
    // The totals come after the keys.
    await expect.poll(async () => Number(await key.innerText())).toBeGreaterThan(5);
    await settled(page);
    const ofKey = Number(await key.innerText());
    await key.click();
    await page.waitForURL(/\/requests\?.*key=/);
    await expect.poll(() => countedBy(page)).toContain(` ${ofKey} matching requests`);
    await show(page, "/models?sort=traffic");
    const busiest = page.locator('td[data-cell="traffic"] a').first();
    await expect.poll(() => busiest.innerText()).not.toBe("0%");
    await busiest.click();
    await page.waitForURL(/\/requests\?.*model=/);
    const { data } = (await (await gateway().api("GET", "/api/usage?by=total&group=model")).json()) as {
      data: { group: string | null; requests: number }[];
    };
    const most = Math.max(...data.filter(({ group }) => group !== null).map(({ requests }) => requests));
    await expect.poll(() => countedBy(page)).toContain(` ${most} matching request`);
  });

  test("fits a phone with everything open", async () => {
    const { page } = await visit("/requests?adjusted=true&costFrom=0.001&provider=sandbox", {
      viewport: { width: 320, height: 640 },
    });
    for (const name of ["More filters", "Views"]) {
      await page.getByText(name, { exact: true }).click();
      await page.locator("details[open]", { hasText: name }).waitFor();
      expect(await beyondWindow(page), name).toBe(0);
      await page.keyboard.press("Escape");
    }
  });

  test("keeps its rows without a connection after more requests were opened than it remembers", async () => {
    await Promise.all(Array.from({ length: 45 }, (_, index) => ask(`opened-${index}`)));
    const { page, context } = await visit("/requests");
    await rows(page).nth(45).waitFor();
    await rows(page).first().click();
    for (let opened = 0; opened < 45; opened += 1) {
      const read = page.waitForEvent("requestfinished", (request) => /\/api\/requests\/[^/?]+$/.test(request.url()));
      await page.keyboard.press("j");
      await read;
    }
    await context.setOffline(true);
    await page.locator(".stale", { has: rows(page) }).waitFor();
  });
});
