// What is found outside and taken over into the run-time configuration by an operator: models of a server on this machine
// at price zero, and prices of a list by command.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import { models } from "../../../src/cli/models.ts";
import { providers } from "../../../src/cli/providers.ts";
import { startGateway } from "../../support/gateway/gateway.ts";
import { recordTerminal } from "../../support/gateway/terminal.ts";
import { fails, startFakeProvider } from "../../support/providers/fake-provider.ts";
import { startFakeOllama, startFakeVllm } from "../../support/providers/local-servers.ts";

const MESSAGES = [{ role: "user", content: "What is the capital of France?" }];
const WITHIN = { timeout: 60_000, interval: 100 };

function listOf(input: number, more: object = {}): object {
  const row = { litellm_provider: "groq", mode: "chat", input_cost_per_token: input, output_cost_per_token: 3e-6 };
  return { "groq/alpha": row, "groq/newer": row, ...more };
}

function yaml(groq: string, more = ""): string {
  return [
    "catalog: none",
    `providers: { groq: { kind: openai, baseUrl: "${groq}", apiKey: groq-secret } }`,
    more,
    ...["NANO", "SIMPLE", "LIGHT", "STANDARD", "COMPLEX"].map(
      (tier, index) => `${index === 0 ? "tiers:\n" : ""}  ${tier}: [beta]`,
    ),
  ].join("\n");
}

const MODEL = (id: string): string =>
  `  - { id: ${id}, provider: groq, price: { input: 1, output: 3 }, context: 128000, maxOutput: 16384, capabilities: [tools] }`;

/** A price that came from a list. One that an operator writes is never changed by another list. */
const LISTED_ALPHA = { id: "alpha", provider: "groq", price: { input: 1, output: 3 }, priceSource: "LiteLLM" };

interface Listed {
  readonly id: string;
  readonly provider: string;
  readonly pricing: { readonly prompt: string };
  readonly priceSource: string;
  readonly isRoutable: boolean;
}

it("a server's models are added at price zero, served at once, and added once", async () => {
  const ollama = await startFakeOllama({
    "qwen3:8b": { capabilities: ["completion", "tools"], parameters: "num_ctx 8192" },
  });
  onTestFinished(() => ollama.close());
  const gateway = await startGateway({
    yaml: yaml("http://127.0.0.1:1/v1", `models:\n${MODEL("beta")}`),
    database: "file",
  });
  onTestFinished(() => gateway.stop());
  const run = async (...flags: string[]): Promise<string> => {
    const terminal = recordTerminal({ env: { DATABASE_URL: gateway.database } });
    writeFileSync(join(terminal.cwd, "switchyard.yaml"), yaml("http://127.0.0.1:1/v1", `models:\n${MODEL("beta")}`));
    const args = {
      command: "providers",
      words: ["discover", ollama.address],
      flags: Object.fromEntries(flags.map((flag) => [flag, "true"])),
    };
    expect(await providers(args, terminal)).toBe(0);
    return `${terminal.takeOut()}${terminal.takeSaid()}`;
  };
  expect(await run()).toContain(`providers discover ${ollama.address} --add`);
  expect(await run("add")).toContain("Added at price zero, as version 1.");
  const ask = () =>
    gateway.post("/v1/chat/completions", { model: "qwen3:8b", service_profile: "direct", messages: MESSAGES });
  await vi.waitFor(async () => expect((await ask()).status).toBe(200), WITHIN);
  expect(ollama.requests.at(-1)).toMatchObject({ path: "/v1/chat/completions", body: { model: "qwen3:8b" } });
  const { data } = (await (await gateway.api("GET", "/api/models")).json()) as { readonly data: readonly Listed[] };
  expect(data.find(({ id }) => id === "qwen3:8b")).toMatchObject({
    provider: "ollama",
    priceSource: "own machine",
    isRoutable: true,
    context_length: 8192,
  });
  expect(await run("add")).toContain("Nothing to add");
});

it("an address without a known server is not asked for again, as it may be any other server", async () => {
  const other = await startFakeProvider(fails(404));
  onTestFinished(() => other.close());
  const address = new URL(other.url).host;
  const terminal = recordTerminal();
  expect(await providers({ command: "providers", words: ["discover", address], flags: {} }, terminal)).toBe(0);
  const said = terminal.takeOut();
  expect(said).toContain(`No Ollama, LM Studio, llama.cpp or vLLM answers at ${address}. Connect another server`);
  expect(said).not.toContain("Name an address");
});

