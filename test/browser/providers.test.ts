// The providers page: connecting with a key, testing an address before it is saved, ordering chains, and going back.

import { afterAll, describe, expect, test } from "vitest";
import { startFakeProvider } from "../support/providers/fake-provider.ts";
import { faultsOf } from "./axe.ts";
import { hasBrowser, sendTraffic, startDashboard } from "./dashboard.ts";

const lab = hasBrowser ? await startFakeProvider() : null;
afterAll(() => lab?.close());

describe.skipIf(!hasBrowser)("the providers page", () => {
  const { gateway, visit } = startDashboard();

  test("connects a vendor with its key, which is never shown again, and removes it", async () => {
    const { page, troubles } = await visit("/providers");
    await page.getByText("No provider connected").waitFor();
    await page.getByRole("button", { name: /^Groq/ }).click();
    const dialog = page.getByRole("dialog", { name: "Connect Groq" });
    await dialog.getByLabel("API key").fill("gsk_a-secret-for-groq-7531");
    expect(await faultsOf(page, "light")).toEqual([]);
    await dialog.getByRole("button", { name: "Connect" }).click();
    const card = page.getByRole("listitem").filter({ has: page.getByRole("heading", { name: /^Groq/ }) });
    await card.getByText("…7531").waitFor();
    expect(await page.content()).not.toContain("gsk_a-secret");
    // The sandbox ended with the first provider.
    await expect.poll(() => page.locator(".top").getByText("Sandbox").count()).toBe(0);
    await card.getByRole("button", { name: "Remove Groq" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
    await page.getByText("No provider connected").waitFor();
    expect(troubles).toEqual([]);
  });

  test("tests another server before anything is saved, and says what is wrong with it", async () => {
    const { page } = await visit("/providers");
    await page.getByRole("button", { name: /^Other server/ }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Id").fill("lab");
    await dialog.getByLabel("Base URL").fill("http://127.0.0.1:1/v1");
    await dialog.getByRole("button", { name: "Test" }).click();
    await dialog.getByText("cannot be reached").waitFor();
    const { data } = (await (await gateway().api("GET", "/api/providers")).json()) as { data: { id: string }[] };
    expect(data.map(({ id }) => id)).not.toContain("lab");
  });

  test("orders a chain with the replay beside it, publishes it, and rolls it back", async () => {
    await sendTraffic(gateway());
    const { page, troubles } = await visit("/providers?tab=chains");
    const chain = page.getByRole("region", { name: "Chain of SIMPLE" });
    const first = async (): Promise<string> => chain.getByRole("listitem").first().innerText();
    await chain.getByRole("listitem").first().waitFor();
    const before = await first();
    await chain
      .getByRole("button", { name: /^Move .* down/ })
      .first()
      .click();
    await expect.poll(first).not.toBe(before);
    await page.getByText("Unpublished changes: SIMPLE").waitFor();
    await page
      .getByRole("region", { name: "Replay" })
      .getByText(/^Last \d+ requests/)
      .waitFor();
    expect(await faultsOf(page, "light")).toEqual([]);
    await page.getByRole("button", { name: "Publish" }).click();
    await page.getByText("Chains published.").waitFor();
    await page.getByRole("tab", { name: "History" }).click();
    await page.getByText("In use").waitFor();
    await page
      .getByRole("button", { name: /^Roll back to version/ })
      .first()
      .click();
    await page.getByText(/^Rolled back to version/).waitFor();
    await page.getByRole("tab", { name: "Chains" }).click();
    await expect.poll(first).toBe(before);
    expect(troubles).toEqual([]);
  });

  test("drags a model to another place of its chain", async () => {
    const { page } = await visit("/providers?tab=chains");
    const items = page.getByRole("region", { name: "Chain of STANDARD" }).getByRole("listitem");
    await items.first().waitFor();
    const [moved, other] = [await items.nth(0).innerText(), await items.nth(1).innerText()];
    await items.nth(0).dragTo(items.nth(1));
    await expect.poll(() => items.nth(1).innerText()).toContain(moved.split("\n")[0]?.slice(3) ?? "");
    expect(await items.nth(0).innerText()).toContain(other.split("\n")[0]?.slice(3) ?? "");
  });
});
