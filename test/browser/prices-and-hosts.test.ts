// Prices, local servers and hosts in the dashboard: adopting with one press, what a model's hosts look like, and a
// profile that keeps its order of hosts.

import { afterAll, describe, expect, test } from "vitest";
import { answers, sends, startFakeProvider } from "../support/providers/fake-provider.ts";
import { startFakeOllama } from "../support/providers/local-servers.ts";
import { faultsOf } from "./axe.ts";
import { beyondWindow, hasBrowser, settled, show, startDashboard } from "./dashboard.ts";

const rowOf = (input: number) => ({
  ...{ litellm_provider: "groq", mode: "chat", input_cost_per_token: input, output_cost_per_token: 3e-6 },
});
const LIST = { "groq/alpha": rowOf(2e-6), "groq/in-file": rowOf(5e-6), "groq/newer": rowOf(4e-6) };
const OFFERED = { object: "list", data: ["alpha", "in-file", "newer", "unknown"].map((id) => ({ id })) };

/** The list with a price that a model without one could have. */
const FIRST = { ...LIST, "groq/unknown": rowOf(2e-6) };
/** Another feed, with another price for alpha than the list, and a price that begins one day. */
const DATED = { constraint: { start_date: "2999-01-01" }, prices: { input_mtok: 1.25, output_mtok: 3 } };
const PRICES = [{ prices: { input_mtok: 1.5, output_mtok: 3 } }, DATED];
const SECOND = [{ id: "groq", name: "Groq", models: [{ id: "alpha", prices: PRICES }] }];

const offers = sends(200, OFFERED);
const servers = hasBrowser
  ? await Promise.all([
      startFakeProvider((exchange) => (exchange.request.raw === "" ? offers : answers("ok"))(exchange)),
      startFakeProvider((exchange) => (exchange.request.raw === "" ? sends(404, {}) : answers("ok"))(exchange)),
      startFakeProvider(sends(200, LIST)),
      startFakeOllama({ "qwen3:8b": { capabilities: ["completion", "tools"], parameters: "num_ctx 8192" } }),
      startFakeProvider(sends(200, FIRST)),
      startFakeProvider(sends(200, SECOND)),
      startFakeProvider(sends(200, LIST, { "last-modified": "Thu, 05 Nov 2020 08:00:00 GMT" })),
    ])
  : null;
afterAll(() => Promise.all((servers ?? []).map((server) => server.close())));
const [groq, other, list, ollama, first, second, old] = servers ?? [];

const tiers = ["NANO", "SIMPLE", "LIGHT", "STANDARD", "COMPLEX"].map((tier) => `${tier}: [in-file]`).join(", ");
const yaml = [
  "catalog: none",
  `providers: { groq: { kind: openai, baseUrl: "${groq?.url}", apiKey: a }, other: { kind: openai, baseUrl: "${other?.url}", apiKey: b } }`,
  "models:",
  "  - { id: in-file, price: { input: 1, output: 3 }, hosts: [{ provider: groq }, { provider: other, upstream: in-file-fp8, price: { input: 0.5, output: 2 }, region: Frankfurt }] }",
  `tiers: { ${tiers} }`,
].join("\n");

const TYPED = { input: "0.25", output: "1.5", cacheRead: "0.05" };

const PHONE = { viewport: { width: 390, height: 800 } };

