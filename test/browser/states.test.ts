// Pages without data: loading, empty, filtered away, failed, out of date, not allowed.

import type { Page } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import { faultsOf } from "./axe.ts";
import { hasBrowser, startDashboard, type Visit } from "./dashboard.ts";

const PASSWORD = "an owner's long secret";

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
      expect(await faultsOf(page, "light")).toEqual([]);
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
      await go(page, path);
      await page.getByText(text).waitFor();
    }
    expect(troubles).toEqual([]);
  });

  test("an owner sees what is not theirs, and is offered nothing that would be rejected", async () => {
    const { page } = owner;
    await go(page, "/credits?new=1");
    await page.getByText("Ask your admin to add credits").waitFor();
    expect(await page.getByRole("dialog").count()).toBe(0);
    expect(await page.getByRole("button", { name: "Add credits" }).count()).toBe(0);
    await go(page, "/settings");
    await page.getByText("Only admins can see configuration").waitFor();
    expect(await page.getByRole("button", { name: /^Test/ }).count()).toBe(0);
    await go(page, "/models?model=gpt-5-nano");
    await page.getByRole("heading", { name: /gpt-5-nano/ }).waitFor();
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

  test.each(["light", "dark"] as const)("dialogs and forms have no serious fault for axe, %s", async (colorScheme) => {
    const faults: string[] = [];
    // All rules once and the rest at other widths: a phone as tall as whatever is open, so that nothing lies half covered.
    const look = async (page: Page, name: string): Promise<void> => {
      for (const width of [1440, 1024, 390]) {
        await page.setViewportSize({ width, height: width === 390 ? 3_000 : 900 });
        const rules = width === 1440 ? colorScheme : "narrow";
        const within = (await page.locator("dialog[open]").count()) > 0 ? "dialog[open]" : undefined;
        for (const fault of await faultsOf(page, rules, within)) faults.push(`${name}, ${width}: ${fault}`);
        const beyond = await page.evaluate<number>("document.documentElement.scrollWidth - innerWidth");
        if (beyond > 0) faults.push(`${name}, ${width}: ${beyond} px too wide`);
      }
      await page.setViewportSize({ width: 1440, height: 900 });
    };
    const { page } = await visit("/keys", {
      colorScheme,
      reducedMotion: "reduce",
      viewport: { width: 1440, height: 900 },
    });
    await page
      .getByRole("button", { name: /^Edit / })
      .first()
      .click();
    await page.getByRole("dialog").getByLabel("Name").waitFor();
    await look(page, "change a key");
    await page.keyboard.press("Escape");
    const dialog = page.getByRole("dialog");
    await page
      .getByRole("button", { name: /^Revoke / })
      .first()
      .click();
    await dialog.getByRole("button", { name: "Revoke key" }).waitFor();
    await look(page, "revoke a key");
    await page.keyboard.press("Escape");
    await page.getByRole("link", { name: "first key" }).click();
    await page.getByRole("button", { name: "Rotate key" }).click();
    await dialog.getByLabel("Old key expires").waitFor();
    await look(page, "rotate a key");
    await page.keyboard.press("Escape");
    await page.keyboard.press("Control+k");
    await page.getByRole("dialog").getByRole("combobox").fill("k");
    await page.getByRole("dialog").getByRole("option").first().waitFor();
    await look(page, "palette");
    await page.keyboard.press("Escape");
    await page.keyboard.press("?");
    await dialog.getByText("Focus filters").waitFor();
    await look(page, "shortcuts");
    await page.keyboard.press("Escape");
    for (const [path, name] of [
      ["/requests", "Columns"],
      ["/requests", "Views"],
      ["/requests", "More filters"],
      ["/explore", "Custom range"],
    ] as const) {
      await go(page, path);
      await page.getByText(name, { exact: true }).click();
      await page.locator("details[open]").first().waitFor();
      await look(page, name);
      await page.keyboard.press("Escape");
    }
    await go(page, "/providers");
    await page.getByRole("button", { name: /^Groq/ }).click();
    await dialog.getByLabel("API key").waitFor();
    await look(page, "connect a provider");
    await go(page, "/credits");
    await page.getByRole("button", { name: "Add credits" }).click();
    await dialog.getByLabel("Amount, USD").waitFor();
    await look(page, "add credits");
    await go(page, "/settings?tab=users");
    await page.getByRole("button", { name: "Reset link for owner@acme.example" }).click();
    await page.getByRole("dialog").getByLabel("Reset link").waitFor();
    await look(page, "reset link");
    const made = await gateway().api("POST", "/api/profiles", { name: "calm" });
    const { id } = (await made.json()) as { id: string };
    await gateway().api("POST", "/api/keys", { name: `tied ${colorScheme}`, profile: id });
    await go(page, `/profiles/${id}`);
    await page.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("dialog").getByLabel("Move keys to").waitFor();
    await look(page, "delete a profile");
    await go(page, "/playground");
    await page.getByLabel("Prompt", { exact: true }).fill("Hi!");
    await page.getByRole("button", { name: "Compare", exact: true }).click();
    await page.locator(".versus .ladder").nth(1).waitFor();
    await look(page, "compare");
    for (const path of ["/", "/#/reset?token=x"]) {
      const { page: signedOut } = await visit(path, { colorScheme, isSignedIn: false });
      await signedOut.getByLabel("Password").waitFor();
      await look(signedOut, path);
    }
    expect(faults).toEqual([]);
  });
});

async function go(page: Page, path: string): Promise<void> {
  await page.evaluate(
    `document.querySelector("dialog[open] [aria-label=Close]")?.click();
     history.pushState(null, "", ${JSON.stringify(path)}); dispatchEvent(new PopStateEvent("popstate"))`,
  );
}
