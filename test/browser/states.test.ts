// Pages without data: loading, empty, filtered away, failed, out of date, not allowed.

import type { Page } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import { faultsOf } from "./axe.ts";
import { beyondWindow, hasBrowser, settled, show, startDashboard, type Visit } from "./dashboard.ts";

const PASSWORD = "an owner's long secret";
const DESK = { width: 1440, height: 900 };

/** Each page with the response it cannot do without. */
const PAGES = [
  ["/keys", "**/api/keys?*"],
  ["/profiles", "**/api/profiles?*"],
  ["/credits", "**/api/ledger?*"],
  ["/models", "**/api/models"],
  ["/settings?tab=configuration", "**/api/settings"],
] as const;

describe.skipIf(!hasBrowser)("every page", () => {
  const { gateway, visit } = startDashboard();
  let owner: Visit;

  beforeAll(async () => {
    const post = async (path: string, body: object): Promise<Record<string, string>> =>
      (await (await gateway().api("POST", path, body)).json()) as Record<string, string>;
    const account = await post("/api/accounts", { name: "Acme" });
    const invited = await post("/api/invitations", { email: "owner@acme.example", accountId: account.id ?? "" });
    owner = await visit((invited.link ?? "").slice(gateway().url.length), { isSignedIn: false });
    await owner.page.getByLabel("Password").fill(PASSWORD);
    await owner.page.getByRole("button", { name: "Join team" }).click();
    await owner.page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
  });

  test.each(PAGES)(
    "%s shows where its rows will be, then what failed with its request id, and tries again",
    async (path, answer) => {
      let release: () => void = () => {};
      const held = new Promise<void>((resolve) => {
        release = resolve;
      });
      const prepare = async (page: Page): Promise<void> => {
        await page.route(answer, async (route) => {
          await held;
          const error = { message: "The disk is full.", type: "api_error", code: null };
          await route.fulfill({ status: 500, headers: { "x-request-id": "req_broken" }, json: { error } });
        });
      };
      const { page, troubles } = await visit(path, { prepare });
      await page.locator(".skeleton:not(.unseen)").first().waitFor();
      release();
      const failed = page.locator(".failed", { hasText: "The disk is full." });
      await failed.getByText("req_broken").waitFor();
      expect(await page.getByRole("heading", { level: 1 }).count()).toBe(1);
      expect(await faultsOf(page, "light", "#main")).toEqual([]);
      await page.unroute(answer);
      await failed.getByRole("button", { name: "Retry" }).click();
      await failed.waitFor({ state: "detached" });
      expect(troubles).toEqual([]);
    },
  );

  test("an account with nothing in it says on each page what will be there", async () => {
    const { page, troubles } = owner;
    for (const [path, text] of [
      ["/keys", "No API keys yet"],
      ["/profiles", "No profiles yet"],
      ["/credits", "No entries yet"],
    ] as const) {
      await show(page, path);
      await page.getByText(text).waitFor();
    }
    expect(troubles).toEqual([]);
  });

  test("an owner sees what is not theirs, and is offered nothing that would be rejected", async () => {
    const { page } = owner;
    await show(page, "/credits?new=1");
    await page.getByText("Ask your admin to add credits").waitFor();
    await settled(page);
    expect(await page.getByRole("dialog").count()).toBe(0);
    expect(await page.getByRole("button", { name: "Add credits" }).count()).toBe(0);
    await show(page, "/settings");
    await page.getByText("Only admins can see configuration").waitFor();
    await settled(page);
    expect(await page.getByRole("button", { name: /^Test/ }).count()).toBe(0);
    await show(page, "/models?model=gpt-5-nano");
    await page.getByRole("heading", { name: /gpt-5-nano/ }).waitFor();
    await settled(page);
    expect(await page.getByRole("button", { name: /^Test/ }).count()).toBe(0);
  });

  test("a search without a hit can be taken back, and j and k go through what is found", async () => {
    const { page } = await visit("/models?q=no-such-model");
    await page.getByText("No matching models").waitFor();
    await page.getByRole("link", { name: "Clear search" }).click();
    await page.locator(".models tbody tr").nth(5).waitFor();
    await page.keyboard.press("j");
    await page.waitForURL(/model=/);
    const first = page.url();
    await page.keyboard.press("j");
    await page.waitForURL(({ href }) => href !== first);
    await page.keyboard.press("k");
    await page.waitForURL(first);
    await page.keyboard.press("Escape");
    await page.waitForURL(/\/models$/);
  });

  test("stays as it was while the gateway cannot be reached, says since when, and recovers", async () => {
    const { page, context } = await visit("/models");
    await page.locator(".models tbody tr").first().waitFor();
    await context.setOffline(true);
    await page
      .getByText(/Last updated .* UTC/)
      .first()
      .waitFor();
    expect(await page.locator(".models tbody tr").count()).toBeGreaterThan(5);
    await context.setOffline(false);
    await page
      .getByText(/Last updated .* UTC/)
      .first()
      .waitFor({ state: "detached" });
  });

  test("dialogs and forms have no serious fault for axe in either theme, and fit every width", async () => {
    const { page } = await visit("/keys", { viewport: DESK });
    const dialog = page.getByRole("dialog");
    const faults: string[] = [];
    const look = async (name: string, part = "dialog[open]", shown = page): Promise<void> => {
      await shown.locator(part).first().waitFor();
      for (const fault of await faultsIn(shown, part)) faults.push(`${name}: ${fault}`);
    };
    await page
      .getByRole("button", { name: /^Edit / })
      .first()
      .click();
    await dialog.getByLabel("Name").waitFor();
    await look("change a key");
    await close(page);
    await page
      .getByRole("button", { name: /^Revoke / })
      .first()
      .click();
    await dialog.getByRole("button", { name: "Revoke key" }).waitFor();
    await look("revoke a key");
    await close(page);
    await page.getByRole("link", { name: "first key" }).click();
    await page.getByRole("button", { name: "Rotate key" }).click();
    await dialog.getByLabel("Old key expires").waitFor();
    await look("rotate a key");
    await close(page);
    await page.keyboard.press("Control+k");
    await dialog.getByRole("combobox").fill("k");
    await dialog.getByRole("option").first().waitFor();
    await look("palette");
    await close(page);
    await page.keyboard.press("?");
    await dialog.getByText("Focus filters").waitFor();
    await look("shortcuts");
    await close(page);
    for (const [path, name] of [
      ["/requests", "Columns"],
      ["/requests", "Views"],
      ["/requests", "More filters"],
      ["/explore", "Custom range"],
    ] as const) {
      await show(page, path);
      await page.getByText(name, { exact: true }).click();
      await look(name, "details[open]");
      await page.keyboard.press("Escape");
      await page.locator("details[open]").waitFor({ state: "detached" });
    }
    await show(page, "/providers");
    await page.getByRole("button", { name: /^Groq/ }).click();
    await dialog.getByLabel("API key").waitFor();
    await look("connect a provider");
    await close(page);
    await show(page, "/credits");
    await page.getByRole("button", { name: "Add credits" }).click();
    await dialog.getByLabel("Amount, USD").waitFor();
    await look("add credits");
    await close(page);
    await show(page, "/settings?tab=users");
    await page.getByRole("button", { name: "Reset link for owner@acme.example" }).click();
    await dialog.getByLabel("Reset link").waitFor();
    await look("reset link");
    await page.getByRole("dialog").getByRole("button", { name: "Close" }).first().click();
    const made = await gateway().api("POST", "/api/profiles", { name: "calm" });
    const { id } = (await made.json()) as { id: string };
    await gateway().api("POST", "/api/keys", { name: "tied", profile: id });
    await show(page, `/profiles/${id}`);
    await page.getByRole("button", { name: "Delete" }).click();
    await dialog.getByLabel("Move keys to").waitFor();
    await look("delete a profile");
    await close(page);
    await show(page, "/playground");
    await page.getByLabel("Prompt", { exact: true }).fill("Hi!");
    await page.getByRole("button", { name: "Compare", exact: true }).click();
    await page.locator(".versus .ladder").nth(1).waitFor();
    // What lies under the bar at the top is no fault of the form.
    await page.evaluate("scrollTo(0, 0)");
    await look("compare", "#main");
    for (const path of ["/", "/#/reset?token=x"]) {
      const { page: signedOut } = await visit(path, { isSignedIn: false, viewport: DESK });
      await signedOut.getByLabel("Password").waitFor();
      await look(path, "body", signedOut);
    }
    expect(faults).toEqual([]);
  });
});

/** All rules once, colours in the other theme, and sizes on a phone, as tall as whatever is open: nothing is half covered. */
async function faultsIn(page: Page, part: string): Promise<readonly string[]> {
  const faults = [...(await faultsOf(page, "light", part)), ...(await faultsOf(page, "dark", part))];
  for (const width of [1024, 390]) {
    await page.setViewportSize({ width, height: 8_000 });
    if (width === 390) faults.push(...(await faultsOf(page, "narrow", part)));
    const beyond = await beyondWindow(page);
    if (beyond > 0) faults.push(`${width}: ${beyond} px too wide`);
  }
  await page.setViewportSize(DESK);
  return faults;
}

async function close(page: Page): Promise<void> {
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
}
