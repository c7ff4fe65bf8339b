// A balance that is not zero, but less than a request needs: a strip says so as soon as one was refused, until credits come.

import { describe, test } from "vitest";
import { HELLO } from "../support/gateway/gateway.ts";
import { hasBrowser, startDashboard } from "./dashboard.ts";

describe.skipIf(!hasBrowser)("a balance that is nearly empty", () => {
  const { gateway, visit } = startDashboard({ creditsUsd: "0.00001", yaml: "billing: { starterCredits: 0 }\n" });

  test("is said after the first refusal, and no longer once credits were added", async () => {
    const { page } = await visit("/");
    const strip = page.getByText(/^A request needed \$[\d.]+, but \$0\.00001 is left\./);
    await page.getByRole("link", { name: /\$0\.00001/ }).waitFor();
    const body = { ...HELLO, service_tier_floor: "COMPLEX", max_tokens: 4_000 };
    await (await gateway().post("/v1/chat/completions", body)).text();
    await page.evaluate(`dispatchEvent(new Event("online"))`);
    await strip.waitFor();
    await page.getByText("You're out of credits.").waitFor({ state: "detached" });
    await gateway().api("POST", "/api/credits/topups", { amountUsd: "5" });
    await page.reload();
    await page.getByRole("link", { name: /\$5\.0/ }).waitFor();
    await strip.waitFor({ state: "detached" });
  });
});
