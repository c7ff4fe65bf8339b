// Clients of every wire format, made of fetch, in front of providers of every wire format: what each is sent in `service`.

import { startFakeAnthropic } from "../providers/fake-anthropic.ts";
import { startFakeGemini } from "../providers/fake-gemini.ts";
import { type FakeProvider, startFakeProvider } from "../providers/fake-provider.ts";
import { startFakeResponses } from "../providers/fake-responses.ts";
import type { Json } from "../providers/streams.ts";
import { type GatewayOptions, startGateway, type TestGateway } from "./gateway.ts";

interface Client {
  /** The path of a request to this model. */
  readonly path: (model: string, isStream: boolean) => string;
  readonly body: Json;
}

const TEXT = "What is the capital of France?";
const MESSAGES = { messages: [{ role: "user", content: TEXT }] };
const GEMINI = { contents: [{ role: "user", parts: [{ text: TEXT }] }] };
const geminiPath = (query: string) => (model: string, isStream: boolean) =>
  `/v1beta/models/${model}:${isStream ? `streamGenerateContent${query}` : "generateContent"}`;

const CLIENTS = {
  chat: { path: () => "/v1/chat/completions", body: MESSAGES },
  "chat with usage": {
    path: () => "/v1/chat/completions",
    body: { ...MESSAGES, stream_options: { include_usage: true } },
  },
  completions: { path: () => "/v1/completions", body: { prompt: TEXT } },
  messages: { path: () => "/v1/messages", body: { ...MESSAGES, max_tokens: 100 } },
  responses: { path: () => "/v1/responses", body: { input: TEXT } },
  gemini: { path: geminiPath("?alt=sse"), body: GEMINI },
  "gemini as an array": { path: geminiPath(""), body: GEMINI },
} as const satisfies Readonly<Record<string, Client>>;

export type ClientName = keyof typeof CLIENTS;
const CLIENT_NAMES = Object.keys(CLIENTS) as readonly ClientName[];
/** Each client with whole answers and with streams. */
export const WAYS = CLIENT_NAMES.flatMap((name) => [false, true].map((isStream) => [name, isStream] as const));

export interface Asking {
  readonly client: ClientName;
  readonly isStream: boolean;
  readonly model?: string;
}

export function askAs(
  gateway: Pick<TestGateway, "post">,
  { client, isStream, model = "auto" }: Asking,
  extra: object = {},
  headers: Record<string, string> = {},
): Promise<Response> {
  const { path, body } = CLIENTS[client];
  const asked = client.startsWith("gemini") ? {} : { model, ...(isStream ? { stream: true } : {}) };
  const usual = isStream ? body : { ...body, stream_options: undefined };
  return gateway.post(path(model, isStream), { ...usual, ...asked, ...extra }, headers);
}

/** Every JSON object of an answer in order: the answer itself, or the events of its stream. */
export function objectsOf(text: string): readonly Json[] {
  if (text.startsWith("{")) return [JSON.parse(text) as Json];
  if (text.startsWith("[")) return JSON.parse(text) as readonly Json[];
  return [...text.matchAll(/^data: (\{.*)$/gm)].map(([, data]) => JSON.parse(data as string) as Json);
}

/** The `service` objects of an answer, wherever its format has them. */
export function servicesIn(text: string): readonly Json[] {
  return objectsOf(text).flatMap(serviceOf);
}

/** The one of the last event. Undefined where that event has none. */
export function lastService(text: string): Json | undefined {
  return serviceOf(objectsOf(text).at(-1) as Json)[0];
}

function serviceOf({ service, message, response }: Json): readonly Json[] {
  const found = service ?? (message as Json | undefined)?.service ?? (response as Json | undefined)?.service;
  return found === undefined || found === null ? [] : [found as Json];
}

export interface EveryFormat {
  readonly gateway: TestGateway;
  /** By the model that each has. */
  readonly providers: Readonly<Record<EveryModel, FakeProvider>>;
  reset(): void;
  close(): Promise<void>;
}

export const EVERY_MODEL = ["alpha", "claude", "gem", "pro"] as const;
type EveryModel = (typeof EVERY_MODEL)[number];
const KINDS = { alpha: "openai", claude: "anthropic", gem: "gemini", pro: "responses" } as const;

/** `alpha` speaks chat-completions, `claude` Messages, `gem` Gemini and `pro` Responses; the chain has them in this order. */
export async function startEveryFormat({ yaml = "", ...options }: GatewayOptions = {}): Promise<EveryFormat> {
  const providers = {
    alpha: await startFakeProvider(),
    claude: await startFakeAnthropic(),
    gem: await startFakeGemini(),
    pro: await startFakeResponses(),
  };
  const lines = EVERY_MODEL.map(
    (id) => `  ${id}-lab: { kind: ${KINDS[id]}, baseUrl: "${providers[id].url}", apiKey: ${id}-secret }`,
  );
  const can = "capabilities: [tools, vision, json, reasoning, files]";
  const models = EVERY_MODEL.map(
    (id, place) =>
      `  - { id: ${id}, provider: ${id}-lab, price: { input: ${place + 1}, output: ${(place + 1) * 4} }, context: 200000, maxOutput: 16384, ${can} }`,
  );
  const gateway = await startGateway({
    ...options,
    yaml: [
      "catalog: none",
      "limits: { requestsPerMinute: 100000 }",
      "health: { failuresInRow: 100000, callsMin: 100000 }",
      "providers:",
      ...lines,
      "models:",
      ...models,
      "tiers:",
      ...["NANO", "SIMPLE", "LIGHT", "STANDARD", "COMPLEX"].map((tier) => `  ${tier}: [${EVERY_MODEL.join(", ")}]`),
      "routing: { baseline: pro }",
      yaml,
    ].join("\n"),
  });
  return {
    gateway,
    providers,
    reset() {
      for (const provider of Object.values(providers)) provider.reset();
    },
    async close() {
      await gateway.stop();
      for (const provider of Object.values(providers)) await provider.close();
    },
  };
}
