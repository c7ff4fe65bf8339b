// A provider that fails, as the dashboard shows it.

import { afterAll, describe, expect, test } from "vitest";
import { type FakeProvider, fails, startFakeProvider } from "../support/fake-provider.ts";
import { HELLO, labYaml } from "../support/gateway.ts";
import { hasBrowser, setStage } from "./stage.ts";

/** Long: what is waited for is polled by the page, and the machine may be busy. */
const PATIENCE_MS = 40_000;

const lab = hasBrowser ? await startFakeProvider() : null;
afterAll(() => lab?.close());

describe.skipIf(!hasBrowser)("a provider that fails", () => {
  const { gateway, visit } = setStage({ yaml: labYaml((lab as FakeProvider)?.url ?? "http://127.0.0.1:1") });

  test("shows as fallbacks on the overview, as attempts of a request, and in the health of the model", async () => {
    const ask = async (): Promise<string> => (await gateway().post("/v1/chat/completions", HELLO)).text();
    await ask();
    const { page } = await visit("/");
    await page.locator(".tile", { hasText: "Fallback rate" }).waitFor({ timeout: PATIENCE_MS });
    lab?.on("alpha", fails(500));
    for (let sent = 0; sent < 6; sent += 1) await ask();
    const fallbacks = page.locator(".tile", { hasText: "Fallback rate" }).locator(".big");
    await expect.poll(() => fallbacks.innerText()).toMatch(/^[1-9]/);
    await fallbacks.click();
    await page.locator(".requests tbody tr").first().click();
    await page.getByRole("tab", { name: "Attempts" }).click();
    const panel = page.getByRole("tabpanel");
    await panel.getByText("alpha").first().waitFor();
    await panel.getByText("beta").first().waitFor();
    await page.goto(`${gateway().url}/models`);
    // Which of them depends on how long ago the last call failed.
    const marks = page.getByRole("row", { name: /alpha/ }).getByText(/^(resting|probing|\d+ failed)$/);
    await marks.first().waitFor({ timeout: PATIENCE_MS });
  });
});
