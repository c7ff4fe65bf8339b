// A newcomer with a model server of their own: from the empty dashboard to its first answer, and back to the sandbox.

import { afterAll, describe, expect, test } from "vitest";
import { answers, fails, sends, startFakeProvider } from "../support/providers/fake-provider.ts";
import { startFakeOllama, startFakeVllm } from "../support/providers/local-servers.ts";
import { faultsOf } from "./axe.ts";
import { hasBrowser, startDashboard } from "./dashboard.ts";

const KEY = "own-secret-of-2468";
const LIST = { object: "list", data: ["qwen3-8b", "small-one"].map((id) => ({ id, max_model_len: 32_768 })) };

const servers = hasBrowser
  ? await Promise.all([
      startFakeProvider((exchange) => {
        const { headers, path } = exchange.request;
        if (headers.authorization !== `Bearer ${KEY}`) return fails(401, { message: "Unauthorized" })(exchange);
        if (path.startsWith("/wrong")) return fails(404)(exchange);
        return (path.endsWith("/models") ? sends(200, LIST) : answers("from my own server"))(exchange);
      }),
      startFakeOllama({ "qwen3:8b": { capabilities: ["completion", "tools"], parameters: "num_ctx 8192" } }),
      startFakeVllm({ "lab-8b": 32_768 }),
    ])
  : null;
afterAll(() => Promise.all((servers ?? []).map((server) => server.close())));
const [own, ollama, vllm] = servers ?? [];