describe.skipIf(!hasBrowser)("in the dashboard", () => {
  const { gateway, visit } = startDashboard({ yaml, env: { SWITCHYARD_PRICES_URL: list?.url ?? "" } });
  const read = async (path: string) => (await gateway().api("GET", path)).json();

  test("prices that differ and models without a price are adopted with one press", async () => {
    await gateway().api("POST", "/api/models", { id: "alpha", provider: "groq", price: { input: 1, output: 3 } });
    const { page, troubles } = await visit("/providers?tab=prices");
    await page.getByText(/Checked never/).waitFor();
    await page.getByRole("button", { name: "Check now" }).click();
    const row = page.getByRole("row", { name: /^alpha/ });
    await row.getByText("$2.00 / $3.00").waitFor();
    await row.getByText("100%").waitFor();
    await page
      .getByRole("row", { name: /^in-file/ })
      .getByText(/^Set by/)
      .waitFor();
    for (const theme of ["light", "dark"] as const) expect(await faultsOf(page, theme, "#main")).toEqual([]);
    await row.getByRole("button", { name: "Adopt alpha" }).click();
    await page.getByText("Adopted.").waitFor();
    await expect.poll(() => row.count()).toBe(0);

    await page.getByRole("button", { name: "Adopt newer" }).click();
    await expect.poll(() => page.getByRole("button", { name: "Adopt newer" }).count()).toBe(0);
    expect(troubles).toEqual([]);
  });

  test("a model that no list prices is found by its words and gets the price that is typed", async () => {
    const { page, troubles } = await visit("/providers?tab=prices");
    const adopt = page.getByRole("button", { name: /^Adopt / });
    await page.getByLabel("Search models").fill("no such model");
    await expect.poll(() => adopt.count()).toBe(0);
    await page.getByLabel("Search models").fill("unkn GROQ");
    await expect.poll(() => adopt.count()).toBe(1);
    const price = (side: string) => page.getByLabel(`Price of ${side} of unknown`);
    const before = (await read("/api/configuration")).version;
    // The browser refuses what is missing or out of bounds, so nothing is sent.
    for (const [side, figure] of [
      ["output", ""],
      ["input", "-1"],
      ["input", "10001"],
      ["cacheRead", "0.0000001"],
    ] as const) {
      for (const [name, good] of Object.entries(TYPED)) await price(name).fill(good);
      await price(side).fill(figure);
      await adopt.click();
      await price(side).and(page.locator(":invalid")).waitFor();
    }
    expect((await read("/api/configuration")).version).toBe(before);
    for (const [name, good] of Object.entries(TYPED)) await price(name).fill(good);
    await adopt.click();
    await page.getByText("Every model that your providers list has a price.").waitFor();
    const { data } = await read("/api/models");
    const prices = Object.fromEntries(
      data.map(({ id, pricing, priceSource }: { id: string; pricing: { prompt: string }; priceSource: string }) => [
        id,
        [pricing.prompt, priceSource],
      ]),
    );
    const { models } = (await read("/api/configuration")).document;
    expect(models.find(({ id }: { id: string }) => id === "unknown").price).toEqual({
      ...{ input: 0.25, output: 1.5, cacheRead: 0.05 },
    });
    expect(prices).toMatchObject({
      alpha: ["0.0000021", "LiteLLM"],
      newer: ["0.0000042", "LiteLLM"],
      unknown: ["0.0000002625", "run-time configuration"],
    });
    expect(troubles).toEqual([]);
  });

  test("a server on this machine is found at its address and used at no price", async () => {
    const { page, troubles } = await visit("/providers", PHONE);
    await page.getByRole("button", { name: "Look for local servers" }).click();
    const dialog = page.getByRole("dialog", { name: "Local servers" });
    await dialog.getByLabel("Address").fill(ollama?.address ?? "");
    await dialog.getByRole("button", { name: "Look" }).click();
    const server = dialog.getByRole("region", { name: "Ollama" });
    await server.getByText("8,192 tokens").waitFor();
    expect(await faultsOf(page, "light", "dialog[open]")).toEqual([]);
    await server.getByRole("button", { name: "Use 1 model at $0" }).click();
    await page.getByText("Ollama connected.").waitFor();
    await page.getByRole("heading", { name: /^ollama/ }).waitFor();
    expect(await beyondWindow(page)).toBeLessThanOrEqual(0);
    const { data } = await read("/api/models");
    expect(data.find(({ id }: { id: string }) => id === "qwen3:8b")).toMatchObject({ isRoutable: true });
    await show(page, "/providers?tab=prices");
    await page.getByText("Prices that differ").first().waitFor();
    await settled(page);
    expect(await beyondWindow(page)).toBeLessThanOrEqual(0);
    expect(troubles).toEqual([]);
  });

  test("a model shows its hosts with price, health and speed", async () => {
    const direct = { model: "in-file", service_profile: "direct", messages: [{ role: "user", content: "Hi" }] };
    // A speed is shown once five answers have been observed.
    for (let count = 0; count < 5; count += 1)
      await (await gateway().post("/v1/chat/completions", { ...direct, stream: true })).text();
    const { page, troubles } = await visit("/models?model=in-file");
    const hosts = page.getByRole("table", { name: "Hosts" });
    const cheaper = hosts.getByRole("row", { name: /^other in-file-fp8, Frankfurt/ });
    await cheaper.getByText("$0.525 / $2.10").waitFor();
    await cheaper.getByText("Healthy").waitFor();
    await hosts.getByRole("row", { name: /^groq/ }).getByText("$1.05 / $3.15").waitFor();
    await cheaper.getByText(/ms|s$/).first().waitFor();
    expect(await faultsOf(page, "dark", ".sheet")).toEqual([]);
    expect(troubles).toEqual([]);
  });

  test("a profile keeps its order of hosts when something else is saved, and gets another one", async () => {
    const made = await gateway().api("POST", "/api/profiles", { name: "fast lane", hostOrder: "fastest" });
    const { id } = (await made.json()) as { id: string };
    const { page } = await visit(`/profiles/${id}`);
    await page.getByLabel("Name", { exact: true }).fill("faster lane");
    await page.getByRole("button", { name: "Save profile" }).click();
    await page.getByText("“faster lane” saved.").waitFor();
    expect(await read(`/api/profiles/${id}`)).toMatchObject({ name: "faster lane", hostOrder: "fastest" });
    await page.getByLabel("Host order").selectOption("balanced");
    await page.getByText("host order: fastest → balanced").waitFor();
    await page.getByRole("button", { name: "Save profile" }).click();
    await expect.poll(async () => (await read(`/api/profiles/${id}`)).hostOrder).toBe("balanced");
    // The page must know it too: until then it would put back what is chosen next.
    await page.getByText("host order: fastest → balanced").waitFor({ state: "detached" });
    await page.getByLabel("Host order").selectOption("As configured");
    await page.getByRole("button", { name: "Save profile" }).click();
    await expect.poll(async () => (await read(`/api/profiles/${id}`)).hostOrder).toBe(null);
  });
});

