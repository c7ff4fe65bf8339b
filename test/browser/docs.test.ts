// The documentation in a browser: it obeys the content policy, its search finds a page, and a request tried in the API
// reference reaches this gateway.

import { beforeAll, describe, expect, test } from "vitest";
import { ensureSite } from "../../scripts/setup.mjs";
import { faultsOf } from "./axe.ts";
import { hasBrowser, startDashboard } from "./dashboard.ts";

describe.skipIf(!hasBrowser)("the documentation", () => {
  const { gateway, visit } = startDashboard();
  beforeAll(() => ensureSite());

  test("opens from /docs, and its search leads to a page", async () => {
    const { page, troubles } = await visit("/docs", { isSignedIn: false });
    await page.getByRole("button", { name: "Search" }).click();
    await page.getByRole("searchbox").fill("insufficient_credits");
    await page.locator(".VPLocalSearchBox a.result").first().click();
    await page.waitForURL(/\/docs\/\w+\/[\w-]+/);
    await page.locator("main", { hasText: "insufficient_credits" }).waitFor();
    expect(troubles).toEqual([]);
  });

  test("leads back to the dashboard", async () => {
    const { page } = await visit("/docs/concepts/routing");
    await page.getByRole("link", { name: "Open dashboard" }).first().click();
    await page
      .getByRole("heading", { name: "Get started" })
      .or(page.getByRole("heading", { name: "Overview" }))
      .waitFor();
    expect(new URL(page.url()).pathname).toBe("/");
  });

  test("the API reference has title, outline and font of the site", async () => {
    const { page } = await visit("/docs/reference/api", { isSignedIn: false });
    await page.getByRole("heading", { level: 1, name: "API reference" }).waitFor();
    const outline = page.getByRole("navigation", { name: "Sections" });
    await outline.getByRole("button").nth(4).waitFor();
    await page.locator(".opblock-summary", { hasText: "/v1/chat/completions" }).first().waitFor();
    await outline.getByRole("button", { name: "keys", exact: true }).click();
    await page.locator(".opblock-summary", { hasText: "/api/keys" }).first().waitFor();
    await page.locator(".opblock-summary", { hasText: "/v1/chat/completions" }).first().waitFor({ state: "detached" });
    const fontOf = (selector: string) =>
      page
        .locator(selector)
        .first()
        .evaluate((element) => getComputedStyle(element).fontFamily);
    expect(await fontOf(".opblock-tag")).toBe(await fontOf("h1"));
  });

  test("has no serious fault for axe in either theme", async () => {
    const { page, troubles } = await visit("/docs/concepts/routing", { isSignedIn: false });
    await page.getByRole("heading", { level: 1 }).waitFor();
    expect(await faultsOf(page, "light")).toEqual([]);
    await page.emulateMedia({ colorScheme: "dark" });
    await page.locator("html.dark").waitFor();
    expect(await faultsOf(page, "dark")).toEqual([]);
    expect(troubles).toEqual([]);
  });

  test("shows the fields of an operation and tries it on this gateway", async () => {
    const { page, troubles } = await visit("/docs/reference/api", { isSignedIn: false });
    await page.getByRole("button", { name: "Authorize" }).first().click();
    await page.getByLabel("apiKey").or(page.locator("#auth-bearer-value")).first().fill(gateway().key);
    await page.getByRole("button", { name: "Apply credentials" }).first().click();
    await page.getByRole("button", { name: "Close" }).last().click();
    const operation = page.locator(".opblock").filter({ hasText: /^POST\s*\/v1\/chat\/completions/ });
    await operation.locator(".opblock-summary-control").click();
    await operation.getByRole("button", { name: "Try it out" }).click();
    await operation.getByRole("button", { name: "Execute" }).click();
    await operation.locator(".live-responses-table .response-col_status", { hasText: "200" }).waitFor();
    await operation.locator(".live-responses-table", { hasText: '"choices"' }).waitFor();
    expect(troubles).toEqual([]);
  });
});
