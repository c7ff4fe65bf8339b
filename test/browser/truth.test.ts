// The truth on screen: whatever call is slow, fails or is cut off, the page says so, and no number stands under a label
// that it was not read for.

import type { Page, Route } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import { DASHBOARD_PAGES } from "../../src/http/pages/dashboard-pages.ts";
import { few } from "../support/random.ts";
import { hasBrowser, sendTraffic, settled, show, startDashboard } from "./dashboard.ts";

/** All but the session of the user. */
const API = /\/api\/(?!session(?!s))/;

describe.skipIf(!hasBrowser)("the truth on screen", () => {
  const { gateway, visit } = startDashboard();
  let paths: readonly string[] = [];
  beforeAll(async () => {
    await sendTraffic(gateway());
    const made = await gateway().api("POST", "/api/profiles", { name: "prod", tierFloor: "SIMPLE" });
    const { id } = (await made.json()) as { id: string };
    const listed = await gateway().api("GET", "/api/requests?limit=1");
    const { data } = (await listed.json()) as { data: { id: string; keyId: string; session: string }[] };
    paths = [
      ...DASHBOARD_PAGES.map(({ path }) => path),
      `/profiles/${id}`,
      `/requests/${data[0]?.id}`,
      `/keys/${data[0]?.keyId}`,
      `/sessions/${data[0]?.session}`,
      "/models?model=gpt-5-nano",
      ...["users", "configuration", "gateway"].map((tab) => `/settings?tab=${tab}`),
      ...["chains", "prices", "history"].map((tab) => `/providers?tab=${tab}`),
    ];
  });

  test("an axis of small amounts shows them whole", async () => {
    const { page, troubles } = await visit("/explore");
    await page.locator(".axes text").first().waitFor();
    await settled(page);
    const labels = await page.evaluate(() =>
      [...document.querySelectorAll(".axes text[text-anchor=end]")].map((label) => {
        const svg = label.closest("svg") as SVGElement;
        const plot = svg.closest(".plot") as Element;
        const { left } = plot.getBoundingClientRect();
        const isFree = getComputedStyle(svg).overflow === "visible" && getComputedStyle(plot).overflow === "clip";
        const marginPx = isFree ? Number.parseFloat(getComputedStyle(plot).overflowClipMargin) : 0;
        return { text: label.textContent, isWhole: label.getBoundingClientRect().left >= left - marginPx };
      }),
    );
    expect(labels.map(({ text = "" }) => text?.length ?? 0).sort((a, b) => b - a)[0]).toBeGreaterThanOrEqual(
      "$0.0005".length,
    );
    expect(labels.filter(({ isWhole }) => !isWhole)).toEqual([]);
    expect(troubles).toEqual([]);
  });

  test("every call that fails alone is said on its page, with Retry, and is well after it", async () => {
    const { page, troubles } = await visit("/settings");
    const unsaid: string[] = [];
    // Many pages read the same names; each call fails on the first pages that make it, and in the long run on all.
    const failed = new Map<string, number>();
    for (const path of paths) {
      for (const call of await callsOf(page, gateway().url + path)) {
        const times = failed.get(call) ?? 0;
        if (times >= few(1, paths.length)) continue;
        failed.set(call, times + 1);
        const isThis = (url: URL): boolean => url.pathname === call;
        await page.route(isThis, fail);
        await page.goto(gateway().url + path);
        const retry = page.getByRole("button", { name: "Retry" });
        const isSaid = await retry
          .first()
          .waitFor()
          .then(
            () => true,
            () => false,
          );
        if (!isSaid) unsaid.push(`${path}: ${call}`);
        await page.unroute(isThis);
        if (!isSaid) continue;
        // It may have been read again by itself, and then there is nothing to click.
        await retry.evaluateAll(([first]) => (first as HTMLElement | undefined)?.click());
        await page.getByText("The disk is full.").first().waitFor({ state: "detached" });
      }
    }
    expect(unsaid).toEqual([]);
    expect(troubles).toEqual([]);
  });

  test("one strip says on every page that the gateway cannot be reached, and everything is read again after it", async () => {
    const { page, context } = await visit("/settings");
    const strip = page.locator(".banners").getByText(/Can't reach the gateway.*Last updated .* UTC/);
    for (const path of paths) {
      await show(page, path);
      await settled(page);
      await context.setOffline(true);
      // A response that was under way may take the strip away for a moment.
      await expect.poll(() => strip.count(), { message: path }).toBe(1);
      const again = page.waitForResponse((response) => API.test(response.url()));
      await context.setOffline(false);
      await again;
      await strip.waitFor({ state: "detached" });
    }
  });

  test("a gateway that stops is noticed without anybody doing anything", async () => {
    const { page } = await visit("/requests", {
      prepare: async (opened) => {
        await opened.clock.install();
      },
    });
    await page.locator(".requests tbody tr").first().waitFor();
    await page.route(API, (route) => route.abort("connectionrefused"));
    await page.clock.fastForward(16_000);
    await page.getByText(/Can't reach the gateway/).waitFor();
    await page.unroute(API);
    await page.clock.fastForward(5_000);
    await page.getByText(/Can't reach the gateway/).waitFor({ state: "detached" });
  });

  test.each<readonly [path: string, change: (page: Page) => Promise<unknown>, place: string]>([
    ["/?live=off", (page: Page) => page.getByRole("button", { name: "1h", exact: true }).click(), "#main"],
    [
      "/?live=off&range=7d",
      (page: Page) => page.getByLabel("Key", { exact: true }).selectOption({ index: 1 }),
      "#main",
    ],
    ["/requests", (page: Page) => page.getByRole("button", { name: "30d", exact: true }).click(), "#main"],
    ["/credits", (page: Page) => page.getByRole("button", { name: "Charges", exact: true }).click(), "#ledger"],
    ["/sessions?range=1h", (page: Page) => page.getByRole("button", { name: "24h", exact: true }).click(), "#main"],
    ["/explore?by=model", (page: Page) => page.getByLabel("Metric").selectOption({ label: "Saved" }), "#main figure"],
  ])("%s: no amount stands under a new filter before it was read for it", async (path, change, place) => {
    const { page } = await visit(path);
    await settled(page);
    const amounts = (): Promise<readonly string[]> => page.evaluate(amountsAtRest(place));
    await expect.poll(async () => (await amounts()).length).toBeGreaterThan(2);
    const held = holdCalls();
    await page.route(API, held.hold);
    await change(page);
    await expect.poll(() => held.waiting()).toBeGreaterThan(0);
    await expect.poll(amounts).toEqual([]);
    held.release();
    await settled(page);
  });

  test("a slow gateway shows at once that something is coming, and the frame of the page before its numbers", async () => {
    const held = { session: holdCalls(), overview: holdCalls() };
    const { page } = await visit("/?live=off", {
      prepare: async (opened) => {
        for (const [name, { hold }] of Object.entries(held)) await opened.route(`**/api/${name}*`, hold);
      },
    });
    await page.locator(".gate .skeleton:not(.unseen)").waitFor();
    held.session.release();
    await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
    await expect.poll(() => page.locator(".tile").count()).toBe(6);
    expect(await page.locator(".tile .big").count()).toBe(0);
    held.overview.release();
    await page.locator(".tile .big").nth(5).waitFor();
  });

  test("ranges and ages are counted from the gateway's time, whatever the browser's clock says", async () => {
    await (await gateway().api("POST", "/api/profiles", { name: "made just now" })).text();
    for (const offBy of [3, -3]) {
      const { page } = await visit("/requests?range=1h", {
        prepare: async (opened) => {
          await opened.clock.install({ time: Date.now() + offBy * 86_400_000 });
        },
      });
      await page.locator(".requests tbody tr").nth(3).waitFor();
      await show(page, "/profiles");
      const age = page.locator("li.card", { hasText: "made just now" }).locator("time").first();
      await expect.poll(() => age.innerText()).toMatch(/^(just now|in \d s|\d+ (s|min) ago)$/);
    }
  });
});

/** Every address that a page reads, once, without what it asks for. */
async function callsOf(page: Page, url: string): Promise<readonly string[]> {
  const calls = new Set<string>();
  const note = (request: { url(): string; method(): string }): void => {
    const { pathname } = new URL(request.url());
    if (API.test(pathname) && request.method() === "GET" && !pathname.endsWith("/stream")) calls.add(pathname);
  };
  // From here on, no call of the page before is under way.
  await page.goto(url, { waitUntil: "commit" });
  page.on("request", note);
  await settled(page);
  page.off("request", note);
  return [...calls];
}

function fail(route: Route): Promise<void> {
  const error = { message: "The disk is full.", type: "api_error", code: null };
  return route.fulfill({ status: 500, headers: { "x-request-id": "req_broken" }, json: { error } });
}

/** Holds every call back until it is released. */
function holdCalls() {
  let release: () => void = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  let waiting = 0;
  return {
    waiting: () => waiting,
    release: () => release(),
    async hold(route: Route): Promise<void> {
      waiting += 1;
      await released;
      await route.continue();
    },
  };
}

/** Amounts of money that are neither dimmed nor marked as loading. */
const amountsAtRest = (place: string): string => `[...document.querySelectorAll("${place} *")]
  .filter((element) => element.checkVisibility({ visibilityProperty: true }))
  .filter((element) => element.closest("[aria-busy=true], .axes, dialog") === null)
  .flatMap((element) => [...element.childNodes])
  .filter((node) => node.nodeType === Node.TEXT_NODE && /\\$\\d/.test(node.textContent))
  .map((node) => node.parentElement.closest("section, figure")?.innerText)`;