describe.skipIf(!hasBrowser)("a server of one's own", () => {
  const { gateway, visit } = startDashboard({ creditsUsd: null });
  const read = async (path: string) => (await gateway().api("GET", path)).json();

  test("is the first provider: listed, chosen, priced and asked, without a file", async () => {
    const { page, troubles } = await visit("/", { isNewcomer: true });
    await page.getByLabel("Provider", { exact: true }).selectOption("Other server");
    const form = page.locator(".vendor-form");
    await form.getByLabel("Id", { exact: true }).fill("own");
    await form.getByLabel("Base URL").fill(own?.url ?? "");
    // Without models, the first press asks for the list. Nothing is saved.
    await form.getByRole("button", { name: "Connect" }).click();
    await form.getByText("own asks for a key (401).").waitFor();
    await form.getByLabel("API key").fill(KEY);
    await form.getByRole("button", { name: "Test" }).click();
    await form.getByText(/^Connected: \d+ model/).waitFor();
    const models = form.getByLabel("Models", { exact: true });
    await expect.poll(() => models.inputValue()).toBe("qwen3-8b\nsmall-one");
    expect((await read("/api/configuration")).version).toBe(0);
    for (const theme of ["light", "dark"] as const) expect(await faultsOf(page, theme, "#main")).toEqual([]);
    await models.fill("qwen3-8b");
    await form.getByLabel("Output price").fill("0.25");
    await form.getByLabel("vision").check();
    await form.getByRole("button", { name: "Connect" }).click();
    await page.getByText("own connected.").waitFor();

    await page.getByRole("button", { name: "Send a test request" }).click();
    await page.getByText(/^Received:.*→ qwen3-8b/).waitFor();
    expect(own?.requests.at(-1)).toMatchObject({ path: "/v1/chat/completions", body: { model: "qwen3-8b" } });
    const { document } = await read("/api/configuration");
    expect(document.models).toMatchObject([
      {
        ...{ id: "qwen3-8b", provider: "own", context: 32_768, price: { input: 0, output: 0.25 } },
        capabilities: ["tools", "vision", "json"],
      },
    ]);
    await page.goto(`${gateway().url}/providers?tab=chains`);
    for (const tier of ["NANO", "COMPLEX"]) {
      await page
        .getByRole("region", { name: `Chain of ${tier}`, exact: true })
        .getByText("Empty: STANDARD is used.")
        .waitFor();
    }
    expect(troubles).toEqual([]);
  });

  test("goes with its models, and another kind describes its own", async () => {
    const { page, troubles } = await visit("/providers");
    await page.getByRole("button", { name: "Remove own" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
    await page.getByText("No provider connected").waitFor();
    await page.getByRole("button", { name: /^Other server/ }).click();
    const dialog = page.getByRole("dialog", { name: "Connect another server" });
    await dialog.getByLabel("Id").fill("mine");
    await dialog.getByLabel("API", { exact: true }).selectOption("Ollama");
    await dialog.getByLabel("Base URL").fill(ollama?.address ?? "");
    await dialog.getByRole("button", { name: "Connect" }).click();
    await expect.poll(() => dialog.getByLabel("Models").inputValue()).toBe("qwen3:8b");
    expect(await dialog.getByLabel("tools").isChecked()).toBe(true);
    expect(await dialog.getByLabel("vision").isChecked()).toBe(false);
    await dialog.getByRole("button", { name: "Connect" }).click();
    const card = page.getByRole("listitem").filter({ has: page.getByRole("heading", { name: /^mine/ }) });
    await card.getByRole("link", { name: "1 model" }).waitFor();
    const { document } = await read("/api/configuration");
    expect(document.providers).toEqual({ mine: { kind: "ollama", baseUrl: ollama?.address } });
    expect(document.models).toMatchObject([{ context: 8192, capabilities: ["tools", "json"] }]);
    expect(troubles).toEqual([]);
  });

  test("says which field is wrong, keeps what a test says nothing about, and is edited without being removed", async () => {
    const { page, troubles } = await visit("/providers");
    await page.getByRole("button", { name: /^Other server/ }).click();
    const dialog = page.getByRole("dialog", { name: "Connect another server" });
    await dialog.getByLabel("Id").fill("My Lab Server");
    await dialog.getByLabel("Base URL").fill("127.0.0.1:8000/v1");
    await dialog.getByRole("button", { name: "Test" }).click();
    await dialog.getByText("Use lower-case letters, digits and hyphens").waitFor();
    await dialog.getByText("Begin with http:// or https://").waitFor();
    await dialog.getByLabel("Id").fill("gpu");
    await dialog.getByLabel("Base URL").fill(`${vllm?.address}/v1`);
    await dialog.getByRole("button", { name: "Test" }).click();
    await dialog.getByText("vLLM doesn't tell if it takes tools.").waitFor();
    for (const name of ["tools", "json"]) expect(await dialog.getByLabel(name).isChecked()).toBe(true);
    await dialog.getByRole("button", { name: "Connect" }).click();
    await page.getByRole("button", { name: "Edit gpu" }).click();
    const edit = page.getByRole("dialog", { name: "Edit gpu" });
    await edit.getByLabel("Output price").fill("0.5");
    await edit.getByLabel("vision").check();
    await edit.getByRole("button", { name: "Add model" }).click();
    await edit.getByLabel("Name at the server").last().fill("lab-70b");
    for (const theme of ["light", "dark"] as const) expect(await faultsOf(page, theme, "dialog[open]")).toEqual([]);
    await edit.getByRole("button", { name: "Save" }).click();
    await page.getByText("gpu changed.").waitFor();
    const price = { input: 0, output: 0.5 };
    const { version, document } = await read("/api/configuration");
    expect(document.models.filter(({ provider }: { provider: string }) => provider === "gpu")).toMatchObject([
      { id: "lab-8b", context: 32_768, price, capabilities: ["tools", "vision", "json"] },
      { id: "lab-70b", price, capabilities: ["tools", "vision", "json"] },
    ]);
    await page.getByRole("button", { name: "Edit gpu" }).click();
    await edit.getByRole("button", { name: "Remove lab-8b" }).click();
    await edit.getByRole("button", { name: "Save" }).click();
    await expect.poll(async () => (await read("/api/configuration")).version).toBe(version + 1);
    const models = (await read("/api/configuration")).document.models as { id: string }[];
    expect(models.map(({ id }) => id)).not.toContain("lab-8b");
    expect(troubles).toEqual([]);
  });

  test("beside a vendor: its tile says that no chain has its models, and leads there", async () => {
    await gateway().api("POST", "/api/providers", { id: "openai", apiKey: "sk-0123456789" });
    const { page, troubles } = await visit("/providers");
    await page.getByRole("button", { name: /^Other server/ }).click();
    const dialog = page.getByRole("dialog", { name: "Connect another server" });
    await dialog.getByLabel("Id").fill("beside");
    await dialog.getByLabel("API key").fill(KEY);
    // A wrong address lists nothing, so it is not connected however often that is asked for.
    await dialog.getByLabel("Base URL").fill((own?.url ?? "").replace("/v1", "/wrong"));
    for (let presses = 1; presses <= 2; presses += 1) {
      await dialog.getByRole("button", { name: "Connect" }).click();
      await dialog.getByText(/^beside lists no models at .*\/wrong\./).waitFor();
      await expect.poll(() => own?.requests.filter(({ path }) => path === "/wrong/models").length).toBe(presses);
    }
    await dialog.getByLabel("Base URL").fill(own?.url ?? "");
    await dialog.getByLabel("Models").fill("small-one");
    await dialog.getByRole("button", { name: "Connect" }).click();
    const card = (name: RegExp) => page.getByRole("listitem").filter({ has: page.getByRole("heading", { name }) });
    const line = (name: RegExp) =>
      card(name).getByText("No request is routed here until you add its models in Chains.");
    await line(/^beside/).waitFor();
    await line(/^OpenAI/).waitFor({ state: "detached" });
    await line(/^beside/)
      .getByRole("link")
      .click();
    await page.getByLabel("Add a model to SIMPLE", { exact: true }).selectOption("small-one");
    await page.getByRole("button", { name: "Publish" }).click();
    await page.getByText("Published.").waitFor();
    await page.getByRole("tab", { name: "Providers" }).click();
    await card(/^beside/)
      .getByRole("link", { name: "1 model" })
      .waitFor();
    await line(/^beside/).waitFor({ state: "detached" });
    expect(troubles).toEqual([]);
  });
});
