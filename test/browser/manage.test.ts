// What an operator changes: keys and their profiles, in a real browser.

import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { EMAIL, hasBrowser, settled, show, startDashboard } from "./dashboard.ts";

const HELLO_BODY = { model: "auto", messages: [{ role: "user", content: "What is the capital of France?" }] };

describe.skipIf(!hasBrowser)("an operator", () => {
  const { gateway, visit } = startDashboard();

  const make = async (path: string, body: object): Promise<{ id: string; key: string; link: string }> =>
    (await (await gateway().api("POST", path, body)).json()) as { id: string; key: string; link: string };
  const invitedPath = ({ link }: { link: string }): string => link.slice(gateway().url.length);
  const callWith = async (key: string): Promise<number> =>
    (await gateway().post("/v1/chat/completions", HELLO_BODY, { authorization: `Bearer ${key}` })).status;

  test("changes a key's name, profile and limits without a new key", async () => {
    const profile = await make("/api/profiles", { name: "calm", tierCeiling: "SIMPLE" });
    const { key } = await make("/api/keys", { name: "app", requestsPerMinute: 60 });
    const { page } = await visit("/keys");
    await page.getByRole("button", { name: "Edit app" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill("shop");
    await dialog.getByLabel("Profile").selectOption(profile.id);
    await dialog.getByText("Up to SIMPLE").waitFor();
    await dialog.getByLabel("Expires").selectOption("On a date…");
    await dialog.getByLabel("Last day").fill("2099-12-31");
    await dialog.getByLabel("Requests per minute").fill("1");
    await dialog.getByRole("button", { name: "Save" }).click();
    await page.getByText("“shop” saved.").waitFor();
    const row = page.getByRole("row", { name: /shop/ });
    await row.getByRole("link", { name: "calm" }).waitFor();
    await row.getByText("1/min").waitFor();
    expect([await callWith(key), await callWith(key)]).toEqual([200, 429]);
    const { data } = (await (await gateway().api("GET", "/api/keys")).json()) as { data: Record<string, unknown>[] };
    expect(data.find(({ name }) => name === "shop")).toMatchObject({ expiresAt: "2099-12-31T23:59:59.999Z" });
  });

  test("limits what a key spends in a month, sees how much is spent, and resets it", async () => {
    const { page, troubles } = await visit("/keys?new=1");
    const creation = page.getByRole("dialog");
    await creation.getByLabel("Name").fill("monthly");
    expect(await creation.getByLabel("Resets").count()).toBe(0);
    await creation.getByLabel("Spend limit, USD").fill("5");
    await creation.getByLabel("Resets").selectOption("Monthly (1st)");
    const created = page.waitForResponse(
      (answer) => answer.url().endsWith("/api/keys") && answer.request().method() === "POST",
    );
    await creation.getByRole("button", { name: "Create key" }).click();
    const { id, key } = (await (await created).json()) as { id: string; key: string };
    expect(await callWith(key)).toBe(200);
    const { data } = (await (await gateway().api("GET", "/api/keys")).json()) as { data: Record<string, string>[] };
    const made = data.find((row) => row.id === id);
    expect(made).toMatchObject({
      spendLimitUsd: "5",
      spendReset: "monthly",
      spentUsd: expect.stringMatching(/^0\.0+/),
    });
    // The page above asks before closing, because the key was not copied.
    const { page: list, troubles: later } = await visit("/keys");
    const row = list.getByRole("row", { name: /monthly/ });
    await row.getByText(/^Spent \$0\.0\S+ of \$5\.00, resets in \d+ (?:days?|h|min|s)/).waitFor();
    await row.getByRole("button", { name: "Edit monthly" }).click();
    const dialog = list.getByRole("dialog");
    await dialog.getByRole("button", { name: "Reset spend" }).click();
    await dialog.getByText(/^Spent \$0 of \$5\.00, resets in/).waitFor();
    await expect.poll(() => dialog.getByRole("button", { name: "Reset spend" }).isDisabled()).toBe(true);
    await dialog.getByLabel("Resets").selectOption("Daily");
    await dialog.getByRole("button", { name: "Save" }).click();
    await list.getByText("“monthly” saved.").waitFor();
    await row.getByText(/^Spent \$0 of \$5\.00, resets in \d+ (?:days?|h|min|s)/).waitFor();
    expect([...troubles, ...later]).toEqual([]);
  });

  test("says what a profile is for, and reads it in the list", async () => {
    const { page, troubles } = await visit("/profiles/new");
    await page.getByText("Change something to see its effect").waitFor();
    expect(await page.getByText("Unsaved changes").count()).toBe(0);
    await page.getByLabel("Name", { exact: true }).fill("nightly");
    await page.getByText("Unsaved changes").waitFor();
    await page.getByLabel("Description").fill("For <b>batch</b> jobs");
    await page.getByRole("button", { name: "Save profile" }).click();
    await page.getByText("“nightly” saved.").waitFor();
    await show(page, "/profiles");
    const card = page.locator(".cards > li").filter({ hasText: "nightly" });
    await card.getByText("For <b>batch</b> jobs").waitFor();
    await card.getByRole("link", { name: "nightly" }).click();
    await page.getByLabel("Use the model that a client names").check();
    const used = page.getByText("Use the model that a client names: ignored → used");
    await used.waitFor();
    await page.getByRole("button", { name: "Save profile" }).click();
    await used.waitFor({ state: "detached" });
    await show(page, "/profiles");
    await card.getByText("Named models used").waitFor();
    await card.getByRole("link", { name: "nightly" }).click();
    await page.getByLabel("Description").fill("");
    const undescribed = page.getByText("description: For <b>batch</b> jobs → none");
    await undescribed.waitFor();
    await page.getByRole("button", { name: "Save profile" }).click();
    await undescribed.waitFor({ state: "detached" });
    await show(page, "/profiles");
    await card.getByText(/edited/).waitFor();
    await page.getByText("batch").first().waitFor({ state: "detached" });
    expect(troubles).toEqual([]);
  });

  test("moves the keys of a profile that is deleted, and their calls go on", async () => {
    const heir = await make("/api/profiles", { name: "heir" });
    const { id } = await make("/api/profiles", { name: "strict", tierCeiling: "SIMPLE" });
    const { key } = await make("/api/keys", { name: "strict caller", profile: id });
    const { page } = await visit(`/profiles/${id}`);
    await page.getByRole("button", { name: "Delete" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("1 key uses this profile").waitFor();
    await dialog.getByLabel("Move keys to").selectOption(heir.id);
    await dialog.getByRole("button", { name: "Move keys and delete" }).click();
    await page.getByText("“strict” deleted. 1 key moved.").waitFor();
    expect(await callWith(key)).toBe(200);
    await show(page, "/keys");
    await page
      .getByRole("row", { name: /strict caller/ })
      .getByRole("link", { name: "heir" })
      .waitFor();
  });

  test("tests a model at its provider", async () => {
    const { page, troubles } = await visit("/models?model=gpt-5-nano");
    await page.getByRole("button", { name: "Test gpt-5-nano" }).click();
    await page.getByText(/gpt-5-nano answered in \d/).waitFor();
    // As pasted, it must reach that very model.
    const curl = await page.getByLabel("Direct call: curl").inputValue();
    const body = JSON.parse(/-d '(.*)'/s.exec(curl)?.[1] ?? "") as object;
    const answer = (await (await gateway().post("/v1/chat/completions", body)).json()) as { model: string };
    expect(answer.model).toBe("gpt-5-nano");
    expect(troubles).toEqual([]);
  });

  test("is told no runway after minutes of use, and takes one kind of entry away as a file", async () => {
    const { page, troubles } = await visit("/credits");
    await page.getByText("Too early to tell").waitFor();
    await expect.poll(() => page.locator(".balance").getAttribute("title")).toMatch(/USD$/);
    await page.getByRole("button", { name: "Top-ups" }).click();
    await page.waitForURL(/kind=topup/);
    const kinds = page.locator(".ledger tbody [data-cell=kind]");
    await expect.poll(async () => new Set(await kinds.allTextContents())).toEqual(new Set(["Top-up"]));
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("link", { name: "CSV" }).click(),
    ]);
    expect(download.suggestedFilename()).toMatch(/^ledger-default-[-\d]+\.csv$/);
    expect(readFileSync(await download.path(), "utf8")).toMatch(/^createdAt,kind,.*\r\n[^,]+,topup,1000,/);
    await page.getByRole("button", { name: "Adjustments" }).click();
    await page.getByText("No entries of this type").waitFor();
    await page.getByRole("link", { name: "Show all entries" }).click();
    await expect.poll(async () => kinds.count()).toBeGreaterThan(1);
    expect(troubles).toEqual([]);
  });

  test("adds credits, and the ledger says by whom", async () => {
    const { page, troubles } = await visit("/credits?new=1");
    await page.getByLabel("Amount, USD").fill("7.25");
    await page.getByLabel("Note").fill("by hand");
    await page.getByRole("button", { name: "Add $7.25" }).click();
    await page.getByText("$7.25 added.").waitFor();
    const entry = page.locator(".ledger tbody tr").filter({ hasText: "by hand" });
    await entry.locator("[data-cell=actor]").getByText(EMAIL).waitFor();
    expect(troubles).toEqual([]);
  });

  test("sees a change from elsewhere in balance, months and ledger alike, without doing anything", async () => {
    const { page } = await visit("/credits", { prepare: async (opened) => opened.clock.install() });
    await page.locator(".months tbody tr").first().waitFor();
    await make("/api/credits/topups", { amountUsd: "3.125", note: "from elsewhere" });
    const { availableUsd } = (await (await gateway().api("GET", "/api/credits")).json()) as { availableUsd: string };
    await page.clock.fastForward(15_000);
    await page.locator(".ledger tbody tr").filter({ hasText: "from elsewhere" }).waitFor();
    const exact = `${availableUsd} USD`;
    for (const place of [".months [data-cell=closing]", ".ledger [data-cell=balance]", ".balance"])
      await expect.poll(() => page.locator(place).first().getAttribute("title"), { message: place }).toContain(exact);
  });

  test("sees what the month came to, and from each sum the entries behind it", async () => {
    await make("/api/credits/topups", { amountUsd: "12.5", note: "January" });
    await make("/api/credits/adjustments", { amountUsd: "-0.25" });
    const { page } = await visit("/credits");
    const { month } = (
      (await (await gateway().api("GET", "/api/ledger/months")).json()) as { data: { month: string }[] }
    ).data[0] as { month: string };
    const entry = page.locator(".ledger tbody tr").filter({ hasText: "January" });
    await entry.locator("[data-cell=actor]").getByText("admin token").waitFor();
    const row = page.locator(".months tbody tr").first();
    await row.getByRole("link", { name: "−$0.250000" }).click();
    await page.waitForURL(({ search }) => search.includes(`month=${month}`) && search.includes("kind=adjustment"));
    await expect.poll(() => page.locator(".ledger tbody tr").count()).toBe(1);
    await row.getByRole("rowheader").getByRole("link").click();
    await page.waitForURL(({ search }) => !search.includes("kind="));
    await expect.poll(() => page.locator(".ledger tbody tr").count()).toBeGreaterThan(1);
    await page.goBack();
    await expect.poll(() => page.locator(".ledger tbody tr").count()).toBe(1);
    await page.getByRole("button", { name: /^Show all months/ }).click();
    await page.waitForURL(({ search }) => !search.includes("month="));
  });

  test("puts up to four models side by side, by link too", async () => {
    const { page } = await visit("/models?q=gpt-4");
    for (const id of ["gpt-4o-mini", "gpt-4.1"])
      await page.getByRole("checkbox", { name: `Compare ${id}`, exact: true }).check();
    await page.getByRole("link", { name: "Compare side by side" }).click();
    const table = page.getByRole("table", { name: "Models side by side" });
    const heads = (): Promise<string[]> => table.locator("thead a").allTextContents();
    await expect.poll(heads).toEqual(["gpt-4o-mini", "gpt-4.1"]);
    const input = table.getByRole("row", { name: /^Input/ }).locator("td");
    await expect
      .poll(() => input.allTextContents())
      .toEqual([expect.stringMatching(/^\$.* best$/), expect.not.stringMatching(/best/)]);
    const scores = table.getByRole("row", { name: /^parallel/ }).locator("td");
    const score = expect.stringMatching(/^\d+\.\d/);
    await expect.poll(() => scores.allTextContents()).toEqual([score, score]);
    for (const id of ["glm-4.6", "gpt-5-nano"])
      await page.getByLabel("Add a model to the comparison").selectOption({ label: id });
    await expect.poll(heads).toEqual(["gpt-4o-mini", "gpt-4.1", "glm-4.6", "gpt-5-nano"]);
    await page.getByLabel("Add a model to the comparison").waitFor({ state: "detached" });
    const { page: other } = await visit(page.url().slice(gateway().url.length));
    await other.getByRole("button", { name: "Remove glm-4.6" }).click();
    const left = ["gpt-4o-mini", "gpt-4.1", "gpt-5-nano"];
    await expect.poll(() => other.locator(".beside thead a").allTextContents()).toEqual(left);
    await other.goBack();
    await expect.poll(() => other.locator(".beside thead a").count()).toBe(4);
    await other.getByRole("link", { name: "Open in playground" }).click();
    await other.getByLabel("Compare with, 3").waitFor();
    await page.getByRole("link", { name: "All models" }).click();
    await page.getByLabel("Search models").fill("");
    await expect
      .poll(() => page.getByRole("checkbox", { name: "Compare gpt-4o", exact: true }).isDisabled())
      .toBe(true);
  });

  test("lets somebody back in who forgot the password", async () => {
    const invited = await make("/api/invitations", { email: "ada@example.com", role: "owner" });
    const { page: adas } = await visit(invitedPath(invited), { isSignedIn: false });
    await adas.getByRole("heading", { level: 1, name: "Join Default on Switchyard" }).waitFor();
    await adas.getByText("Choose a password for ada@example.com.").waitFor();
    await adas.getByLabel("Password").fill("the first long secret");
    await adas.getByRole("button", { name: "Join team" }).click();
    await adas.getByRole("heading", { level: 1, name: "Overview" }).waitFor();

    const { page } = await visit("/settings?tab=users");
    await page.getByText("Invite user").click();
    await page.getByLabel("E-mail").fill("ada@example.com");
    await page.getByRole("button", { name: "Create invite link" }).click();
    await page.getByRole("alert").filter({ hasText: "already" }).waitFor();
    await page.getByRole("button", { name: "Create reset link instead" }).click();
    const link = await page.getByRole("dialog").getByLabel("Reset link").inputValue();
    const { page: other } = await visit(link.slice(gateway().url.length), { isSignedIn: false });
    await other.getByLabel("Password").fill("the second long secret");
    await other.getByRole("button", { name: "Save and sign in" }).click();
    await other.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
    expect(other.url()).not.toContain("token");
    await adas.reload();
    await adas.getByRole("button", { name: "Sign in" }).waitFor();
    // A used invitation says so at once, without a form.
    const { page: again } = await visit(invitedPath(invited), { isSignedIn: false });
    await again.getByRole("alert").filter({ hasText: "already been used" }).waitFor();
    expect(await again.getByLabel("Password").count()).toBe(0);
    await again.getByRole("link", { name: "Sign in" }).click();
    await again.getByLabel("E-mail").waitFor();
    await other.goto(link);
    await other.reload();
    await other.getByLabel("Password").fill("the third long secret");
    await other.getByRole("button", { name: "Save and sign in" }).click();
    await other.getByRole("alert").filter({ hasText: "already been used" }).waitFor();
    await other.getByRole("link", { name: "Sign in" }).waitFor();
  });

  test("leads into a new account, and on a phone to every page", async () => {
    const { page, troubles } = await visit("/settings?tab=users");
    await page.getByText("Create account").first().click();
    await page.getByLabel("Name").fill("Team Blue");
    await page.getByRole("button", { name: "Create account" }).click();
    await page.getByText("“Team Blue” created.").waitFor();
    await page.getByRole("link", { name: "Switch to it" }).click();
    await expect.poll(() => page.getByLabel("Account").locator("option:checked").textContent()).toBe("Team Blue");
    await page.setViewportSize({ width: 390, height: 844 });
    const menu = page.locator(".rail .menu");
    await menu.getByText("More").click();
    await menu.getByRole("link", { name: "Credits" }).click();
    await page.getByRole("heading", { level: 1, name: "Credits" }).waitFor();
    // Credits that a new account never had are no alarm.
    await page.getByText("No entries yet").waitFor();
    await settled(page);
    expect(await page.getByText("You're out of credits").count()).toBe(0);
    await menu.getByRole("link", { name: "Models" }).waitFor({ state: "hidden" });
    await menu.getByText("More").press("Enter");
    await menu.getByRole("link", { name: "Documentation" }).waitFor();
    await page.keyboard.press("Escape");
    await menu.getByRole("link", { name: "Documentation" }).waitFor({ state: "hidden" });
    await show(page, "/keys?new=1");
    await expect
      .poll(() => page.getByLabel("Requests per minute").getAttribute("placeholder"))
      .toBe("Default (600/min)");
    expect(troubles).toEqual([]);
  });

  test("compares up to four, by link too, and runs them all", async () => {
    const { page, troubles } = await visit("/playground");
    await page.getByLabel("Prompt", { exact: true }).fill("What is the capital of France?");
    await page.getByRole("button", { name: "Compare", exact: true }).click();
    for (const _ of [2, 3]) await page.getByRole("button", { name: "Add to comparison" }).click();
    await page.getByRole("button", { name: "Add to comparison" }).waitFor({ state: "detached" });
    await page.getByLabel("Compare with, 2").selectOption("tier:COMPLEX");
    await page.getByLabel("Compare with, 3").selectOption("model:gpt-5-nano");
    const rows = page.locator(".bench-out table tbody tr");
    await rows.filter({ hasText: /Tier COMPLEX.*COMPLEX/ }).waitFor();
    await rows.filter({ hasText: /Model gpt-5-nano.*gpt-5-nano.*\$/ }).waitFor();
    // One length of answer and so one baseline for all, or what they save could not be compared.
    const baselines = async () =>
      (await page.locator(".verdict").allInnerTexts()).map((text) => /baseline (\S+)/.exec(text)?.[1]);
    await expect.poll(async () => new Set(await baselines()).size).toBe(1);
    await page.getByText(/^For answers of \d+ tokens; the baseline costs \$/).waitFor();
    const { page: other } = await visit(new URL(page.url()).pathname + new URL(page.url()).hash);
    await other.locator(".versus > section").nth(3).waitFor();
    await page.getByRole("button", { name: /^Run all for about \$/ }).click();
    await expect.poll(() => page.getByText(/charged, .* estimated/).count()).toBe(4);
    await page.getByRole("button", { name: "Remove 1" }).click();
    await expect.poll(() => page.locator(".versus > section").count()).toBe(3);
    expect(troubles).toEqual([]);
  });

  test("fixes a key whose profile was deleted", async () => {
    const { id } = await make("/api/profiles", { name: "brief" });
    const { key } = await make("/api/keys", { name: "orphan", profile: id });
    await gateway().api("DELETE", `/api/profiles/${id}`);
    expect(await callWith(key)).toBe(401);
    const { page } = await visit("/keys");
    await page
      .getByRole("row", { name: /orphan.*Deleted profile/ })
      .getByRole("button", { name: /Edit/ })
      .click();
    await page.getByRole("dialog").getByLabel("Profile").selectOption("");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("“orphan” saved.").waitFor();
    expect(await callWith(key)).toBe(200);
  });
});