describe.skipIf(!hasBrowser)("with two feeds that differ", () => {
  const env = {
    SWITCHYARD_PRICES_CHECK: "daily",
    SWITCHYARD_PRICES_CHECK_HOURS: "0",
    SWITCHYARD_PRICES_URL: first?.url ?? "",
    SWITCHYARD_PRICES_GENAI_URL: second?.url ?? "",
    SWITCHYARD_PRICES_OPENROUTER_URL: old?.url ?? "",
  };
  const { gateway, visit } = startDashboard({ yaml, env });

  test("provisional and announced prices are shown, a stale feed is named, and one feed's price is adopted", async () => {
    const alpha = { id: "alpha", provider: "groq", price: { input: 1, output: 3 }, priceSource: "LiteLLM" };
    await gateway().api("POST", "/api/models", alpha);
    const { page, troubles } = await visit("/providers?tab=prices");
    await page.getByRole("button", { name: "Check now" }).click();
    await page.getByText(/^OpenRouter changed .* It has no vote on prices until it changes\.$/).waitFor();
    const provisional = page.locator("section", {
      has: page.getByRole("heading", { name: "Provisional models" }),
    });
    await provisional.getByText("unknown").waitFor();
    await provisional.getByText("$2.00 / $3.00").waitFor();
    const disputed = page.getByRole("row", { name: /^alpha groq (?!from)/ });
    await disputed.getByText("the feeds disagree").waitFor();
    for (const theme of ["light", "dark"] as const) expect(await faultsOf(page, theme, "#main")).toEqual([]);
    await disputed.getByRole("button", { name: "Adopt alpha from LiteLLM" }).waitFor();
    await disputed.getByRole("button", { name: "Adopt alpha from genai-prices" }).click();
    const priceOf = async () => {
      const { data } = await (await gateway().api("GET", "/api/models")).json();
      const { pricing, priceSource } = data.find(({ id }: { id: string }) => id === "alpha");
      return [pricing.prompt, priceSource];
    };
    await expect.poll(priceOf).toEqual(["0.000001575", "genai-prices"]);
    const announced = page.getByRole("row", { name: /^alpha groq from 2999-01-01/ });
    await announced.getByText("only one feed has it").waitFor();
    await announced.getByRole("button", { name: "Adopt alpha from 2999-01-01" }).click();
    await expect.poll(() => announced.count()).toBe(0);
    const { document } = await (await gateway().api("GET", "/api/configuration")).json();
    expect(document.models.find(({ id }: { id: string }) => id === "alpha").price).toMatchObject({
      ...{ input: 1.5, changes: [{ from: "2999-01-01", input: 1.25 }] },
    });
    expect(troubles).toEqual([]);
  });
});
