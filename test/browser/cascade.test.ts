// Cascades in the dashboard, on a desk and on a phone: a profile and the playground set one, and the request page shows both
// answers.

import type { Page } from "playwright-core";
import { afterAll, describe, expect, test } from "vitest";
import { cascadeYaml, FITS, MISFITS, SCHEMA, says } from "../support/cascade.ts";
import { HELLO } from "../support/gateway/gateway.ts";
import { startFakeProvider } from "../support/providers/fake-provider.ts";
import { faultsOf } from "./axe.ts";
import { beyondWindow, hasBrowser, settled, show, startDashboard } from "./dashboard.ts";

const provider = hasBrowser ? await startFakeProvider() : null;
afterAll(() => provider?.close());

/** Tall, so that no bar covers what axe looks at. */
const SIZES = [
  { width: 1440, height: 4_000 },
  { width: 390, height: 9_000 },
];

async function expectWhole(page: Page): Promise<void> {
  await settled(page);
  const width = page.viewportSize()?.width;
  expect(await beyondWindow(page), `${page.url()}, ${width}`).toBe(0);
  expect(await faultsOf(page, "light", "#main"), `${page.url()}, ${width}`).toEqual([]);
}

describe.skipIf(!hasBrowser).each(SIZES)("cascades at $width pixels", (viewport) => {
  const { gateway, visit } = startDashboard({ yaml: cascadeYaml(provider?.url ?? "") });

  test("are set in a profile and in the playground, and the request page shows both answers", async () => {
    provider?.on("small", says(MISFITS));
    provider?.on("middle", says(FITS));
    const { page, troubles } = await visit("/profiles/new", { viewport });
    await page.getByLabel("Name", { exact: true }).fill("checked");
    await page.getByLabel("Cascade").selectOption("true");
    await expectWhole(page);
    await page.getByRole("button", { name: "Save profile" }).click();
    await page.getByRole("heading", { level: 1, name: "checked" }).waitFor();
    const { data } = (await (await gateway().api("GET", "/api/profiles")).json()) as {
      data: readonly { readonly id: string; readonly cascade: boolean | null }[];
    };
    expect(data).toMatchObject([{ cascade: true }]);

    const issued = await gateway().api("POST", "/api/keys", { name: "checker", profile: data[0]?.id });
    const { key } = (await issued.json()) as { key: string };
    const response_format = { type: "json_schema", json_schema: { name: "answer", schema: SCHEMA } };
    const headers = { authorization: `Bearer ${key}`, "x-request-id": "checked-twice" };
    await (await gateway().post("/v1/chat/completions", { ...HELLO, response_format }, headers)).text();
    await show(page, "/requests/checked-twice?tab=attempts");
    const answers = page.getByRole("table", { name: "Answers of the cascade" });
    await answers.waitFor();
    const rows = answers.locator("tbody tr");
    expect(await rows.count()).toBe(2);
    for (const [index, words] of [
      ["NANO", "small", "json schema"],
      ["SIMPLE", "middle", "Passed"],
    ].entries()) {
      const said = await rows.nth(index).innerText();
      for (const word of words) expect(said).toContain(word);
    }
    await expectWhole(page);

    await show(page, "/playground");
    await page.getByLabel("Prompt", { exact: true }).fill("What is the capital of France?");
    await page.getByLabel("Cascade").selectOption("true");
    await page.getByText("No cascade: nothing can be checked").waitFor();
    await page.getByText("Tools", { exact: true }).click();
    await page.getByRole("button", { name: "weather" }).click();
    await page.getByText(/Cascade: NANO \(small\), then SIMPLE \(middle\) if the check fails \(tool calls\)/).waitFor();
    await expectWhole(page);
    expect(troubles).toEqual([]);
  });
});
