// Model servers that people run on their own machine, as they answer: Ollama, vLLM, LM Studio and llama.cpp. Each
// describes the models it is told to have, and speaks chat-completions below /v1.

import { answers, type Behaviour, type FakeProvider, sends, startFakeProvider } from "./fake-provider.ts";

interface LocalFake extends FakeProvider {
  /** Scheme, host and port. */
  readonly address: string;
}

type Routes = Readonly<Record<string, object | ((body: { readonly model?: string }) => Behaviour)>>;

/** By path; everything else below /v1 is a chat, and the rest is not found. */
async function startLocal(routes: Routes): Promise<LocalFake> {
  const provider = await startFakeProvider((exchange) => {
    const { path, body } = exchange.request;
    const route = routes[path];
    if (typeof route === "function") return route(body ?? {})(exchange);
    if (route !== undefined) return sends(200, route)(exchange);
    if (path === "/v1/chat/completions") return answers("from this machine")(exchange);
    return sends(404, { error: "not found" })(exchange);
  });
  return { ...provider, address: new URL(provider.url).origin };
}

export interface OllamaModel {
  readonly capabilities?: readonly string[];
  readonly context?: number;
  readonly parameters?: string;
  /** As a loaded model has it. */
  readonly loadedContext?: number;
}

export function startFakeOllama(models: Readonly<Record<string, OllamaModel>>): Promise<LocalFake> {
  const names = Object.keys(models);
  const running = names.filter((name) => models[name]?.loadedContext !== undefined);
  return startLocal({
    "/api/version": { version: "0.12.0" },
    "/api/tags": {
      models: names.map((name) => ({ name, model: name, size: 1, digest: "d", details: { family: "qwen3" } })),
    },
    "/api/ps": { models: running.map((name) => ({ model: name, context_length: models[name]?.loadedContext })) },
    "/api/show": ({ model = "" }) => {
      const told = models[model];
      if (told === undefined) return sends(404, { error: `model '${model}' not found` });
      return sends(200, {
        ...(told.parameters === undefined ? {} : { parameters: told.parameters }),
        ...(told.capabilities === undefined ? {} : { capabilities: told.capabilities }),
        details: { family: "qwen3" },
        model_info: { "general.architecture": "qwen3", "qwen3.context_length": told.context ?? 40_960 },
      });
    },
    "/v1/models": { object: "list", data: names.map((id) => ({ id, object: "model", owned_by: "library" })) },
  });
}

/** With `key`, its models are listed only to who has it. */
export function startFakeVllm(models: Readonly<Record<string, number>>, key?: string): Promise<LocalFake> {
  const data = Object.entries(models).map(([id, length]) => ({
    id,
    object: "model",
    owned_by: "vllm",
    root: id,
    max_model_len: length,
  }));
  return startLocal({
    "/version": { version: "0.11.0" },
    "/v1/models": () =>
      key === undefined ? sends(200, { object: "list", data }) : sends(401, { error: "Unauthorized" }),
  });
}

export function startFakeLmStudio(rows: readonly object[]): Promise<LocalFake> {
  return startLocal({
    "/api/v0/models": { object: "list", data: rows },
    "/v1/models": { object: "list", data: rows.map((row) => ({ ...row, owned_by: "organization_owner" })) },
  });
}

export function startFakeLlamaCpp(id: string, props: object): Promise<LocalFake> {
  const meta = { n_ctx_train: 131_072, n_params: 1 };
  return startLocal({
    "/props": { total_slots: 1, model_path: `/models/${id}`, ...props },
    "/v1/models": { object: "list", data: [{ id, object: "model", owned_by: "llamacpp", meta }] },
  });
}
