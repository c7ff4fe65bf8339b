// Forms that forgive, and the frame around them: edits are not lost without a question, what is deleted comes back, and
// menus, tabs and unknown addresses work by mouse, keyboard and on a phone.

import type { Locator, Page } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import { faultsOf } from "./axe.ts";
import { beyondWindow, hasBrowser, sendTraffic, settled, startDashboard } from "./dashboard.ts";

const WIDTHS = [1440, 1024, 390] as const;

interface Saved {
  readonly name: string;
  readonly escalate: string | null;
}

describe.skipIf(!hasBrowser)("forms and frame", () => {
  const { gateway, visit } = startDashboard({ yaml: "limits: { queueMs: 4321 }" });
  const made = async (path: string, body: object): Promise<string> =>
    ((await (await gateway().api("POST", path, body)).json()) as { id: string }).id;
  beforeAll(() => sendTraffic(gateway()));

  test("edits of a profile ask before a link, Back or the tab loses them, and stay when asked to", async () => {
    const id = await made("/api/profiles", { name: "careful" });
    const { page } = await visit("/profiles");
    await page.getByRole("link", { name: "careful" }).click();
    await page.getByLabel("Description").fill("not saved");
    await navigation(page).getByRole("link", { name: "Keys" }).click();
    const question = page.getByRole("dialog", { name: "Discard changes?" });
    await question.waitFor();
    expect(await faultsOf(page, "light", "dialog[open]")).toEqual([]);
    await page.keyboard.press("Escape");
    await question.waitFor({ state: "detached" });
    expect(await page.getByLabel("Description").inputValue()).toBe("not saved");
    await page.goBack();
    await question.getByRole("button", { name: "Keep editing" }).click();
    await expect.poll(() => new URL(page.url()).pathname).toBe(`/profiles/${id}`);
    // Changed elsewhere meanwhile: what is typed here stays, and the question, too.
    await gateway().api("PUT", `/api/profiles/${id}`, { name: "careful", bfclMin: 12 });
    await page.evaluate(`dispatchEvent(new Event("online"))`);
    await page.getByText("BFCL score: 12 → none").waitFor();
    expect(await page.getByLabel("Description").inputValue()).toBe("not saved");
    await navigation(page).getByRole("link", { name: "Models" }).click();
    await question.getByRole("button", { name: "Discard", exact: true }).click();
    await page.getByRole("heading", { level: 1, name: "Models" }).waitFor();
  });

  test("a saved profile leaves without a question", async () => {
    const { page } = await visit("/profiles/new");
    await page.getByLabel("Name", { exact: true }).fill("quick");
    const escalation = page.getByLabel("Escalation");
    expect(await escalation.inputValue()).toBe("");
    await escalation.selectOption("eager");
    await page.getByRole("button", { name: "Save profile" }).click();
    await page.getByText("“quick” saved.").waitFor();
    await page.getByRole("heading", { level: 1, name: "quick" }).waitFor();
    const saved = async (): Promise<unknown> => {
      const { data } = (await (await gateway().api("GET", "/api/profiles")).json()) as { data: readonly Saved[] };
      return data.find(({ name }) => name === "quick")?.escalate;
    };
    expect(await saved()).toBe("eager");
    await page.reload();
    await expect.poll(() => escalation.inputValue()).toBe("eager");
    await escalation.selectOption("off");
    const save = page.getByRole("button", { name: "Save profile" });
    await save.click();
    // The page asks until it has read the saved profile.
    await save.waitFor({ state: "detached" });
    expect(await saved()).toBe("off");
    await navigation(page).getByRole("link", { name: "Credits" }).click();
    await page.getByRole("heading", { level: 1, name: "Credits" }).waitFor();
    expect(await page.getByRole("dialog").count()).toBe(0);
  });

  test("a dialog with something typed into it asks before Escape and the cross, and gives the focus back", async () => {
    const { page } = await visit("/credits");
    const opener = page.getByRole("button", { name: "Add credits" });
    await opener.click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Amount, USD").fill("7");
    await page.keyboard.press("Escape");
    await dialog.getByText("Discard your changes?").waitFor();
    expect(await faultsOf(page, "light", "dialog[open]")).toEqual([]);
    await dialog.getByRole("button", { name: "Keep editing" }).click();
    expect(await dialog.getByLabel("Amount, USD").inputValue()).toBe("7");
    await dialog.getByRole("button", { name: "Close" }).click();
    await dialog.getByRole("button", { name: "Discard" }).click();
    await dialog.waitFor({ state: "detached" });
    await expect.poll(() => hasFocus(opener)).toBe(true);
    await opener.click();
    await dialog.waitFor();
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
  });

  test("a profile shows its keys, ties others and lets them go, each with Undo", async () => {
    const id = await made("/api/profiles", { name: "tying", tierCeiling: "SIMPLE" });
    const key = await made("/api/keys", { name: "customer-5000" });
    const profileOf = async (): Promise<string | null> =>
      ((await (await gateway().api("GET", `/api/keys/${key}`)).json()) as { profile: string | null }).profile;
    const { page } = await visit(`/profiles/${id}`);
    await page.getByText("Not used by any active key.").waitFor();
    await page.getByLabel("Add key").fill("customer-50");
    await page.getByRole("button", { name: "Add customer-5000" }).click();
    await page.getByText("customer-5000 now uses this profile.").waitFor();
    expect(await profileOf()).toBe(id);
    await page.getByRole("button", { name: "Remove customer-5000" }).click();
    await page.getByText("customer-5000 no longer uses this profile.").waitFor();
    await expect.poll(profileOf).toBeNull();
    await page.getByRole("button", { name: "Undo" }).last().click();
    await expect.poll(profileOf).toBe(id);
    await page.getByRole("button", { name: "Remove customer-5000" }).waitFor();
    // Further down, controls lie half under the top bar, which axe takes for too small.
    await page.evaluate("scrollTo(0, 0)");
    expect(await faultsOf(page, "light", "#main")).toEqual([]);
  });

  test("a deleted profile comes back with its rules and its keys", async () => {
    const id = await made("/api/profiles", { name: "dear", tierCeiling: "LIGHT" });
    const key = await made("/api/keys", { name: "dear caller", profile: id });
    const { page } = await visit(`/profiles/${id}`);
    await page.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("dialog").getByText("dear caller").waitFor();
    await page.getByRole("button", { name: "Delete profile" }).click();
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByText("“dear” restored with its keys.").waitFor();
    const found = (await (await gateway().api("GET", `/api/keys/${key}`)).json()) as { profile: string };
    const back = (await (await gateway().api("GET", `/api/profiles/${found.profile}`)).json()) as object;
    expect(back).toMatchObject({ name: "dear", tierCeiling: "LIGHT" });
  });

  test("popovers close on Escape and by opening another, and the focus goes back", async () => {
    const { page } = await visit("/?live=off");
    const about = page.locator(".why summary");
    await about.nth(1).click();
    await about.nth(0).click();
    await expect.poll(() => page.locator("details[open]").count()).toBe(1);
    await page.keyboard.press("Escape");
    await expect.poll(() => page.locator("details[open]").count()).toBe(0);
    await expect.poll(() => hasFocus(about.nth(0))).toBe(true);
    await page.getByLabel(/^Signed in as/).click();
    await page.getByRole("button", { name: "Sign out" }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Sign out" }).waitFor({ state: "hidden" });
  });

  test("settings are in tabs; options that can change here come first by subject, then those that are set, and a search finds by name, variable and text", async () => {
    const { page } = await visit("/settings");
    await page.getByRole("tab", { name: "Configuration" }).click();
    await page.waitForURL(/tab=configuration/);
    const tables = page.locator("table.options");
    await tables.nth(0).getByText("routing.markup").first().waitFor();
    await page.getByRole("table", { name: "Set at the start" }).getByText("limits.queueMs").waitFor();
    await expect
      .poll(() => page.getByRole("heading", { level: 2 }).allTextContents())
      .toEqual([
        ...["Routing", "Billing", "Limits", "Request log", "Errors", "Stored responses", "Price checks", "Alerts"],
        ...["Set at the start", "Other options of the start", "History of settings"],
      ]);
    await page.getByLabel("Search options").fill("switchyard_queue_ms");
    await expect.poll(() => page.locator("table.options tbody tr").count()).toBe(1);
    await page.getByLabel("Search options").fill("nothing has this name");
    await page.getByText("No matching options").waitFor();
  });

  test("an unknown address shows the page for it, with the way back; a model's address opens the model", async () => {
    const { page } = await visit("/nope/at-all");
    await page.getByRole("heading", { level: 1, name: "Page not found" }).waitFor();
    await page.getByRole("link", { name: "Go to overview" }).click();
    await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
    await page.goto(`${gateway().url}/models/gpt-5-nano`);
    await page.getByRole("heading", { name: /gpt-5-nano/ }).waitFor();
  });

  test("every page is in reach at every width, in both themes", async () => {
    const { page } = await visit("/settings");
    await settled(page);
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 844 });
      if (width === 390) {
        await page.locator(".rail .menu summary").click();
        await expect.poll(() => page.locator(".rail .menu-body .icon:visible").count()).toBeGreaterThan(8);
      } else {
        for (const name of ["Requests", "Settings"])
          await navigation(page).getByRole("link", { name }).locator(".icon").waitFor();
      }
      for (const theme of ["light", "dark"] as const) expect(await faultsOf(page, theme, ".rail")).toEqual([]);
      expect(await beyondWindow(page)).toBe(0);
    }
  });

  test("latencies far apart are both readable, and a range says when it begins", async () => {
    const { page } = await visit("/?live=off&range=7d");
    const chart = page.locator("figure", { has: page.getByRole("heading", { name: "Latency" }) });
    await chart.getByText(/^Last 7 days \(since \d+ \w+ 00:00 UTC\), by day/).waitFor();
    await settled(page);
    const ticks = await chart.locator(".axes text[text-anchor=end]").allTextContents();
    expect(ticks.length).toBeGreaterThan(1);
    for (const tick of ticks) expect(tick).toMatch(/^(10*|0\.10*|0\.01) (ms|s)$/);
    await page.getByText(/slowest of 4/).waitFor();
  });
});

function hasFocus(place: Locator): Promise<boolean> {
  return place.evaluate((element) => element === document.activeElement);
}

function navigation(page: Page) {
  return page.getByRole("navigation", { name: "Pages" });
}
