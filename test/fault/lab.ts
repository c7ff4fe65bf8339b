// A gateway in front of a scriptable provider, with a way back to health between tests.

import { request as httpRequest, type IncomingMessage } from "node:http";
import { vi } from "vitest";
import { TIERS, type Tier } from "../../src/core/tiers.ts";
import { HELLO, startGateway, type TestGateway } from "../support/gateway/gateway.ts";
import { type FakeProvider, startFakeProvider } from "../support/providers/fake-provider.ts";

export interface LabOptions {
  /** Ids in the order of the chain, with their context windows. */
  readonly models?: Readonly<Record<string, number>>;
  /** Chains other than all models in their order. */
  readonly tiers?: Readonly<Partial<Record<Tier, readonly string[]>>>;
  readonly timeouts?: Readonly<Record<string, number>>;
  readonly env?: Record<string, string>;
  /** A clock for circuit breakers and connections that the test sets by hand. */
  readonly providerNow?: () => number;
  /** Models served at another address than the fake provider's. */
  readonly elsewhere?: Readonly<Record<string, string>>;
  /** Models of the fake provider with timeouts of their own. */
  readonly timeoutsOf?: Readonly<Record<string, Readonly<Record<string, number>>>>;
  /** The `health` section of the configuration, and settings of routing and server. */
  readonly health?: Readonly<Record<string, number>>;
  readonly routing?: Readonly<Record<string, number>>;
  readonly server?: Readonly<Record<string, number>>;
}

interface RequestLine {
  readonly requestId: string;
  readonly status: number;
  readonly ending: string | null;
  readonly model: string | null;
  readonly isFallback: boolean;
  readonly attempts: readonly {
    readonly model: string;
    readonly outcome: string;
    readonly status: number | null;
    readonly reason: string | null;
    readonly droppedFields?: readonly string[];
  }[];
}

export interface Lab {
  readonly provider: FakeProvider;
  readonly gateway: TestGateway;
  ask(body?: object): Promise<Response>;
  /** The line of the log for a request that is over. */
  line(requestId: string): Promise<RequestLine>;
  /** Open an exchange of which the test decides when to read and when to leave. */
  open(requestId: string, body?: object): OpenRequest;
  /** Forgets every script, request and failure: each model that was called answers once. */
  reset(): Promise<void>;
  close(): Promise<void>;
}

export interface OpenRequest {
  readonly response: Promise<IncomingMessage>;
  leave(): void;
}

/** So long that a busy machine never reaches them; who waits for one sets it. */
const TIMEOUTS = { connectMs: 30_000, firstByteMs: 60_000, idleMs: 60_000, totalMs: 120_000 };

export async function openLab(options: LabOptions = {}): Promise<Lab> {
  const provider = await startFakeProvider();
  const models = options.models ?? { alpha: 128_000, beta: 128_000 };
  const { env = {}, providerNow } = options;
  const yaml = writeYaml(provider.url, models, options);
  const gateway = await startGateway({ yaml, env, ...(providerNow && { providerNow }) });
  return {
    provider,
    gateway,
    ask: (body = {}) => gateway.post("/v1/chat/completions", { ...HELLO, ...body }),
    line: (requestId) => vi.waitFor(() => findLine(gateway, requestId), { timeout: 300_000, interval: 5 }),
    open: (requestId, body = {}) => openRequest(gateway, requestId, { ...HELLO, ...body }),
    async reset() {
      const called = new Set(provider.requests.map(({ body }) => body.model));
      provider.reset();
      for (const model of called) {
        const healing = await gateway.post("/v1/chat/completions", { ...HELLO, model, service_profile: "direct" });
        if (healing.status !== 200) throw new Error(`${model} does not answer: ${await healing.text()}`);
        await healing.arrayBuffer();
      }
      provider.requests.length = 0;
    },
    async close() {
      await gateway.stop();
      await provider.close();
    },
  };
}

