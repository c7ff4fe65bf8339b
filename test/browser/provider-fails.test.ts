// A provider that fails, as the dashboard shows it.

import { afterAll, describe, expect, test } from "vitest";
import { expectError } from "../support/errors.ts";
import { HELLO, labYaml } from "../support/gateway/gateway.ts";
import { answers, type FakeProvider, fails, startFakeProvider } from "../support/providers/fake-provider.ts";
import { hasBrowser, show, startDashboard } from "./dashboard.ts";

const lab = hasBrowser ? await startFakeProvider() : null;
afterAll(() => lab?.close());

describe.skipIf(!hasBrowser)("a provider that fails", () => {
  const { gateway, visit } = startDashboard({ yaml: labYaml((lab as FakeProvider)?.url ?? "http://127.0.0.1:1") });

  test("shows as fallbacks on the overview, as attempts of a request, and in the health of the model", async () => {
    const ask = async (): Promise<string> => (await gateway().post("/v1/chat/completions", HELLO)).text();
    await ask();
    const { page } = await visit("/");
    await page.locator(".tile", { hasText: "Fallback rate" }).waitFor();
    lab?.on("alpha", fails(500));
    for (let sent = 0; sent < 6; sent += 1) await ask();
    const fallbacks = page.locator(".tile", { hasText: "Fallback rate" }).locator(".big");
    await expect.poll(() => fallbacks.innerText()).toMatch(/^[1-9]/);
    const chart = page.locator("figure", { has: page.getByRole("heading", { name: "Attempts" }) });
    const legend = chart.locator(".legend a");
    const countOf = async (filter: string): Promise<number> => {
      const answer = await gateway().api("GET", `/api/requests?${filter}`);
      return ((await answer.json()) as { data: unknown[] }).data.length;
    };
    // How many of each there are depends on when the model starts cooling down.
    const names = { first: "1st", second: "2nd", later: "3rd+", none: "All failed" };
    const entries = Object.entries(names).map(async ([at, name]) => `${name} · ${await countOf(`answered=${at}`)}`);
    const expected = await Promise.all(entries);
    expect(await countOf("answered=second,later,none")).toBeGreaterThan(0);
    await expect.poll(() => legend.allTextContents()).toEqual(expected);
    await chart.getByText("By provider").click();
    await chart.getByText(/^lab · [1-9]/).click();
    await page.waitForURL(({ search }) => search.includes("failed=lab"));
    await page.getByRole("button", { name: "Remove filter: Failed provider: lab" }).waitFor();
    await expect.poll(() => page.locator(".requests tbody tr").count()).toBe(await countOf("failed=lab"));
    await page.goBack();
    await fallbacks.click();
    await page.locator(".requests tbody tr").first().click();
    await page.getByRole("tab", { name: "Attempts" }).click();
    const panel = page.getByRole("tabpanel");
    await panel.getByText("alpha").first().waitFor();
    await panel.getByText("beta").first().waitFor();
    await show(page, "/models");
    // Which of them depends on how long ago the last call failed.
    const badges = page.getByRole("row", { name: /alpha/ }).getByText(/^(Cooling down|Testing|\d+ failed)$/);
    await badges.first().waitFor();
  });
});

describe.skipIf(!hasBrowser)("a provider without credit", () => {
  const { gateway, visit } = startDashboard({ yaml: labYaml((lab as FakeProvider)?.url ?? "http://127.0.0.1:1") });

  test("says so, in the response, the banner and on its tile", async () => {
    lab?.on("*", fails(402));
    for (let sent = 0; sent < 3; sent += 1) {
      const answer = await gateway().post("/v1/chat/completions", HELLO);
      const { message } = await expectError(answer, { status: 503 });
      expect(message).not.toContain("lab");
    }
    const { page } = await visit("/providers");
    const alert = page.getByRole("alert").filter({ hasText: "lab refuses requests" });
    await alert.filter({ hasText: "(API credit used up, status 402)." }).waitFor();
    await page.getByRole("heading", { name: /^lab/ }).getByText("API credit used up", { exact: true }).waitFor();
  });
});

describe.skipIf(!hasBrowser)("a provider without a key that answers 401", () => {
  const yaml = labYaml((lab as FakeProvider)?.url ?? "http://127.0.0.1:1").replace("apiKey: lab-secret, ", "");
  const { gateway, visit } = startDashboard({ yaml });

  test("asks for one, in the response, the banner and on its tile", async () => {
    lab?.on("*", fails(401));
    // Three refusals in a row take it out.
    for (let sent = 0; sent < 3; sent += 1) {
      const answer = await gateway().post("/v1/chat/completions", HELLO);
      const { message } = await expectError(answer, { status: 503 });
      expect(message).not.toMatch(/lab|key/);
    }
    const { page } = await visit("/providers");
    await page.getByRole("alert").filter({ hasText: "lab refuses requests (API key missing, status 401)." }).waitFor();
    await page.getByRole("heading", { name: /^lab/ }).getByText("API key missing", { exact: true }).waitFor();
  });
});

describe.skipIf(!hasBrowser)("a provider that was repaired", () => {
  const { gateway, visit } = startDashboard({ yaml: labYaml((lab as FakeProvider)?.url ?? "http://127.0.0.1:1") });

  test("changes the banner as its failures change, and loses it with a test that is answered", async () => {
    const ask = async (): Promise<number> => (await gateway().post("/v1/chat/completions", HELLO)).status;
    lab?.reset();
    lab?.on("*", fails(401));
    expect(await ask()).toBe(503);
    const { page, troubles } = await visit("/providers");
    await page.getByRole("alert").filter({ hasText: "lab refuses requests (API key refused, status 401)." }).waitFor();
    lab?.on("*", ({ socket }) => void socket.destroy());
    expect(await ask()).toBe(503);
    await page.reload();
    await page.getByRole("alert").filter({ hasText: "lab is failing (" }).waitFor();
    lab?.on("*", answers("ok"));
    await page.getByRole("button", { name: "Test lab" }).click();
    await page.getByText(/^alpha answered in/).waitFor();
    await page.getByRole("alert").waitFor({ state: "detached" });
    await page.getByRole("heading", { name: /^lab/ }).getByText("Healthy", { exact: true }).waitFor();
    expect(troubles).toEqual([]);
  });
});
