// Nothing that a page says is off-screen, cut or unnamed, on a phone, a tablet and a desk, whatever the data is.

import type { Page } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import { DASHBOARD_PAGES } from "../../src/http/pages/dashboard-pages.ts";
import { faultsOf } from "./axe.ts";
import { hasBrowser, settled, show, startDashboard } from "./dashboard.ts";
import { LONG_DATA, type LongData, makeLongData } from "./long-data.ts";

/** Tall, so that no bar covers what axe looks at. */
const PHONE = { width: 390, height: 30_000 };
const SIZES = [PHONE, { width: 1024, height: 768 }, { width: 1440, height: 900 }];

describe.skipIf(!hasBrowser)("long data", () => {
  const { gateway, visit } = startDashboard(LONG_DATA);
  let data: LongData;
  beforeAll(async () => {
    data = await makeLongData(gateway());
  });

  test("fits every table, tile, list and dialog of every page at 390, 1024 and 1440 pixels", async () => {
    const { page, troubles } = await visit("/settings");
    const compared = `/models?beside=1&compare=${data.models.slice(0, 2).join(",")}`;
    const settings = ["users", "configuration", "gateway"].map((tab) => `/settings?tab=${tab}`);
    const tabs = [...settings, ...["chains", "prices", "history"].map((tab) => `/providers?tab=${tab}`)];
    const things = [`/keys/${data.key}`, `/profiles/${data.profile}`, `/sessions/${data.session}`, compared];
    const requests = ["", "?tab=attempts", "?tab=cost", "?tab=payload"].map((tab) => `/requests/${data.request}${tab}`);
    const dialogs = ["/keys?new=1", "/credits?new=1"];
    const account = `/?live=off&account=${data.account}`;
    const paths = DASHBOARD_PAGES.map(({ path }) => (path === "/" ? "/?live=off" : path));
    const faults: string[] = [];
    for (const path of [...paths, ...tabs, ...things, ...requests, ...dialogs, account]) {
      for (const size of SIZES) {
        await page.setViewportSize(size);
        // A page chooses its parts by the width when it opens.
        await show(page, path);
        await settled(page);
        for (const fault of await page.evaluate<readonly string[]>(MISFITS))
          faults.push(`${path}, ${size.width}: ${fault}`);
        if (size !== PHONE) continue;
        for (const fault of await faultsOf(page, "narrow")) faults.push(`${path}, ${size.width}: ${fault}`);
      }
    }
    expect(faults).toEqual([]);
    expect(troubles).toEqual([]);
  });

  test("keeps Connect and what came of a test in sight in a window 900 pixels high", async () => {
    const { page } = await visit("/providers", { viewport: { width: 1440, height: 900 } });
    await page.getByRole("button", { name: /^Other server/ }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Id", { exact: true }).fill("lab");
    await dialog.getByLabel("Base URL").fill("http://127.0.0.1:1/v1");
    await dialog.getByRole("button", { name: "Test", exact: true }).click();
    const said = dialog.locator(".notice.bad");
    await said.waitFor();
    await page.evaluate("document.querySelector('dialog').scrollTop = 0");
    for (const part of [said, dialog.getByRole("button", { name: "Connect", exact: true })])
      await expect.poll(() => isInside(part)).toBe(true);
  });

  test.each(["playground#prompt=Prove%20it", "profiles/new"])(
    "%s: shows the effect beside the form at 1024 pixels",
    async (path) => {
      const { page } = await visit(`/${path}`, { viewport: { width: 1024, height: 768 } });
      const effect = page.locator(".bench-out > section, .editor > section, .editor > .replay").first();
      await effect.waitFor();
      const top = async (): Promise<number> => (await effect.boundingBox())?.y ?? Number.POSITIVE_INFINITY;
      await expect.poll(top).toBeLessThan(400);
    },
  );
});

/** The element is drawn in the window, and nothing lies over its middle. */
function isInside(part: ReturnType<Page["locator"]>): Promise<boolean> {
  return part.evaluate((element) => {
    const { left, top, width, height } = element.getBoundingClientRect();
    const seen = document.elementFromPoint(left + width / 2, top + height / 2);
    return seen !== null && (element.contains(seen) || seen.contains(element));
  });
}

/** What lies beside its box, is cut without a way to read it, or is a number without a name. */
const MISFITS = `new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))).then(() => {
  const isSeen = (element) => {
    const { width, height } = element.getBoundingClientRect();
    return width > 1 && height > 1 && element.checkVisibility({ visibilityProperty: true }) && element.closest(".hidden, thead.hidden") === null;
  };
  const all = (selector) => [...document.querySelectorAll(selector)].filter(isSeen);
  const text = (element) => (element.innerText || element.outerHTML).slice(0, 60).replaceAll("\\n", " ");
  const isPhone = innerWidth <= 640;
  const found = [];
  const beyond = document.documentElement.scrollWidth - innerWidth;
  if (beyond > 0) found.push("the page is " + beyond + " px too wide");
  for (const box of all(".table-box, .tile, dialog[open], .dialog-body, .sheet-body, .card, .notice, .tabs"))
    if (box.scrollWidth > box.clientWidth + 1 && box.querySelector(".beside") === null)
      found.push(box.className + " is " + (box.scrollWidth - box.clientWidth) + " px too narrow: " + text(box));
  for (const cell of all(".rows td, .rows tbody th")) {
    const box = cell.closest(".table-box").getBoundingClientRect();
    const { left, right } = cell.getBoundingClientRect();
    if (left < box.left - 1 || right > box.right + 1) found.push("a cell is off-screen: " + text(cell));
    const isCut = cell.scrollWidth > cell.clientWidth + 1 && getComputedStyle(cell).overflowX !== "visible";
    const isWhole = cell.title !== "" || cell.querySelector("[title]") !== null;
    if (isCut && !isWhole) found.push("a cell is cut and has no title: " + text(cell));
    const isNumber = cell.classList.contains("number");
    if (isPhone && isNumber && cell.closest(".compact") === null && getComputedStyle(cell, "::before").content.length < 4)
      found.push("a number has no name: " + text(cell));
  }
  for (const model of all(".requests td[data-cell=model]"))
    if (model.scrollWidth > model.clientWidth + 1) found.push("a model is cut: " + text(model));
  for (const part of all(".cut"))
    if (isPhone && part.closest(".rows") === null && part.scrollWidth > part.clientWidth + 1)
      found.push("a text is cut: " + text(part));
  const pen = document.createElement("canvas").getContext("2d");
  for (const input of all("input[placeholder]")) {
    const style = getComputedStyle(input);
    pen.font = style.font;
    const room = input.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
    if (pen.measureText(input.placeholder).width > room + 1) found.push("a hint is cut: " + input.placeholder);
  }
  for (const select of all("select")) {
    const style = getComputedStyle(select);
    pen.font = style.font;
    const chosen = select.selectedOptions[0]?.text ?? "";
    const room = select.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
    if (chosen === "") found.push("a choice is blank: " + select.ariaLabel);
    if (isPhone && pen.measureText(chosen).width > room + 1) found.push("a choice is cut: " + chosen);
  }
  for (const label of all("button, .button, .chip, .search span, h1, h2, .tile *"))
    if (label.scrollWidth > label.clientWidth + 1 && getComputedStyle(label).overflowX !== "visible") found.push("a label is cut: " + text(label));
  return [...new Set(found)];
})`;
