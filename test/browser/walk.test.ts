// A walk through the dashboard in a real browser, against a real gateway with the sandbox as its provider.

import type { Locator } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import { expectError } from "../support/errors.ts";
import { EMAIL, hasBrowser, PASSWORD, sendTraffic, settled, startDashboard } from "./dashboard.ts";

const HELLO_BODY = { model: "auto", messages: [{ role: "user", content: "What is the capital of France?" }] };

describe.skipIf(!hasBrowser)("the dashboard", () => {
  const { gateway, visit } = startDashboard({ yaml: "logging: { content: true }" });

  test("notices the first request by itself and shows why it went where", async () => {
    const { page, troubles } = await visit("/", { isNewcomer: true });
    await page.getByText("Waiting for the first request").waitFor();
    await gateway().post("/v1/chat/completions", HELLO_BODY);
    await page.getByText(/^Received:/).waitFor();
    await page.getByRole("link", { name: "See why" }).click();
    await page.getByRole("tab", { name: "Decision", selected: true }).waitFor();
    await page.locator(".ladder .final").waitFor();
    expect(troubles).toEqual([]);
  });

  test("signs in with the password, and not with another", async () => {
    const { page } = await visit("/keys", { isSignedIn: false });
    await page.getByLabel("E-mail").fill(EMAIL);
    await page.getByLabel("Password").fill("not the password");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("alert").filter({ hasText: "wrong" }).waitFor();
    await page.getByLabel("Password").fill(PASSWORD);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("heading", { level: 1, name: "Keys" }).waitFor();
    await page.getByLabel(`Signed in as ${EMAIL}`).click();
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByRole("button", { name: "Sign in" }).waitFor();
  });

  test("shows a key once, asks before it is closed uncopied, and the key works", async () => {
    const { page } = await visit("/keys");
    await page.getByRole("button", { name: "Create key" }).click();
    await page.getByRole("dialog").getByLabel("Name").fill("walker");
    await page.getByRole("dialog").getByRole("button", { name: "Create key" }).click();
    const key = await page.getByLabel("The key", { exact: true }).inputValue();
    expect(key).toMatch(/^sk-service-/);
    await page.getByRole("dialog", { name: "Key “walker”" }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByText("Close anyway?").waitFor();
    await page.getByRole("button", { name: "Go back" }).click();
    expect(await page.getByLabel("Example call: curl").inputValue()).toContain(key);
    const authorization = `Bearer ${key}`;
    expect((await gateway().post("/v1/chat/completions", HELLO_BODY, { authorization })).status).toBe(200);
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Close without copying" }).click();
    await page.reload();
    await page.getByText("walker").waitFor();
    expect(await page.content()).not.toContain(key);
    await page.getByRole("button", { name: "Revoke walker" }).click();
    await page.getByText("1 request in the last 24 hours").waitFor();
    await page.getByLabel("Type “walker” to confirm").fill("walker");
    await page.getByRole("button", { name: "Revoke key" }).click();
    await page.getByText("“walker” revoked.").waitFor();
    expect((await gateway().post("/v1/chat/completions", HELLO_BODY, { authorization })).status).toBe(401);
  });

  test("decides while typing, and a shared link brings it back", async () => {
    const { page } = await visit("/playground");
    const final = page.locator(".ladder .final span");
    await page.getByLabel("Prompt", { exact: true }).fill("Hi!");
    await final.waitFor();
    await page.getByLabel("Lowest tier").fill("4");
    await page.locator('.ladder .final[data-tier="COMPLEX"]').waitFor();
    await page.getByText(/raised \w+ to COMPLEX/).waitFor();
    const { page: other } = await visit(new URL(page.url()).pathname + new URL(page.url()).hash);
    await other.locator('.ladder .final[data-tier="COMPLEX"]').waitFor();
    expect(await other.getByLabel("Prompt", { exact: true }).inputValue()).toBe("Hi!");
    await page.getByRole("button", { name: /^Run for about/ }).click();
    await page.getByText(/charged, .* estimated/).waitFor();
    await page.getByRole("link", { name: "View request" }).click();
    await page.getByRole("tab", { name: "Decision" }).waitFor();
    await page.getByRole("link", { name: "Open in playground" }).click();
    await page.waitForURL(/\/playground/);
    await expect.poll(() => page.getByLabel("Prompt", { exact: true }).inputValue()).toBe("Hi!");
  });

  test("bounds the tiers by two handles that cannot pass each other, by keyboard, by pointer and open", async () => {
    const { page } = await visit("/playground");
    const [lowest, highest] = [page.getByLabel("Lowest tier"), page.getByLabel("Highest tier")];
    const said = async (): Promise<readonly (string | null)[]> => [
      await lowest.getAttribute("aria-valuetext"),
      await highest.getAttribute("aria-valuetext"),
    ];
    await page.getByText("Any tier").waitFor();
    await expect.poll(said).toEqual(["NANO, no limit", "COMPLEX, no limit"]);
    await lowest.focus();
    await page.keyboard.press("ArrowRight");
    await page.getByText("SIMPLE and above").waitFor();
    await page.keyboard.press("Tab");
    for (const key of ["ArrowLeft", "ArrowLeft"]) await page.keyboard.press(key);
    await page.getByText("SIMPLE to LIGHT").waitFor();
    await expect.poll(said).toEqual(["SIMPLE", "LIGHT"]);
    await page.keyboard.press("Home");
    await page.getByText("SIMPLE only").waitFor();
    await expect.poll(() => highest.inputValue()).toBe("1");
    await page.keyboard.press("Shift+Tab");
    await page.keyboard.press("End");
    await expect.poll(said).toEqual(["SIMPLE", "SIMPLE"]);
    await page.getByRole("button", { name: "Move the nearer handle to STANDARD" }).click();
    await page.getByText("SIMPLE to STANDARD").waitFor();
    const handle = await highest.boundingBox();
    const stop = await page.getByRole("button", { name: "Move the nearer handle to COMPLEX" }).boundingBox();
    if (handle === null || stop === null) throw new Error("not in sight");
    // Its handle is 24 pixels wide on a slider whose ends are the centres of the outermost stops.
    const middleOf = (rank: number): number => handle.x + 12 + ((handle.width - 24) * rank) / 4;
    await page.mouse.move(middleOf(3), handle.y + 12);
    await page.mouse.down();
    await page.mouse.move(stop.x + stop.width, handle.y + 12, { steps: 4 });
    await page.mouse.up();
    await page.getByText("SIMPLE and above").waitFor();
    await page.getByRole("button", { name: "Move the nearer handle to NANO" }).click();
    await page.getByText("Any tier").waitFor();
  });

  describe("with traffic", () => {
    beforeAll(() => sendTraffic(gateway()));

    test("filters in the address, opens a request beside the list, and Back works", async () => {
      const { page } = await visit("/requests");
      await page.getByLabel("status", { exact: true }).selectOption("error");
      await page.waitForURL(/status=error/);
      await expect.poll(() => page.locator(".requests tbody tr").count()).toBe(2);
      await page.keyboard.press("j");
      await page.keyboard.press("Escape");
      await page.locator(".requests tbody tr").first().click();
      await page.waitForURL(/\/requests\/r\w+\?.*status=error/);
      const first = page.url();
      await page.keyboard.press("j");
      await page.waitForURL(({ href }) => href !== first);
      await page.keyboard.press("Escape");
      await page.waitForURL(/\/requests\?status=error/);
      await page.getByText("More filters").click();
      await page.getByLabel("category", { exact: true }).selectOption("translation");
      await page.getByText("No requests match these 2 filters").waitFor();
      await page.goBack();
      await expect.poll(() => page.locator(".requests tbody tr").count()).toBe(2);
    });

    test("goes from the savings to a request to its ledger entry in three clicks, and back by as many steps", async () => {
      const { page } = await visit("/?live=off");
      const views: [RegExp, Locator][] = [
        [/\/\?live=off$/, page.locator(".tile", { hasText: "Saved" }).locator("a.big")],
        [/\/requests(?:\?|$)/, page.locator(".requests tbody tr", { hasText: "COMPLEX" }).first()],
        [/\/requests\/\w+/, page.locator(".sheet").getByRole("link", { name: /charged$/ })],
        [/\/credits\?.*entry=/, page.locator(".ledger tr.chosen")],
      ];
      const seen: string[] = [];
      for (const [index, [address, sign]] of views.entries()) {
        await page.waitForURL(address);
        await sign.waitFor();
        seen.push(page.url());
        if (index < 3) await sign.click();
      }
      const entry = await page.locator(".ledger tr.chosen").innerText();
      const { page: same } = await visit(page.url().slice(gateway().url.length));
      await same.locator(".ledger tr.chosen").waitFor();
      const withoutAge = (text: string): string => text.replace(/^.*(?=Charge)/s, "");
      expect(withoutAge(await same.locator(".ledger tr.chosen").innerText())).toBe(withoutAge(entry));
      for (const step of [2, 1, 0]) {
        await page.goBack();
        await views[step]?.[1].waitFor();
        await expect.poll(() => page.url()).toBe(seen[step]);
      }
    });

    test("shows what callers wrote as text", async () => {
      const text = "<img src=x onerror=alert(1)> what is this?";
      const body = { ...HELLO_BODY, messages: [{ role: "user", content: text }] };
      await gateway().post("/v1/chat/completions", body, { "x-request-id": "markup" });
      const { page, troubles } = await visit("/requests/markup?tab=payload");
      const texts = "[...document.querySelectorAll('.sheet textarea')].map(({ value }) => value).join()";
      await expect.poll(() => page.evaluate<string>(texts)).toContain(text);
      await settled(page);
      expect(await page.locator("img").count()).toBe(0);
      expect(troubles).toEqual([]);
    });

    test("names the keys that a deleted profile takes down", async () => {
      const made = await gateway().api("POST", "/api/profiles", { name: "strict", tierCeiling: "SIMPLE" });
      const { id } = (await made.json()) as { id: string };
      const keyed = await gateway().api("POST", "/api/keys", { name: "strict caller", profile: id });
      const { key } = (await keyed.json()) as { key: string };
      const { page } = await visit(`/profiles/${id}`);
      await page.getByText(/Last \d+ requests/).waitFor();
      await page.getByRole("button", { name: "Delete" }).click();
      await page.getByRole("dialog").getByText("strict caller").waitFor();
      await page.getByRole("button", { name: "Delete profile" }).click();
      await page.getByText("“strict” deleted.").waitFor();
      const refused = await gateway().post("/v1/chat/completions", HELLO_BODY, { authorization: `Bearer ${key}` });
      expect((await expectError(refused, { status: 401 })).message).toContain("profile");
    });

    test("keeps what it shows while the gateway cannot be reached, and recovers", async () => {
      const { page, context } = await visit("/requests?tail=on");
      await page.locator(".requests tbody tr").first().waitFor();
      await context.setOffline(true);
      await page.getByText("Reconnecting…").first().waitFor();
      expect(await page.locator(".requests tbody tr").count()).toBeGreaterThan(0);
      await context.setOffline(false);
      await page.getByText("Reconnecting…").first().waitFor({ state: "detached" });
    });

    test("says on every page that credits are out, and a top-up fixes it", async () => {
      const balance = (await (await gateway().api("GET", "/api/credits")).json()) as { availableUsd: string };
      await gateway().api("POST", "/api/credits/adjustments", { amountUsd: `-${balance.availableUsd}` });
      const entries = async (): Promise<unknown> => (await gateway().api("GET", "/api/ledger?limit=500")).json();
      const before = await entries();
      const refused = await gateway().post("/v1/chat/completions", HELLO_BODY);
      await expectError(refused, { status: 402, type: "billing_error" });
      expect(await entries()).toEqual(before);
      const { page } = await visit("/models");
      await page.getByRole("alert").getByRole("link", { name: "Add credits" }).click();
      await page.getByLabel("Amount, USD").fill("3");
      await page.getByRole("button", { name: "Add $3" }).click();
      await page.getByText("$3.00 added.").waitFor();
      expect((await gateway().post("/v1/chat/completions", HELLO_BODY)).status).toBe(200);
    });
  });
});
