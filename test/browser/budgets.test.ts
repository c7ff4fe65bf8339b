// The budgets page: set, seen as bars, changed and deleted, on a wide screen and on a phone.

import { beforeAll, describe, expect, test } from "vitest";
import { faultsOf } from "./axe.ts";
import { beyondWindow, hasBrowser, sendTraffic, settled, startDashboard } from "./dashboard.ts";

describe.skipIf(!hasBrowser)("budgets", () => {
  const { gateway, visit } = startDashboard({});
  beforeAll(() => sendTraffic(gateway()));

  test("a budget is set, shown with what is spent, lowered and deleted", async () => {
    const { page } = await visit("/budgets");
    await page.getByText("No budgets yet").waitFor();
    await page.getByRole("button", { name: "Set budget" }).first().click();
    const dialog = page.getByRole("dialog", { name: "Set budget" });
    await dialog.getByLabel("Name").fill("Everything");
    await dialog.getByLabel("Amount in USD").fill("100");
    await dialog.getByLabel("Time zone").fill("Europe/Berlin");
    expect(await faultsOf(page, "light", "dialog[open]")).toEqual([]);
    await dialog.getByRole("button", { name: "Save budget" }).click();
    await page.getByText("Budget “Everything” saved.").waitFor();
    expect(
      (await gateway().post("/v1/chat/completions", { model: "auto", messages: [{ role: "user", content: "Hi" }] }))
        .status,
    ).toBe(200);
    const bar = page.getByRole("img", { name: /^Everything: \$0\.\d+ of \$100\.00 spent$/ });
    await bar.waitFor();
    await page.getByRole("button", { name: "Edit Everything" }).click();
    const edit = page.getByRole("dialog", { name: "Edit budget" });
    expect(await edit.getByLabel("Time zone").inputValue()).toBe("Europe/Berlin");
    await edit.getByLabel("Amount in USD").fill("0");
    await edit.getByRole("button", { name: "Save budget" }).click();
    await page.getByText("Budget spent. Requests fail with 402.").waitFor();
    await page.getByRole("button", { name: "Edit Everything" }).click();
    await edit.getByRole("button", { name: "Delete", exact: true }).click();
    await edit.getByRole("button", { name: "Delete for good" }).click();
    await page.getByText("No budgets yet").waitFor();
  });

  test("a bar says what the period comes to at this pace, and when the budget is spent", async () => {
    const month = { period: "month", timeZone: "UTC" };
    for (const body of [
      { ...month, name: "Plenty", scope: "account", amountUsd: "1000" },
      { ...month, name: "Scarce", scope: "account", amountUsd: "1" },
    ]) {
      expect((await gateway().api("POST", "/api/budgets", body)).status).toBe(201);
    }
    const halfOfIt = 15 * 86_400_000;
    const times = () => ({
      from: new Date(Date.now() - halfOfIt).toISOString(),
      renewsAt: new Date(Date.now() + halfOfIt).toISOString(),
    });
    const { page } = await visit("/budgets", {
      prepare: async (shown) => {
        await shown.route("**/api/budgets?*", async (route) => {
          const response = await route.fetch();
          const { data, next } = (await response.json()) as { data: { name: string; standing: object }[]; next: null };
          const halfway = data.map((budget) => {
            const spentUsd = budget.name === "Plenty" ? "100" : "0.8";
            return { ...budget, standing: { ...budget.standing, spentUsd, leftUsd: "0.2", ...times() } };
          });
          await route.fulfill({ response, json: { data: halfway, next } });
        });
      },
    });
    await page.getByText("Forecast: $200.00 at the end of the period.").waitFor();
    await page
      .getByText(/^Forecast: \$1\.60 at the end of the period\. At this rate it is spent in 4 days\.$/)
      .waitFor();
    const { data } = (await (await gateway().api("GET", "/api/budgets")).json()) as { data: { id: string }[] };
    for (const { id } of data) await gateway().api("DELETE", `/api/budgets/${id}`);
  });

  test("a mistake is told in the form", async () => {
    const { page } = await visit("/budgets?new=1");
    const dialog = page.getByRole("dialog", { name: "Set budget" });
    await dialog.getByLabel("Name").fill("Nowhere");
    await dialog.getByLabel("Amount in USD").fill("1");
    await dialog.getByLabel("Time zone").fill("Mars/Base");
    await dialog.getByRole("button", { name: "Save budget" }).click();
    await dialog.getByText("'Mars/Base' is no time zone.").waitFor();
  });

  test.each([1440, 390])("bars of many kinds fit a window of %s pixels and have no faults", async (width) => {
    const budget = { amountUsd: "0.01", period: "month" };
    const kinds = [
      { name: "Each person", scope: "endUser", ...budget },
      { name: "The whole of the department of research and development", scope: "account", ...budget },
      { name: "Watch", scope: "account", hard: false, ...budget, amountUsd: "0" },
      { name: "Rolling", scope: "account", rolling: true, ...budget, amountUsd: "25" },
    ];
    for (const body of kinds) expect((await gateway().api("POST", "/api/budgets", body)).status).toBe(201);
    const messages = [{ role: "user", content: "Hi" }];
    const user = "somebody-with-a-rather-long-name@subsidiary.example.com";
    expect((await gateway().post("/v1/chat/completions", { model: "auto", messages, user })).status).toBe(200);
    const { page } = await visit("/budgets", { viewport: { width, height: 800 } });
    await page
      .getByRole("img", { name: new RegExp(`^Each person, ${user}`) })
      .first()
      .waitFor();
    await settled(page);
    expect(await beyondWindow(page)).toBe(0);
    for (const theme of ["light", "dark"] as const) expect(await faultsOf(page, theme)).toEqual([]);
    const { data } = (await (await gateway().api("GET", "/api/budgets")).json()) as { data: readonly { id: string }[] };
    for (const { id } of data) await gateway().api("DELETE", `/api/budgets/${id}`);
  });
});
