// Connecting a cloud on the providers page, wide and narrow: the test names whom the cloud sees and which models it has.

import { afterAll, beforeEach, describe, expect, test, vi } from "vitest";
import { ENABLED, IDENTITY, startAccount } from "../support/providers/clouds/account.ts";
import { SECRET } from "../support/providers/clouds/bedrock-gateway.ts";
import { faultsOf } from "./axe.ts";
import { hasBrowser, startDashboard } from "./dashboard.ts";

const aws = hasBrowser ? await startAccount([SECRET]) : null;
const origin = aws === null ? "" : new URL(aws.url).origin;
beforeEach(() => void vi.stubEnv("AWS_ENDPOINT_URL_STS", origin));
afterAll(() => aws?.close());

const NARROW = { width: 390, height: 800 };

describe.skipIf(!hasBrowser)("a cloud", () => {
  const { gateway, visit } = startDashboard();

  test.each([1280, NARROW.width])("is tested and connected at %s pixels", async (width) => {
    const { page, troubles } = await visit("/providers", { viewport: { ...NARROW, width } });
    await page.getByRole("button", { name: /^Amazon Bedrock/ }).click();
    const dialog = page.getByRole("dialog", { name: "Connect Amazon Bedrock" });
    await dialog.getByLabel("Region").fill("eu-central-1");
    await dialog.getByText("Another identity or address").click();
    await dialog.getByLabel("Address", { exact: true }).fill(origin);
    const { accessKeyId, secretAccessKey, sessionToken } = SECRET;
    await dialog.getByLabel("Key", { exact: true }).fill(`${accessKeyId}:${"x".repeat(40)}:${sessionToken}`);
    await dialog.getByRole("button", { name: "Test" }).click();
    await dialog.getByText("the signature does not match").first().waitFor();
    await dialog.getByLabel("Key", { exact: true }).fill(`${accessKeyId}:${secretAccessKey}:${sessionToken}`);
    await dialog.getByRole("button", { name: "Test" }).click();
    await dialog.getByText(`Signed in as ${IDENTITY}. Region eu-central-1.`).waitFor();
    await dialog.getByText("Available to this account: nova-micro.").waitFor();
    await dialog.getByText("eu.amazon.nova-pro-v1:0: not listed for this account and region").waitFor();
    expect(await faultsOf(page, "light", "dialog[open]")).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
    expect(await dialog.evaluate((element) => element.scrollWidth <= element.clientWidth)).toBe(true);
    await dialog.getByRole("button", { name: "Connect" }).click();
    const card = page.getByRole("listitem").filter({ has: page.getByRole("heading", { name: /^bedrock/ }) });
    await card.getByRole("button", { name: "Test bedrock" }).click();
    await card.getByText(`Signed in as ${IDENTITY}`).waitFor();
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
    expect(ENABLED).toContain("nova-micro");
    const { document } = await (await gateway().api("GET", "/api/configuration")).json();
    expect(document.providers.bedrock).toMatchObject({ kind: "bedrock-converse", region: "eu-central-1" });
    expect(JSON.stringify(document)).not.toContain(secretAccessKey);
    await gateway().api("POST", "/api/versions/0/rollback");
    expect(troubles).toEqual([]);
  });

  test("at Google asks for the project, and says that the machine has no identity", async () => {
    vi.stubEnv("GCE_METADATA_HOST", "127.0.0.1:1");
    const { page } = await visit("/providers");
    await page.getByRole("button", { name: /^Google Vertex AI/ }).click();
    const dialog = page.getByRole("dialog", { name: "Connect Google Vertex AI" });
    await dialog.getByLabel("Project").fill("my-project");
    await expect.poll(() => dialog.getByLabel("Region").inputValue()).toBe("global");
    await dialog.getByRole("button", { name: "Test" }).click();
    await dialog.getByText("Sign-in failed: 127.0.0.1:1 could not be reached").waitFor();
    expect(await faultsOf(page, "dark", "dialog[open]")).toEqual([]);
  });
});