it("a list's prices are shown, and with --apply charged from then on; the file's stay", async () => {
  const groq = await startFakeProvider();
  onTestFinished(() => groq.close());
  const text = yaml(groq.url, `models:\n${MODEL("beta")}`);
  const gateway = await startGateway({ yaml: text, database: "file" });
  onTestFinished(() => gateway.stop());
  await gateway.api("POST", "/api/models", LISTED_ALPHA);
  await gateway.api("POST", "/api/models", { ...LISTED_ALPHA, id: "mine", priceSource: undefined });
  const run = async (flags: Record<string, string>, list: object): Promise<{ code: number; out: string }> => {
    const terminal = recordTerminal({ env: { DATABASE_URL: gateway.database } });
    writeFileSync(join(terminal.cwd, "switchyard.yaml"), text);
    writeFileSync(join(terminal.cwd, "list.json"), JSON.stringify(list));
    const code = await models(
      { command: "models", words: ["update"], flags: { from: "list.json", ...flags } },
      terminal,
    );
    return { code, out: `${terminal.takeOut()}${terminal.takeSaid()}` };
  };
  const beta = { "groq/beta": { litellm_provider: "groq", input_cost_per_token: 2e-6, output_cost_per_token: 3e-6 } };
  const lists = { ...beta, "groq/mine": beta["groq/beta"] };
  const shown = await run({}, listOf(1.1e-6, lists));
  expect(shown.code).toBe(0);
  expect(shown.out).toMatch(/alpha +groq +1\/3 +\d{4}-\d\d-\d\d +1\.1\/3 +10%/);
  expect(shown.out).toContain("unpriced and not routable: groq newer");
  const applied = await run({ apply: "true" }, listOf(1.1e-6, lists));
  expect(applied.out).toContain("Applied 1 as version 3. Change these in the file: beta. Your own prices stay: mine.");
  await vi.waitFor(async () => {
    const { data } = (await (await gateway.api("GET", "/api/models")).json()) as { readonly data: readonly Listed[] };
    expect(data.find(({ id }) => id === "alpha")).toMatchObject({
      priceSource: "list.json",
      pricing: { prompt: "0.000001155" },
    });
    expect(data.find(({ id }) => id === "mine")).toMatchObject({
      priceSource: "run-time configuration",
      pricing: { prompt: "0.00000105" },
    });
  }, WITHIN);
  expect((await run({}, listOf(1.1e-6))).out).toContain("0 prices differ");
  expect(await run({}, { nonsense: true })).toMatchObject({
    code: 1,
    out: expect.stringContaining("is no price list"),
  });
});

it("the API adopts a server with one call, on a fresh installation too, and only what it has", async () => {
  const ollama = await startFakeOllama({
    "qwen3:8b": { capabilities: ["completion", "tools"], parameters: "num_ctx 8192" },
    "llama3:8b": { capabilities: ["completion"] },
  });
  const locked = await startFakeVllm({ "Qwen/Qwen3-8B": 40_960 }, "secret");
  for (const server of [ollama, locked]) onTestFinished(() => server.close());
  const gateway = await startGateway();
  onTestFinished(() => gateway.stop());
  const adopt = async (body: object) => {
    const response = await gateway.api("POST", "/api/providers/adopt", body);
    return { status: response.status, body: (await response.json()) as Adopted };
  };
  const { address } = ollama;
  expect((await adopt({ address, models: ["nothing"] })).body.error.param).toBe("models");
  expect((await adopt({ address: "http://127.0.0.1:1" })).status).toBe(404);
  expect((await adopt({ address: locked.address })).body.error.code).toBe("key_needed");
  const some = await adopt({ address, models: ["qwen3:8b"] });
  expect(some.body.changes.map(({ words }) => words)).toEqual(["added provider ollama", "added model qwen3:8b"]);
  const answer = await gateway.post("/v1/chat/completions", { model: "auto", messages: MESSAGES });
  expect(await answer.json()).toMatchObject({ model: "qwen3:8b" });
  expect((await adopt({ address })).body.changes.map(({ words }) => words)).toEqual(["added model llama3:8b"]);
  expect((await adopt({ address })).body).toMatchObject({ version: { number: 2 }, changes: [] });
});

interface Adopted {
  readonly changes: readonly { readonly words: string }[];
  readonly error: { readonly code: string; readonly param: string };
}
