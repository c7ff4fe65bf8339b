// Rules for every page: accessible in both themes, fits narrow screens, small, quiet, and without layout shifts.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import type { Page } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import { DASHBOARD_PAGES } from "../../src/http/pages/dashboard-pages.ts";
import { UI_FOLDER } from "../../src/http/pages/ui.ts";
import { faultsOf } from "./axe.ts";
import { hasBrowser, pressInOneGo, sendTraffic, startDashboard } from "./dashboard.ts";

const SCRIPT_MAX_BYTES = 75 * 1024;
const FIRST_SCRIPT_MAX_BYTES = 60 * 1024;
const STYLE_MAX_BYTES = 12 * 1024;
const SHIFT_MAX = 0.1;
const DESK = { width: 1440, height: 900 };
/** So tall that the bar at its bottom covers nothing: axe takes what is half covered for too small. */
const PHONE = { width: 390, height: 9_000 };
/** A tablet, a phone, the smallest that counts, and a window of 1280 by 800 pixels at 200%. */
const SMALLER = [{ width: 1024, height: 768 }, PHONE, { width: 320, height: 640 }, { width: 640, height: 400 }];
/** The overview without its refresh, so that it comes to rest. */
const PAGE_PATHS = DASHBOARD_PAGES.map(({ path }) => (path === "/" ? "/?live=off" : path));

describe.skipIf(!hasBrowser)("every page", () => {
  const { gateway, visit } = startDashboard();
  let paths: readonly string[] = [];
  beforeAll(async () => {
    await sendTraffic(gateway());
    await gateway().api("POST", "/api/profiles", { name: "prod", tierFloor: "SIMPLE" });
    // With two accounts, the bar at the top has one more thing to find room for.
    await gateway().api("POST", "/api/accounts", { name: "Product team of the second floor" });
    const { data } = (await (await gateway().api("GET", "/api/requests?limit=5")).json()) as {
      data: { id: string; session: string }[];
    };
    const request = data[4]?.id;
    const sheets = ["", "?tab=attempts", "?tab=cost", "?tab=payload"].map((tab) => `/requests/${request}${tab}`);
    const settings = ["users", "configuration", "gateway"].map((tab) => `/settings?tab=${tab}`);
    const tabs = [...settings, ...["chains", "prices", "history"].map((tab) => `/providers?tab=${tab}`)];
    const listed = (await (await gateway().api("GET", "/api/keys?limit=1")).json()) as { data: { id: string }[] };
    const key = `/keys/${listed.data[0]?.id}`;
    const others = [...tabs, "/nothing-here", "/keys?new=1", key, "/profiles/new", "/models?model=gpt-5-nano"];
    const compared = "gpt-5-nano,gpt-5-mini,glm-4.6";
    const beside = ["/models?compare=gpt-5-nano,glm-4.6", `/models?beside=1&compare=${compared}`];
    const charts = ["/explore?by=key", `/sessions/${data[0]?.session}`];
    paths = [...PAGE_PATHS, ...others, ...beside, ...sheets, ...charts];
  });

  // In one pass: another size or theme is no other page, and loading each page takes most of the time.
  test("has no serious fault for axe in either theme, and fits every width", async () => {
    const { page, troubles } = await visit("/settings", { reducedMotion: "reduce" });
    const faults: string[] = [];
    for (const path of paths) {
      // The frame is the same around every page.
      const part = path === paths[0] ? undefined : "#main";
      await page.setViewportSize(DESK);
      await show(page, path);
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme });
        for (const fault of await faultsAtRest(page, colorScheme, part))
          faults.push(`${path}, ${colorScheme}: ${fault}`);
      }
      await page.emulateMedia({ colorScheme: "light" });
      for (const size of SMALLER) {
        await page.setViewportSize(size);
        for (const wide of await page.evaluate<readonly string[]>(TOO_WIDE))
          faults.push(`${path}, ${size.width}: ${wide}`);
        if (size.width !== PHONE.width) continue;
        for (const fault of await faultsAtRest(page, "narrow", part)) faults.push(`${path}, ${size.width}: ${fault}`);
      }
    }
    expect(faults).toEqual([]);
    expect(troubles).toEqual([]);
  });

  test("opens without jumping", async () => {
    const { page } = await visit("/settings");
    for (const path of PAGE_PATHS) {
      await page.goto(gateway().url + path);
      await page.evaluate(WATCH_SHIFTS);
      await settled(page);
      const shift = await page.evaluate<number>("window.shifted");
      expect(shift, path).toBeLessThan(SHIFT_MAX);
    }
  });

  test("can be reached, opened and closed by keyboard alone", async () => {
    const { page } = await visit("/settings");
    await page.getByRole("heading", { level: 1, name: "Settings" }).waitFor();
    await page.keyboard.press("Control+k");
    await page.getByRole("dialog").getByRole("combobox").pressSequentially("reques");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "Requests" }).waitFor();
    await page.locator(".requests tbody tr").first().waitFor();
    await page.keyboard.press("j");
    await page.keyboard.press("Enter");
    await page.getByRole("tab", { name: "Decision" }).waitFor();
    await page.keyboard.press("Escape");
    await page.waitForURL(/\/requests$/);
    await pressInOneGo(page, "g", "k");
    await page.getByRole("heading", { level: 1, name: "Keys" }).waitFor();
    await page.keyboard.press("n");
    await page.getByRole("dialog", { name: "Create key" }).waitFor();
    for (let step = 0; step < 12; step += 1) await page.keyboard.press("Tab");
    const isInside = "document.activeElement === document.body || document.activeElement.closest('dialog') !== null";
    expect(await page.evaluate<boolean>(isInside)).toBe(true);
    await page.keyboard.press("Escape");
    await page.getByRole("dialog", { name: "Create key" }).waitFor({ state: "detached" });
  });

  test("is two keys away from every other, and its main thing is done without a mouse", async () => {
    const { page } = await visit("/settings");
    // Keys last: what follows happens there.
    const pages = [...DASHBOARD_PAGES].sort((a, b) => Number(a.name === "keys") - Number(b.name === "keys"));
    await page.getByRole("heading", { level: 1, name: "Settings" }).waitFor();
    for (const { key, title } of pages) {
      await page.evaluate("document.activeElement.blur()");
      await pressInOneGo(page, "g", key);
      await page.getByRole("heading", { level: 1, name: title }).waitFor();
    }
    await page.keyboard.press("n");
    await page.getByRole("dialog", { name: "Create key" }).waitFor();
    await page.keyboard.type("typed by hand");
    await page.keyboard.press("Enter");
    await page.getByLabel("The key", { exact: true }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByText("Close anyway?").waitFor();
    await tabTo(page, "Close without copying");
    await page.keyboard.press("Enter");
    await page.getByRole("row", { name: /typed by hand/ }).waitFor();
    await tabTo(page, "Revoke typed by hand");
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").getByRole("button", { name: "Revoke key" }).waitFor();
    await tabTo(page, "Revoke key");
    await page.keyboard.press("Enter");
    await page.getByText("“typed by hand” revoked.").waitFor();
  });

  test("shows every chart as a table too", async () => {
    const { page } = await visit("/?live=off");
    await page.locator("figure.chart").nth(5).waitFor();
    const toggles = page.getByRole("button", { name: /as a table$/ });
    expect(await toggles.count()).toBe(6);
    for (const toggle of await toggles.all()) await toggle.click();
    await expect.poll(() => page.locator(".chart-table table").count()).toBe(6);
  });

  test("fits into its budget of script and style", () => {
    const size = (ending: string): number =>
      filesOf(UI_FOLDER)
        .filter((file) => file.endsWith(ending))
        .reduce((sum, file) => sum + gzipSync(readFileSync(file)).length, 0);
    expect(size(".js")).toBeLessThanOrEqual(SCRIPT_MAX_BYTES);
    const [first] = /assets\/[^"]+\.js/.exec(readFileSync(`${UI_FOLDER}/index.html`, "utf8")) ?? [];
    expect(gzipSync(readFileSync(`${UI_FOLDER}/${first}`)).length).toBeLessThanOrEqual(FIRST_SCRIPT_MAX_BYTES);
    expect(size(".css")).toBeLessThanOrEqual(STYLE_MAX_BYTES);
  });
});