function writeYaml(url: string, models: Readonly<Record<string, number>>, options: LabOptions): string {
  const { elsewhere = {}, timeoutsOf = {} } = options;
  const ids = Object.keys(models);
  const provider = (id: string, baseUrl: string, timeouts: Readonly<Record<string, number>> = {}): string =>
    `  ${id}: { kind: openai, baseUrl: "${baseUrl}", apiKey: lab-secret, timeouts: { ${pairs({ ...TIMEOUTS, ...options.timeouts, ...timeouts })} } }`;
  const chain = (tier: Tier): string => (options.tiers?.[tier] ?? ids).join(", ");
  return [
    "catalog: none",
    `server: { ${pairs({ drainSeconds: 5, ...options.server })} }`,
    // A model that rests does so for as long as a test takes, however slow the machine is.
    `health: { ${pairs({ openMs: 600_000, openMsMax: 600_000, ...options.health })} }`,
    "limits: { requestsPerMinute: 100000 }",
    "providers:",
    provider("lab", url),
    ...Object.entries(elsewhere).map(([id, baseUrl]) => provider(`at-${id}`, baseUrl)),
    ...Object.entries(timeoutsOf).map(([id, timeouts]) => provider(`lab-${id}`, url, timeouts)),
    "models:",
    ...ids.map((id, index) => {
      const host = id in elsewhere ? `at-${id}` : id in timeoutsOf ? `lab-${id}` : "lab";
      return `  - { id: ${id}, provider: ${host}, price: { input: ${index + 1}, output: ${index + 3} }, context: ${models[id]}, maxOutput: 4096, capabilities: [tools, vision, json] }`;
    }),
    "tiers:",
    ...TIERS.map((tier) => `  ${tier}: [${chain(tier)}]`),
    `routing: { ${pairs({ baseline: ids.at(-1) as string, ...options.routing })} }`,
  ].join("\n");
}

function pairs(values: Readonly<Record<string, number | string>>): string {
  return Object.entries(values)
    .map(([name, value]) => `${name}: ${value}`)
    .join(", ");
}

function findLine({ logged }: TestGateway, requestId: string): RequestLine {
  const found = logged.find(({ fields }) => fields.event === "request.completed" && idOf(fields) === requestId);
  if (found === undefined) throw new Error(`no line for ${requestId} in the log`);
  return found.fields as object as RequestLine;
}

function idOf(fields: object): unknown {
  return (fields as { requestId?: unknown }).requestId;
}

function openRequest({ url, key }: TestGateway, requestId: string, body: object): OpenRequest {
  const request = httpRequest(`${url}/v1/chat/completions`, {
    method: "POST",
    agent: false,
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json", "x-request-id": requestId },
  });
  const response = new Promise<IncomingMessage>((resolve, reject) => {
    request.once("response", resolve);
    request.once("error", reject);
  });
  // A test that leaves does not look at the error it caused.
  response.catch(() => undefined);
  request.end(JSON.stringify(body));
  return { response, leave: () => void request.destroy() };
}

/** The text of a key whose requests have these models only. */
export async function keyFor({ api }: TestGateway, models: readonly string[]): Promise<string> {
  const made = async (path: string, body: object): Promise<Record<string, string>> => {
    const answer = await api("POST", path, body);
    if (answer.status !== 201) throw new Error(`${path}: ${await answer.text()}`);
    return (await answer.json()) as Record<string, string>;
  };
  const { id } = await made("/api/profiles", { name: models.join(" "), allowedModels: models });
  return (await made("/api/keys", { name: models.join(" "), profile: id })).key ?? "";
}

export async function errorOf(response: Response): Promise<{ readonly type: string; readonly code: string }> {
  return ((await response.json()) as { error: { type: string; code: string } }).error;
}

export interface StreamEvents {
  /** Parsed `data:` events without [DONE]. */
  readonly events: readonly StreamEvent[];
  readonly isDone: boolean;
  /** The text of all content deltas of the first choice. */
  readonly text: string;
  readonly error: { readonly type: string; readonly code: string; readonly message: string } | null;
}

interface StreamEvent {
  readonly id?: string;
  readonly model?: string;
  readonly choices?: readonly {
    readonly index: number;
    readonly delta: {
      readonly content?: string | null;
      readonly role?: string;
      readonly tool_calls?: readonly object[];
    };
    readonly finish_reason: string | null;
  }[];
  readonly usage?: object | null;
  readonly service?: { readonly model: string; readonly fallback: boolean; readonly savingsPct: number };
  readonly error?: { readonly type: string; readonly code: string; readonly message: string };
}

export async function readStream(response: Response): Promise<StreamEvents> {
  return parseStream(await response.text());
}

export function parseStream(text: string): StreamEvents {
  const data = text
    .split("\n\n")
    .filter((block) => block.startsWith("data: "))
    .map((block) => block.slice("data: ".length));
  const events = data.filter((item) => item !== "[DONE]").map((item) => JSON.parse(item) as StreamEvent);
  return {
    events,
    isDone: data.at(-1) === "[DONE]",
    text: events
      .flatMap(({ choices }) => choices ?? [])
      .filter(({ index }) => index === 0)
      .map(({ delta }) => delta.content ?? "")
      .join(""),
    error: events.find(({ error }) => error !== undefined)?.error ?? null,
  };
}
