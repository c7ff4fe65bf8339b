// The providers page: connecting with a key, testing an address before it is saved, ordering chains, and going back.

import { afterAll, describe, expect, test } from "vitest";
import { startFakeOllama } from "../support/providers/local-servers.ts";
import { faultsOf } from "./axe.ts";
import { hasBrowser, sendTraffic, startDashboard } from "./dashboard.ts";

const ollama = hasBrowser ? await startFakeOllama({ "qwen3:8b": {} }) : null;
afterAll(() => ollama?.close());

/** Where the name of a model stands in its row. */
const BY_NAME = { x: 24, y: 15 };

describe.skipIf(!hasBrowser)("the providers page", () => {
  const { gateway, visit } = startDashboard();

  test("connects a vendor with its key, which is never shown again, and removes it", async () => {
    const { page, troubles } = await visit("/providers");
    await page.getByText("No provider connected").waitFor();
    await page.getByRole("button", { name: /^Groq/ }).click();
    const dialog = page.getByRole("dialog", { name: "Connect Groq" });
    await dialog.getByLabel("API key").fill("gsk_a-secret-for-groq-7531");
    expect(await faultsOf(page, "light", "dialog[open]")).toEqual([]);
    await dialog.getByRole("button", { name: "Connect" }).click();
    const card = page.getByRole("listitem").filter({ has: page.getByRole("heading", { name: /^Groq/ }) });
    await card.getByText("…7531").waitFor();
    await card.getByText("Data: Not kept").waitFor();
    expect(await page.content()).not.toContain("gsk_a-secret");
    // A second key with another weight, and the first switched off.
    await card.getByRole("button", { name: "Keys of Groq" }).click();
    const keys = page.getByRole("dialog", { name: "Keys of Groq" });
    // The only key cannot be removed without a word.
    await keys.getByRole("button", { name: "Remove key 1" }).click();
    await keys.getByText("Keep one, or remove the provider.").waitFor();
    await expect.poll(() => keys.getByRole("button", { name: "Save" }).isDisabled()).toBe(true);
    await page.keyboard.press("Escape");
    await card.getByRole("button", { name: "Keys of Groq" }).click();
    await keys.getByRole("button", { name: "Add key" }).click();
    await keys.getByLabel("Key 2", { exact: true }).fill("gsk_a-second-for-groq-8642");
    await keys.getByLabel("Weight of key 2").fill("3");
    await keys.getByLabel("Weight of key 1").fill("0");
    expect(await faultsOf(page, "dark", "dialog[open]")).toEqual([]);
    await keys.getByRole("button", { name: "Save" }).click();
    await card.getByText("…8642").waitFor();
    await card.getByText("× 0").waitFor();
    const { data } = await (await gateway().api("GET", "/api/providers")).json();
    expect(data[0].configured.apiKeys).toMatchObject([{ key: { lastFour: "7531" }, weight: 0 }, { weight: 3 }]);
    // The sandbox ended with the first provider.
    await page.locator(".top").getByText("Sandbox").first().waitFor({ state: "detached" });
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

  test("connects a server without a key, and removes the only key of one", async () => {
    // The first provider needs models.
    await gateway().api("POST", "/api/providers", { id: "groq", apiKey: "gsk_another-for-groq-1" });
    const { page, troubles } = await visit("/providers");
    await page.getByRole("button", { name: /^Other server/ }).click();
    const dialog = page.getByRole("dialog", { name: "Connect another server" });
    await dialog.getByLabel("Id").fill("own");
    await dialog.getByLabel("Base URL").fill(`${ollama?.address}/v1`);
    await dialog.getByRole("button", { name: "Test" }).click();
    await dialog.getByText(/^Connected: \d+ model/).waitFor();
    await dialog.getByRole("button", { name: "Connect" }).click();
    const card = page.getByRole("listitem").filter({ has: page.getByRole("heading", { name: /^own/ }) });
    await card.getByRole("button", { name: "Keys of own" }).click();
    const keys = page.getByRole("dialog", { name: "Keys of own" });
    await keys.getByText("Requests are sent without a key.").waitFor();
    await keys.getByLabel("Key 1", { exact: true }).fill("own-secret-of-2468");
    await keys.getByRole("button", { name: "Save" }).click();
    await card.getByText("…2468").waitFor();
    await card.getByRole("button", { name: "Keys of own" }).click();
    await keys.getByRole("button", { name: "Remove key 1" }).click();
    await keys.getByText("Requests are sent without a key.").waitFor();
    await keys.getByRole("button", { name: "Save" }).click();
    await card.getByText("…2468").waitFor({ state: "detached" });
    const { document } = await (await gateway().api("GET", "/api/configuration")).json();
    expect(document.providers.own).toEqual({ kind: "openai", baseUrl: `${ollama?.address}/v1` });
    await gateway().api("POST", "/api/versions/0/rollback");
    expect(troubles).toEqual([]);
  });

  test("connects an Azure resource with its deployments", async () => {
    const { page } = await visit("/providers");
    await page.getByRole("button", { name: /^Azure OpenAI/ }).click();
    const dialog = page.getByRole("dialog", { name: "Connect Azure OpenAI" });
    await dialog.getByLabel("Base URL").fill("https://lab.openai.azure.com");
    await dialog.getByLabel("API version").fill("2024-10-21");
    await dialog.getByLabel("Deployments").fill("gpt-4.1 = prod-1");
    await dialog.getByLabel("API key").fill("azure-key-0123456789");
    await dialog.getByRole("button", { name: "Connect" }).click();
    const azure = page.getByRole("listitem").filter({ has: page.getByRole("heading", { name: /^azure-openai/ }) });
    await azure.getByText("Region: As deployed").waitFor();
    // Another resource without deployments has no models, and its tile says what to do.
    await gateway().api("POST", "/api/providers", {
      id: "azure-eu",
      kind: "azure",
      baseUrl: "https://eu.openai.azure.com",
    });
    await page.getByText("azure-eu has no models: list its deployments under providers.azure-eu.deployments").waitFor();
    const { document } = await (await gateway().api("GET", "/api/configuration")).json();
    expect(document.providers["azure-openai"]).toMatchObject({
      ...{ kind: "azure", apiVersion: "2024-10-21", deployments: { "gpt-4.1": "prod-1" } },
    });
    await gateway().api("POST", "/api/versions/0/rollback");
  });

  test("orders a chain with the replay beside it, publishes it, and rolls it back", async () => {
    await sendTraffic(gateway());
    const { page, troubles } = await visit("/providers?tab=chains");
    const chain = page.getByRole("region", { name: "Chain of SIMPLE", exact: true });
    const first = async (): Promise<string> => chain.getByRole("listitem").first().innerText();
    await chain.getByRole("listitem").first().waitFor();
    await page.getByText("Change something to see its effect").waitFor();
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
    expect(await faultsOf(page, "light", "#main")).toEqual([]);
    await page.getByRole("button", { name: "Publish" }).click();
    await page.getByText("Published.").waitFor();
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

  test("gives a tier its chain for tools, keeps it under another chain, and takes it away", async () => {
    const { page, troubles } = await visit("/providers?tab=chains");
    const usual = page.getByRole("region", { name: "Chain of SIMPLE", exact: true });
    const tools = page.getByRole("region", { name: "Chain of SIMPLE with tools" });
    const one = usual.getByRole("button", { name: "One chain for all requests in SIMPLE" });
    await usual.getByRole("listitem").first().waitFor();
    const separate = usual.getByRole("button", { name: "Separate chain for tools in SIMPLE" });
    // The tiers that ship have one.
    await one.click();
    await separate.click();
    await tools
      .getByRole("button", { name: /^Move .* down/ })
      .first()
      .click();
    const usualDown = usual.getByRole("button", { name: /^Move .* down in SIMPLE$/ }).first();
    await usualDown.click();
    await page.getByText("Unpublished changes: SIMPLE, SIMPLE with tools").waitFor();
    await page.getByRole("button", { name: "Publish" }).click();
    await page.getByText("Published.").waitFor();
    const written = async () => (await (await gateway().api("GET", "/api/configuration")).json()).document;
    const { tiers, tiersWithTools } = await written();
    expect([tiers.SIMPLE.length > 1, tiersWithTools.SIMPLE.length > 1]).toEqual([true, true]);
    await one.click();
    await page.getByText("Unpublished changes: SIMPLE with tools").waitFor();
    await page.getByRole("button", { name: "Publish" }).click();
    await separate.waitFor();
    await expect.poll(async () => (await written()).tiersWithTools).toEqual({ SIMPLE: [] });
    await gateway().api("POST", "/api/versions/0/rollback");
    expect(troubles).toEqual([]);
  });

  test("changes a routing rule with the replay beside it, and shows what is refused", async () => {
    const { page, troubles } = await visit("/providers?tab=chains");
    await page.getByText("Routing rules").click();
    const markup = page.getByLabel("markup", { exact: true });
    await markup.fill("-1");
    await page.getByText("Unpublished changes: markup").waitFor();
    await page.getByRole("button", { name: "Publish" }).click();
    await page
      .getByText(/routing\.markup: .*-1/)
      .first()
      .waitFor();
    await markup.fill("0.5");
    const replay = page.getByRole("region", { name: "Replay" });
    await replay.getByText(/^Last \d+ requests/).waitFor();
    await page.getByLabel("hostOrder", { exact: true }).fill("balanced");
    await page.getByText("Unpublished changes: markup, hostOrder").waitFor();
    await page.getByRole("button", { name: "Publish" }).click();
    await page.getByText("Published.").waitFor();
    const { document } = await (await gateway().api("GET", "/api/configuration")).json();
    expect(document.routing).toEqual({ markup: 0.5, hostOrder: "balanced" });
    await gateway().api("POST", "/api/versions/0/rollback");
    // What a refusal answers with is the only thing that the browser reports.
    expect(troubles.filter((trouble) => !trouble.includes("422"))).toEqual([]);
  });

  test("drags a model to another place of its chain", async () => {
    const { page } = await visit("/providers?tab=chains");
    const items = page.getByRole("region", { name: "Chain of STANDARD", exact: true }).getByRole("listitem");
    await items.first().waitFor();
    const [moved, other] = [await items.nth(0).innerText(), await items.nth(1).innerText()];
    // By its name: the effort beside it has a menu of its own.
    await items.nth(0).dragTo(items.nth(1), { sourcePosition: BY_NAME, targetPosition: BY_NAME });
    await expect.poll(() => items.nth(1).innerText()).toContain(moved.split("\n")[0]?.slice(3) ?? "");
    await expect.poll(() => items.nth(0).innerText()).toContain(other.split("\n")[0]?.slice(3) ?? "");
  });
});
