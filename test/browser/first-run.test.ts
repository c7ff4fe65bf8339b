// The first minutes of a new gateway: the checklist until a request is answered, also after one that failed.

import { describe, expect, test } from "vitest";
import { HELLO } from "../support/gateway/gateway.ts";
import { EMAIL, hasBrowser, PASSWORD, startDashboard } from "./dashboard.ts";

describe.skipIf(!hasBrowser)("a new gateway", () => {
  const { gateway, visit } = startDashboard({ creditsUsd: null });

  test("says in the checklist and in the ledger what the starter credit is", async () => {
    const { page } = await visit("/", { isNewcomer: true });
    await page.getByText("$5.00 available. Credits are a spending cap").waitFor();
    await page.getByText("export SWITCHYARD_KEY=").waitFor();
    await page.getByRole("link", { name: "View credits" }).click();
    const entry = page.locator(".ledger tbody tr").filter({ hasText: "Starter credit: a spending cap" });
    // The same digits as the balance beside it.
    await expect.poll(() => entry.locator("[data-cell=amount]").innerText()).toBe("+$5.000000");
    await expect.poll(() => entry.locator("[data-cell=balance]").innerText()).toBe("$5.000000");
  });

  test("says that a metered account is never refused for lack of credits", async () => {
    await gateway().api("PATCH", "/api/accounts/default", { billingMode: "metered" });
    const { page } = await visit("/", { isNewcomer: true });
    await page.getByText("Billing is metered").waitFor();
    await gateway().api("PATCH", "/api/accounts/default", { billingMode: null });
  });

  test("keeps the checklist after a failed request, says what failed, and takes a second one", async () => {
    await gateway().api("POST", "/api/credits/adjustments", { amountUsd: "-5" });
    const { page, troubles } = await visit("/", { isNewcomer: true });
    await page.getByText("You have no credits").waitFor();
    await page.getByRole("button", { name: "Send a test request" }).click();
    await page.getByText(/^Your last request failed: Out of credits \(402\)/).waitFor();
    await page.reload();
    await page.getByText(/^Your last request failed: Out of credits \(402\)/).waitFor();
    await gateway().api("POST", "/api/credits/topups", { amountUsd: "1" });
    await page.getByRole("button", { name: "Send a test request" }).click();
    await page.getByText(/^Received:/).waitFor();
    await page.getByRole("button", { name: "Go to overview" }).click();
    const spend = page.locator(".tile", { hasText: "Spend" }).locator(".big");
    await expect.poll(() => spend.innerText()).toBe("<$0.0001");
    expect(troubles).toEqual([]);
  });

  test("offers to sign in where the set-up link was used", async () => {
    const link = gateway().setupLink ?? "";
    const { page } = await visit(link.slice(gateway().url.length), { isSignedIn: false });
    await page.getByText("This set-up link has already been used.").waitFor();
    await page.getByLabel("E-mail").fill(EMAIL);
    await page.getByLabel("Password").fill(PASSWORD);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
  });
});

describe.skipIf(!hasBrowser)("a mistyped set-up link", () => {
  const { gateway, visit } = startDashboard();

  test("is named as that, without a way to sign in, and the right one makes the account", async () => {
    const link = gateway().setupLink ?? "";
    const { page } = await visit(link.slice(gateway().url.length, -1), { isSignedIn: false });
    await page.getByLabel("E-mail").fill(EMAIL);
    await page.getByLabel("Password").fill(PASSWORD);
    await page.getByRole("button", { name: "Create account" }).click();
    await page.getByText("This is not the set-up link of this gateway.").waitFor();
    expect(await page.getByRole("link", { name: "Sign in" }).count()).toBe(0);
    const { page: right } = await visit(link.slice(gateway().url.length), { isSignedIn: false });
    await right.getByLabel("E-mail").fill(EMAIL);
    await right.getByLabel("Password").fill(PASSWORD);
    await right.getByRole("button", { name: "Create account" }).click();
    await right.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
  });
});

describe.skipIf(!hasBrowser)("a gateway on the sandbox", () => {
  const { gateway, visit } = startDashboard();

  test("keeps the checklist after an answer, links to the providers, and forgets it when it is dismissed", async () => {
    // The README's order: a request, and then the dashboard.
    await (await gateway().post("/v1/chat/completions", HELLO)).text();
    const { page, troubles } = await visit("/", { isNewcomer: true });
    const checklist = page.getByRole("region", { name: "Get started" });
    await checklist.getByText(/^Received:/).waitFor();
    await checklist.getByLabel("API key").waitFor();
    await checklist.getByRole("button", { name: "Go to overview" }).click();
    await page.locator(".tile .big").first().waitFor();
    // Leaving it once is not dismissing it.
    await page.reload();
    await checklist.getByRole("button", { name: "Dismiss" }).click();
    await page.locator(".tile .big").first().waitFor();
    await page.reload();
    await page.locator(".tile .big").first().waitFor();
    expect(await checklist.count()).toBe(0);
    await page.getByRole("link", { name: "Sandbox" }).click();
    await page.waitForURL(/\/providers$/);
    expect(troubles).toEqual([]);
  });

  test("ends with the first real provider", async () => {
    const connected = await gateway().api("POST", "/api/providers", { id: "openai", apiKey: "sk-real" });
    expect(connected.status).toBe(201);
    const { page } = await visit("/", { isNewcomer: true });
    await page.locator(".tile .big").first().waitFor();
    expect(await page.getByRole("link", { name: "Sandbox" }).count()).toBe(0);
  });
});
