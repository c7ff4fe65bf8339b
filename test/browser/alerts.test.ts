// The Alerts page: a target is made, tested, changed and deleted, and the feed says what happened.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Observation } from "../../src/core/alerts/kinds.ts";
import { createAlertEventStore } from "../../src/store/alerts/events.ts";
import { openDb } from "../../src/store/db.ts";
import { type Receiver, startReceiver } from "../support/network/receiver.ts";
import { faultsOf } from "./axe.ts";
import { beyondWindow, hasBrowser, startDashboard } from "./dashboard.ts";

describe.skipIf(!hasBrowser)("the Alerts page", () => {
  const { gateway, visit } = startDashboard({
    database: "file",
    env: { SWITCHYARD_ALERTS_PRIVATE_NETWORK: "true" },
  });
  let receiver: Receiver;
  beforeAll(async () => {
    receiver = await startReceiver();
  });
  afterAll(() => receiver.stop());

  async function raise(observation: Observation): Promise<void> {
    const db = await openDb(gateway().database);
    await createAlertEventStore(db).raise([observation], Date.now());
    await db.close();
  }

  test("a target is made with its secret shown once, tested, told of an event, changed and deleted", async () => {
    const { page, troubles } = await visit("/alerts");
    await page.getByText("Events aren't sent anywhere yet.").waitFor();
    await page.getByText("No events yet").waitFor();
    await page.getByRole("button", { name: "Add target" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill("On call");
    await dialog.getByLabel("Address").fill(`${receiver.url}/hook`);
    await dialog.getByLabel("All kinds of events").uncheck();
    for (const theme of ["light", "dark"] as const) expect(await faultsOf(page, theme, "dialog")).toEqual([]);
    await dialog.getByRole("button", { name: "Save" }).click();
    expect(await dialog.getByLabel("Signing secret").inputValue()).toMatch(/^whsec_/);
    await dialog.getByRole("button", { name: "Done" }).click();

    receiver.answer = (response) => void response.writeHead(500).end("not today");
    await page.getByRole("button", { name: "Test On call" }).click();
    await page.getByText("Test failed (500): not today").waitFor();
    receiver.answer = (response) => void response.writeHead(200).end("thank you");
    await page.getByRole("button", { name: "Test On call" }).click();
    await page.getByText("Test delivered (200). thank you").waitFor();

    const data = { provider: "openai", error: "no answer" };
    await raise({ kind: "provider.down", accountId: null, subject: "openai", data });
    await receiver.whenReceived(3);
    await page.reload();
    await page.getByRole("row", { name: /critical Provider openai is down: no answer/ }).waitFor();
    await page.getByText("Recent messages").click();
    await page.getByText("1 attempt 200 thank you").waitFor();
    for (const width of [320, 390, 1024]) {
      await page.setViewportSize({ width, height: 844 });
      expect(await beyondWindow(page)).toBeLessThanOrEqual(0);
    }
    for (const theme of ["light", "dark"] as const) expect(await faultsOf(page, theme, "#main")).toEqual([]);

    await page.getByRole("button", { name: "Edit On call" }).click();
    await dialog.getByLabel("Hold back all but critical events at these times").check();
    await dialog.getByLabel("From").fill("21:30");
    await dialog.getByRole("button", { name: "Save" }).click();
    await page.getByText("Quiet 21:30 to 07:00").waitFor();
    await page.getByRole("button", { name: "Delete On call" }).click();
    await page.getByText("Events aren't sent anywhere yet.").waitFor();
    expect(troubles).toEqual([]);
  });

  test("what cannot be called is refused in the form", async () => {
    const { page } = await visit("/alerts");
    await page.getByRole("button", { name: "Add target" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Channel").selectOption("email");
    await dialog.getByLabel("Name").fill("Mail");
    await dialog.getByLabel("Email address").fill("ops@example.com");
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.getByText("There is no mail server.").waitFor();
  });
});
