// Model servers on this machine, found at an address by the API and the command line: what each says of its models, what
// is no model server, and a call to one of kind ollama.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { localChecks } from "../../../src/cli/doctor/providers.ts";
import { providers } from "../../../src/cli/providers.ts";
import { load } from "../../../src/config/load.ts";
import { discover } from "../../../src/providers/local/discover.ts";
import { LOCAL_SERVERS } from "../../../src/providers/local/servers.ts";
import { HELLO, startGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { recordTerminal } from "../../support/gateway/terminal.ts";
import { hangs, sends, startFakeProvider } from "../../support/providers/fake-provider.ts";
import {
  startFakeLlamaCpp,
  startFakeLmStudio,
  startFakeOllama,
  startFakeVllm,
} from "../../support/providers/local-servers.ts";

type Closable = { close(): Promise<void> };

let ollama: Awaited<ReturnType<typeof startFakeOllama>>;
let gateway: TestGateway;
const open: Closable[] = [];

async function kept<Server extends Closable>(starting: Promise<Server>): Promise<Server> {
  const server = await starting;
  open.push(server);
  return server;
}

beforeAll(async () => {
  ollama = await kept(
    startFakeOllama({
      "qwen3:8b": { capabilities: ["completion", "tools", "thinking"], parameters: "temperature 0.6\nnum_ctx 32768" },
      "gemma3:4b": { capabilities: ["completion", "vision"], context: 131_072 },
      "llama3:8b": { capabilities: ["completion"], context: 8192, loadedContext: 8192 },
      "nomic-embed-text": { capabilities: ["embedding"], context: 2048 },
      "old:1b": { context: 2048 },
    }),
  );
  gateway = await startGateway({ yaml: yaml() });
});
afterAll(async () => {
  await gateway.stop();
  for (const server of open) await server.close();
});

function yaml(): string {
  return [
    "catalog: none",
    "providers:",
    `  home: { kind: ollama, baseUrl: "${ollama.address.replace("127.0.0.1", "localhost")}", timeouts: { connectMs: 30000 } }`,
    "models:",
    "  - { id: qwen-home, provider: home, upstream: qwen3:8b, price: { input: 0, output: 0 }, context: 32768, capabilities: [tools] }",
    "tiers:",
    ...["NANO", "SIMPLE", "LIGHT", "STANDARD", "COMPLEX"].map((tier) => `  ${tier}: [qwen-home]`),
  ].join("\n");
}

async function found(address: string): Promise<readonly Record<string, unknown>[]> {
  const answer = await gateway.api("POST", "/api/providers/discover", { address });
  expect(answer.status).toBe(200);
  return (await answer.json()).data;
}

describe("what a server says of its models", () => {
  it("Ollama: the context it really uses, and what each can do", async () => {
    const [server] = await found(ollama.address);
    expect(server).toMatchObject({ id: "ollama", kind: "ollama", address: ollama.address, needsKey: false });
    expect(server?.models).toEqual([
      {
        upstream: "qwen3:8b",
        context: 32_768,
        capabilities: ["tools", "reasoning", "json"],
        untold: [],
        note: null,
        model: "qwen-home",
      },
      {
        upstream: "gemma3:4b",
        context: 4096,
        capabilities: ["vision", "json"],
        untold: [],
        note: expect.stringContaining("the model takes 131072"),
        model: null,
      },
      { upstream: "llama3:8b", context: 8192, capabilities: ["json"], untold: [], note: null, model: null },
      {
        upstream: "nomic-embed-text",
        context: 2048,
        capabilities: ["embeddings"],
        untold: [],
        note: null,
        model: null,
      },
      { upstream: "old:1b", context: 2048, capabilities: ["json"], untold: [], note: null, model: null },
    ]);
    expect(server?.provider).toBe("home");
  });

  it("vLLM: the length it was started with, or that it needs a key", async () => {
    const vllm = await kept(startFakeVllm({ "Qwen/Qwen3-8B": 40_960 }));
    expect(await found(vllm.address.replace("http://", ""))).toMatchObject([
      { id: "vllm", provider: null, models: [{ upstream: "Qwen/Qwen3-8B", context: 40_960, capabilities: ["json"] }] },
    ]);
    const locked = await kept(startFakeVllm({ "Qwen/Qwen3-8B": 40_960 }, "secret"));
    expect(await found(locked.address)).toMatchObject([{ id: "vllm", needsKey: true, models: [] }]);
  });

  it("LM Studio: kinds of models, and the context of loaded ones", async () => {
    const studio = await kept(
      startFakeLmStudio([
        {
          id: "qwen3-8b",
          type: "llm",
          state: "loaded",
          max_context_length: 40_960,
          loaded_context_length: 8192,
          capabilities: ["tool_use"],
        },
        { id: "gemma-vision", type: "vlm", state: "not-loaded", max_context_length: 131_072 },
        { id: "nomic", type: "embeddings", max_context_length: 2048 },
      ]),
    );
    const [server] = await found(studio.address);
    expect(server?.id).toBe("lmstudio");
    expect(server?.models).toMatchObject([
      { upstream: "qwen3-8b", context: 8192, capabilities: ["tools", "json"] },
      { upstream: "gemma-vision", context: 131_072, capabilities: ["vision", "json"] },
      { upstream: "nomic", context: 2048, capabilities: ["embeddings"] },
    ]);
  });

  it("llama.cpp: the context of one slot, and what its template takes", async () => {
    const props = {
      default_generation_settings: { n_ctx: 16_384 },
      modalities: { vision: true, audio: false },
      chat_template_caps: { supports_tools: true },
    };
    const server = await kept(startFakeLlamaCpp("qwen.gguf", props));
    expect(await found(server.address)).toMatchObject([
      {
        id: "llamacpp",
        models: [{ upstream: "qwen.gguf", context: 16_384, capabilities: ["tools", "vision", "json"] }],
      },
    ]);
  });
});

describe("what is no model server", () => {
  it.each([
    ["a web page", sends(200, "<html></html>")],
    ["another gateway", sends(401, { error: { message: "no key" } })],
    ["other lists", sends(200, { models: "all", data: [{ name: "x" }] })],
    ["a redirect", sends(302, "", { location: "http://127.0.0.1:1/" })],
    ["nested nonsense", sends(200, { models: [null, 7, { model: { a: 1 } }], data: [[]] })],
  ])("%s", async (_name, behaviour) => {
    const server = await kept(startFakeProvider(behaviour));
    const data = await found(new URL(server.url).origin);
    expect(data.flatMap(({ models }) => models)).toEqual([]);
  });

  it("the gateway itself, and a program that does not answer", async () => {
    const silent = await kept(startFakeProvider(hangs));
    const port = Number(new URL(silent.url).port);
    const servers = LOCAL_SERVERS.map((server) => ({ ...server, port }));
    const startedAtMs = performance.now();
    expect(await discover({ address: null, withinMs: 100, hasDetails: false, servers })).toEqual([]);
    expect(performance.now() - startedAtMs).toBeLessThan(20_000);
    expect(silent.requests.length).toBeGreaterThan(0);
    silent.reset();
    expect(await discover({ address: null, withinMs: 100, hasDetails: false, servers, ownPort: port })).toEqual([]);
    expect(silent.requests).toEqual([]);
  });

  it.each(["169.254.169.254", "http://metadata.google.internal", "ftp://127.0.0.1", "http://a:b@127.0.0.1", "http://"])(
    "%s is refused",
    async (address) => {
      const answer = await gateway.api("POST", "/api/providers/discover", { address });
      expect([answer.status, (await answer.json()).error.param]).toEqual([400, "address"]);
    },
  );
});

it("without an address, only this machine is asked, each server at its port", async () => {
  const port = Number(new URL(ollama.address).port);
  const servers = LOCAL_SERVERS.map((server) =>
    server.id === "ollama" ? { ...server, port } : { ...server, port: 1 },
  );
  ollama.reset();
  const [server, ...others] = await discover({ address: null, withinMs: 20_000, hasDetails: false, servers });
  expect(others).toEqual([]);
  expect(server).toMatchObject({ name: "Ollama", address: ollama.address });
  expect(server?.models).toHaveLength(5);
  expect(ollama.requests.map(({ path }) => path)).toEqual(["/api/tags"]);
});

it("a provider of kind ollama is called below /v1, without a key", async () => {
  const answer = await gateway.post("/v1/chat/completions", { ...HELLO, max_completion_tokens: 50 });
  expect(answer.status).toBe(200);
  const sent = ollama.requests.at(-1);
  expect(sent).toMatchObject({ path: "/v1/chat/completions", body: { model: "qwen3:8b", max_tokens: 50 } });
  expect(sent?.headers).not.toHaveProperty("authorization");
});

it("the command line lists the same, and takes no wrong address", async () => {
  const run = async (...words: string[]) => {
    const terminal = recordTerminal();
    const code = await providers({ command: "providers", words: ["discover", ...words], flags: {} }, terminal);
    return { code, out: terminal.takeOut() };
  };
  const listed = await run(ollama.address);
  expect(listed.code).toBe(0);
  expect(listed.out).toContain(`Ollama at ${ollama.address} with 5 models (not configured)`);
  expect(listed.out).toMatch(/gemma3:4b +4096 +vision json/);
  expect((await run("169.254.169.254")).code).toBe(2);
});

it("the doctor names a server that no provider is configured for", async () => {
  const port = Number(new URL(ollama.address).port);
  const servers = LOCAL_SERVERS.filter(({ id }) => id === "ollama").map((server) => ({ ...server, port }));
  const catalogOf = (providers: string) => {
    const terminal = recordTerminal();
    writeFileSync(join(terminal.cwd, "switchyard.yaml"), providers);
    const loaded = load({ flags: {}, env: {}, cwd: terminal.cwd });
    if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
    return loaded.settings.catalog;
  };
  expect(await localChecks(catalogOf(""), { servers })).toEqual([
    {
      state: "ok",
      what: `Found Ollama at ${ollama.address} with 5 models, not in use`,
      fix: expect.stringContaining("providers discover"),
    },
  ]);
  expect(await localChecks(catalogOf(yaml()), { servers })).toEqual([]);
});