async function tabTo(page: Page, name: string): Promise<void> {
  const focused = "document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent";
  for (let step = 0; step < 120; step += 1) {
    if ((await page.evaluate<string>(focused)) === name) return;
    await page.keyboard.press("Tab");
  }
  throw new Error(`Tab does not reach ${name}`);
}

/**
 * Goes there without loading the page again, as links do, and from its top: further down, controls lie half under the top
 * bar, which axe takes for too small.
 */
async function show(page: Page, path: string): Promise<void> {
  const target = JSON.stringify(path);
  await page.evaluate(`history.pushState(null, "", ${target}); dispatchEvent(new PopStateEvent("popstate"))`);
  await settled(page);
  await page.evaluate("scrollTo(0, 0)");
}

const LOADING = ".skeleton, .stale";

/** Waits until nothing is loading any more. */
async function settled(page: Page): Promise<void> {
  await page.locator("h1, .empty h3").first().waitFor();
  await page.locator(LOADING).first().waitFor({ state: "detached" });
}

/** What is being read again is dimmed for that moment, which axe takes for a lack of contrast: then it looks once more. */
async function faultsAtRest(page: Page, ...asked: Asked): Promise<readonly string[]> {
  const faults = await faultsOf(page, ...asked);
  if ((await page.locator(LOADING).count()) === 0) return faults;
  await settled(page);
  return faultsOf(page, ...asked);
}

type Asked = Parameters<typeof faultsOf> extends [Page, ...infer Rest] ? Rest : never;

/** How far the page is wider than the window, and controls that lie beside it, where nobody can scroll to. */
const TOO_WIDE = `new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))).then(() => {
  const beyond = document.documentElement.scrollWidth - innerWidth;
  const beside = [...document.querySelectorAll("a, button, input, select, textarea")].filter((element) => {
    const box = element.getBoundingClientRect();
    const isShown = box.width > 1 && element.checkVisibility({ visibilityProperty: true });
    const isInScroller = element.closest(".table-box, .chart-table, [role=tablist]") !== null;
    return isShown && !isInScroller && !element.matches(".skip") && (box.right > innerWidth + 1 || box.left < -1);
  });
  const tiles = [...document.querySelectorAll(".tile")].filter((tile) => tile.scrollWidth > tile.clientWidth);
  return [...tiles.map((tile) => "a tile runs over: " + tile.innerText), ...(beyond > 0 ? [beyond + " px too wide"] : []), ...beside.map((element) => element.outerHTML.slice(0, 80))];
})`;

const WATCH_SHIFTS = `window.shifted = 0;
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shifted += entry.value;
  }).observe({ type: "layout-shift", buffered: true });`;

function filesOf(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => join(folder, name));
}
