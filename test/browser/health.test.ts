// The dashboard when a provider fails: which model is cooling down, why, and when it is tried again.

import { afterAll, describe, expect, test } from "vitest";
import { HELLO, labYaml } from "../support/gateway/gateway.ts";
import { fails, startFakeProvider } from "../support/providers/fake-provider.ts";
import { hasBrowser, startDashboard } from "./dashboard.ts";

const provider = await startFakeProvider();
afterAll(() => provider.close());

describe.runIf(hasBrowser)("a key that the provider rejects", () => {
  const extra = "health: { openMs: 600000, openMsMax: 600000 }";
  const { gateway, visit } = startDashboard({ yaml: labYaml(provider.url, ["alpha", "beta"], extra) });

  test("shows on the models page: once for the provider's key, and at each of its models", async () => {
    provider.on("*", fails(401));
    for (let round = 0; round < 2; round += 1) {
      expect((await gateway().post("/v1/chat/completions", HELLO)).status).toBe(503);
    }
    const { page, troubles } = await visit("/models?model=alpha");
    const notice = page.getByText(/^API key of lab: 3 consecutive failures/);
    await notice.waitFor();
    expect(await notice.textContent()).toMatch(/retry in \d+ \w+; last error .*: API key refused, status 401\.$/);
    const sheet = page.getByRole("region", { name: "Model alpha" });
    await sheet.getByText(/consecutive failures, since .*, retry in .*status 401/).waitFor();
    await expect.poll(() => page.getByText("Cooling down", { exact: true }).count()).toBeGreaterThanOrEqual(3);
    expect(troubles).toEqual([]);
  });

  test("is no longer shown once the provider answers again", async () => {
    provider.reset();
    const direct = { ...HELLO, model: "alpha", service_profile: "direct" };
    expect((await gateway().post("/v1/chat/completions", direct)).status).toBe(200);
    const { page } = await visit("/models?model=alpha");
    await page
      .getByRole("region", { name: "Model alpha" })
      .getByText(/Healthy; last error/)
      .waitFor();
    await page.getByText(/^API key of lab/).waitFor({ state: "detached" });
  });
});
