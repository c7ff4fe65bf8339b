// The Outcomes page: how to begin, and what samples say. A profile that takes samples can still be edited.

import { describe, expect, test } from "vitest";
import { join } from "../support/gateway/signed-in.ts";
import { faultsOf } from "./axe.ts";
import { beyondWindow, hasBrowser, show, startDashboard } from "./dashboard.ts";

describe.skipIf(!hasBrowser)("the outcomes page", () => {
  const { gateway, visit } = startDashboard({ yaml: "logging: { content: true }" });

  test("tells how to begin, and then what samples say", async () => {
    const { page, troubles } = await visit("/outcomes");
    await page.getByText("No samples yet").waitFor();
    await page.getByRole("link", { name: "Create profile" }).waitFor();
    const made = await gateway().api("POST", "/api/profiles", { name: "sampled" });
    const { id } = (await made.json()) as { id: string };
    const rule = { model: "claude-opus-4-8", share: 1, budgetUsdPerDay: "5" };
    const stored = async () => (await (await gateway().api("GET", `/api/profiles/${id}`)).json()) as { shadow: object };
    await page.reload();
    await page.getByLabel("Profile", { exact: true }).waitFor();
    expect(await page.getByLabel("Share of requests (%)").inputValue()).toBe("5");
    for (const theme of ["light", "dark"] as const) expect(await faultsOf(page, theme, "#main")).toEqual([]);
    await page.getByRole("button", { name: "Start samples" }).click();
    await page.getByRole("button", { name: "Stop samples" }).waitFor();
    expect((await stored()).shadow).toMatchObject({ share: 0.05, budgetUsdPerDay: "2" });
    // The same on the profile, where samples end and begin again.
    await show(page, `/profiles/${id}`);
    await page.getByText(/^5% of requests also go to .*, at most \$2/).waitFor();
    await page.getByRole("button", { name: "Stop samples" }).click();
    await page.getByLabel("Second model").selectOption(rule.model);
    await page.getByLabel("Share of requests (%)").fill("100");
    await page.getByLabel("At most per day (USD)").fill("5");
    await page.getByRole("button", { name: "Start samples" }).click();
    await page.getByText("100% of requests also go to claude-opus-4-8").waitFor();
    expect((await stored()).shadow).toEqual(rule);
    await show(page, "/outcomes");
    const created = await gateway().api("POST", "/api/keys", { name: "k", profile: id });
    const { key } = (await created.json()) as { key: string };
    const body = { model: "auto", messages: [{ role: "user", content: "What is the capital of France?" }] };
    const headers = { authorization: `Bearer ${key}` };
    await (await gateway().post("/v1/chat/completions", body, headers)).text();
    const samples = async (): Promise<number> => {
      const found = await (await gateway().api("GET", "/api/outcomes")).json();
      return (found as { total: { samples: number } }).total.samples;
    };
    await expect.poll(samples).toBe(1);
    await page.reload();
    await page.getByText("100% of requests also go to claude-opus-4-8").waitFor();
    await page.getByText(/^Not enough data yet/).waitFor();
    await expect.poll(() => page.getByRole("row").count()).toBe(2);
    for (const theme of ["light", "dark"] as const) expect(await faultsOf(page, theme, "#main")).toEqual([]);
    // On a phone the table scrolls, not the page.
    await page.setViewportSize({ width: 390, height: 844 });
    expect(await beyondWindow(page)).toBeLessThanOrEqual(0);
    await page.setViewportSize({ width: 1280, height: 900 });
    await page.getByLabel("Period").selectOption("7");
    await page.getByLabel("Must agree").selectOption("0.95");
    await expect.poll(() => new URL(page.url()).search).toBe("?days=7&bar=0.95");
    await page.getByText(/^Not enough data yet/).waitFor();
    expect(troubles).toEqual([]);
    const listed = (await (await gateway().api("GET", "/api/requests")).json()) as { data: { id: string }[] };
    const request = listed.data[0]?.id as string;
    type Stored = { content: { answer: string }; sample: { answer: string }; feedback: object | null };
    const logged = async () => (await (await gateway().api("GET", `/api/requests/${request}`)).json()) as Stored;
    const { content, sample } = await logged();
    await show(page, `/requests/${request}?tab=payload`);
    const first = page.getByLabel("Response", { exact: true });
    const second = page.getByLabel("Second response, claude-opus-4-8");
    expect([await first.inputValue(), await second.inputValue()]).toEqual([content.answer, sample.answer]);
    type Box = { x: number; y: number; width: number; height: number };
    const places = async () => {
      const [one, two] = (await Promise.all([first.boundingBox(), second.boundingBox()])) as [Box, Box];
      return { isBeside: two.x >= one.x + one.width, isBelow: two.y >= one.y + one.height };
    };
    await expect.poll(places).toEqual({ isBeside: true, isBelow: false });
    await page.setViewportSize({ width: 390, height: 844 });
    await expect.poll(places).toEqual({ isBeside: false, isBelow: true });
    for (const theme of ["light", "dark"] as const) expect(await faultsOf(page, theme, ".sheet")).toEqual([]);
    await page.setViewportSize({ width: 1280, height: 900 });
    await page.getByRole("button", { name: "Report wrong tier" }).click();
    await page.getByLabel("Correct tier").selectOption("COMPLEX");
    await page.getByLabel("Note").fill("needs more");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByRole("button", { name: "Reported: COMPLEX" }).waitFor();
    expect((await logged()).feedback).toMatchObject({ tier: "COMPLEX", note: "needs more" });
    expect(troubles).toEqual([]);
    await show(page, `/profiles/${id}`);
    await page.getByLabel("Name", { exact: true }).fill("renamed");
    await page.getByRole("button", { name: "Save profile" }).click();
    await page.getByRole("heading", { name: "renamed" }).waitFor();
    expect((await stored()).shadow).toEqual(rule);
  });

  test("tells an owner who can start samples, and why", async () => {
    const made = await gateway().api("POST", "/api/profiles", { name: "another" });
    const { id } = (await made.json()) as { id: string };
    const owner = (await join(gateway(), { email: "owner@example.com", role: "owner" })).cookie ?? "";
    const { page, context } = await visit("/", { isSignedIn: false });
    await context.addCookies([{ name: "switchyard_session", value: owner, url: gateway().url }]);
    await page.goto(`${gateway().url}/profiles/${id}`);
    await page.getByText("only an admin can start samples").waitFor();
    expect(await page.getByRole("button", { name: "Start samples" }).count()).toBe(0);
  });
});
