// Rules for every page: accessible in both themes, fits narrow screens, small, quiet, and without layout shifts.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import type { Page } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import { DASHBOARD_PAGES } from "../../src/http/pages/dashboard-pages.ts";
import { UI_FOLDER } from "../../src/http/pages/ui.ts";
import { faultsOf } from "./axe.ts";
import { hasBrowser, pressInOneGo, sendTraffic, settled, show, startDashboard } from "./dashboard.ts";

const SCRIPT_MAX_BYTES = 104 * 1024;
const FIRST_SCRIPT_MAX_BYTES = 60 * 1024;
const STYLE_MAX_BYTES = 12 * 1024;
const SHIFT_MAX = 0.1;
const DESK = { width: 1440, height: 900 };
/** So tall that the bar at its bottom covers nothing: axe takes what is half covered for too small. */
const PHONE = { width: 390, height: 40_000 };
/** A tablet, a phone, the smallest that counts, and a window of 1280 by 800 pixels at 200%. */
const SMALLER = [{ width: 1024, height: 768 }, PHONE, { width: 320, height: 640 }, { width: 640, height: 400 }];
/** The overview without its refresh, so that it comes to rest. */
const PAGE_PATHS = DASHBOARD_PAGES.map(({ path }) => (path === "/" ? "/?live=off" : path));

/** An address, and the part of it that no address before it has shown: frame and lists are the same around it. */
interface Place {
  readonly path: string;
  readonly part: string | undefined;
}

describe.skipIf(!hasBrowser)("every page", () => {
  const { gateway, visit } = startDashboard();
  let places: readonly Place[] = [];
  beforeAll(async () => {
    await sendTraffic(gateway());
    await gateway().api("POST", "/api/profiles", { name: "prod", tierFloor: "SIMPLE" });
    // With two accounts, the bar at the top has one more thing to find room for.
    await gateway().api("POST", "/api/accounts", { name: "Product team of the second floor" });
    const read = async <Row>(path: string): Promise<readonly Row[]> =>
      ((await (await gateway().api("GET", path)).json()) as { data: readonly Row[] }).data;
    const requests = await read<{ id: string; session: string | null }>("/api/requests?limit=5");
    const session = requests.find((request) => request.session !== null)?.session;
    const [key] = await read<{ id: string }>("/api/keys?limit=1");
    const within = (part: string | undefined, paths: readonly string[]): readonly Place[] =>
      paths.map((path) => ({ path, part }));
    const settings = ["users", "configuration", "gateway"].map((tab) => `/settings?tab=${tab}`);
    const tabs = [...settings, ...["chains", "prices", "history"].map((tab) => `/providers?tab=${tab}`)];
    const charts = ["/explore?by=key", "/explore?by=time,tier"];
    const beside = "/models?beside=1&compare=gpt-5-nano,gpt-5-mini,glm-4.6";
    const sheets = ["", "?tab=attempts", "?tab=cost", "?tab=payload"].map(
      (tab) => `/requests/${requests[4]?.id}${tab}`,
    );
    places = [
      ...within(undefined, PAGE_PATHS.slice(0, 1)),
      ...within("#main", [...PAGE_PATHS.slice(1), ...tabs, ...charts, beside]),
      ...within("#main", ["/nothing-here", `/keys/${key?.id}`, "/profiles/new"]),
      ...within("dialog[open]", ["/keys?new=1"]),
      ...within(".sheet", [...sheets, `/sessions/${session}`, "/models?model=gpt-5-nano"]),
      ...within(".save-bar", ["/models?compare=gpt-5-nano,glm-4.6"]),
    ];
  });

  // In one pass: another size or theme is no other page, and loading each page takes most of the time.
  test("has no serious fault for axe in either theme, and fits every width", async () => {
    const { page, troubles } = await visit("/settings");
    const faults: string[] = [];
    for (const { path, part } of places) {
      await page.setViewportSize(DESK);
      await show(page, path);
      await settled(page);
      if (part !== undefined) await page.locator(part).waitFor();
      // Further down, controls lie half under the top bar, which axe takes for too small.
      await page.evaluate("scrollTo(0, 0)");
      for (const theme of ["light", "dark"] as const)
        for (const fault of await faultsOf(page, theme, part)) faults.push(`${path}, ${theme}: ${fault}`);
      for (const size of SMALLER) {
        await page.setViewportSize(size);
        for (const wide of await page.evaluate<readonly string[]>(TOO_WIDE))
          faults.push(`${path}, ${size.width}: ${wide}`);
        if (size.width !== PHONE.width) continue;
        for (const fault of await faultsOf(page, "narrow", part)) faults.push(`${path}, ${size.width}: ${fault}`);
      }
    }
    expect(faults).toEqual([]);
    expect(troubles).toEqual([]);
  });

  test("opens without jumping", async () => {
    const { page } = await visit("/settings");
    for (const path of PAGE_PATHS) {
      await page.goto(gateway().url + path);
      await settled(page);
      expect(await page.evaluate<number>(SHIFTED), path).toBeLessThan(SHIFT_MAX);
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
    await expect.poll(() => toggles.count()).toBe(6);
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

/** All shifts since the page was opened, which the browser hands over after the next frames. */
const SHIFTED = `new Promise((resolve) => {
  let sum = 0;
  const add = (entries) => { for (const entry of entries) if (!entry.hadRecentInput) sum += entry.value; };
  const observer = new PerformanceObserver((list) => add(list.getEntries()));
  observer.observe({ type: "layout-shift", buffered: true });
  requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() => {
    add(observer.takeRecords());
    resolve(sum);
  })));
})`;

function filesOf(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => join(folder, name));
}
