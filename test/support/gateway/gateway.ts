// A whole gateway on a free port with a store of its own, for tests over HTTP.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { start, type WireExtension } from "../../../src/app/app.ts";
import { PROVIDER_KINDS } from "../../../src/catalog/provider-kinds.ts";
import { load } from "../../../src/config/load.ts";
import type { Log, LogFields } from "../../../src/core/log.ts";
import type { ProviderKind } from "../../../src/core/model.ts";
import { TIERS } from "../../../src/core/tiers.ts";
import { openMemoryDb } from "../stores/memory-db.ts";
import { keepingContract } from "./contract.ts";

export const ADMIN_TOKEN = "test-admin-token";

/** Of all gateways that are started on a given database. */
export const SHARED_SECRET = "the-secret-of-test-gateways";

/** A test and its gateway share one process: that it is busy, or the machine, is no reason to refuse anything. */
export const NEVER_SHEDS = { SWITCHYARD_EVENT_LOOP_DELAY_MS: "60000", SWITCHYARD_QUEUE_MS: "60000" };

/** No test reads a price list from the network, and compiling ahead costs a third of a start's CPU. */
export const PLAIN_START = {
  SWITCHYARD_WARM_UP: "false",
  SWITCHYARD_PRICES_CHECK: "off",
  SWITCHYARD_PRICES_URL: "http://127.0.0.1:1/prices.json",
  SWITCHYARD_PRICES_GENAI_URL: "off",
  SWITCHYARD_PRICES_OPENROUTER_URL: "off",
};

/** One thread instead of three and no disk, and the thread serves one gateway after the other. */
const IN_MEMORY = "sqlite::memory:";

/** One call of the log. */
interface LoggedLine {
  readonly level: string;
  readonly fields: LogFields;
  readonly message: string;
}

export interface TestGateway {
  readonly url: string;
  readonly key: string;
  /** Where the first operator chooses a password. */
  readonly setupLink: string | null;
  /** The address of its store. */
  readonly database: string;
  /** Every log call, in order. */
  readonly logged: readonly LoggedLine[];
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Response>;
  get(path: string, headers?: Record<string, string>): Promise<Response>;
  api(method: string, path: string, body?: unknown): Promise<Response>;
  stop(): Promise<void>;
}

export interface GatewayOptions {
  /** The text of switchyard.yaml; left out, the sandbox serves. */
  readonly yaml?: string;
  readonly env?: Record<string, string>;
  /** Another database than a fresh one in memory: its address, or `file` for a fresh SQLite file. */
  readonly database?: string;
  /** USD put into the account at the start; null for none beyond what the gateway itself gives. */
  readonly creditsUsd?: string | null;
  /** Wire formats and kinds of providers beside those that ship. */
  readonly wire?: WireExtension;
  readonly kinds?: readonly ProviderKind[];
  /** A clock for circuit breakers and connections that the test sets by hand. */
  readonly providerNow?: () => number;
  /** Bounds the reading of a price feed. */
  readonly feedMsMax?: number;
}

export async function startGateway(options: GatewayOptions = {}): Promise<TestGateway> {
  const folder = mkdtempSync(join(tmpdir(), "switchyard-test-"));
  if (options.yaml !== undefined) writeFileSync(join(folder, "switchyard.yaml"), options.yaml);
  const env = {
    PORT: "0",
    SWITCHYARD_DRAIN_SECONDS: "1",
    SWITCHYARD_ADMIN_TOKEN: ADMIN_TOKEN,
    ...NEVER_SHEDS,
    ...PLAIN_START,
    // A real provider's tests count from what they top up.
    ...(options.yaml === undefined ? {} : { SWITCHYARD_STARTER_CREDITS: "0" }),
    ...(options.database === "file" ? {} : { DATABASE_URL: options.database ?? IN_MEMORY }),
    // Gateways on one database need one secret, and each has a data folder of its own.
    ...(options.database === undefined || options.database === "file" ? {} : { SWITCHYARD_SECRET: SHARED_SECRET }),
    ...options.env,
  };
  const kinds = [...PROVIDER_KINDS, ...(options.kinds ?? [])];
  const loaded = load({ flags: {}, env, cwd: folder, kinds });
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems, null, 2));
  const { log, logged } = recordingLog();
  const app = await start(loaded.settings, log, {
    ...(loaded.settings.database === IN_MEMORY && { db: await openMemoryDb() }),
    passwordCost: { n: 2 ** 10, r: 8, p: 1 },
    ...(options.wire && { wire: options.wire }),
    ...(options.providerNow && { providerNow: options.providerNow }),
    ...(options.feedMsMax && { feedMsMax: options.feedMsMax }),
  });
  const key = app.firstKey ?? "";
  const send = async (
    method: string,
    path: string,
    body: unknown,
    headers: Record<string, string>,
  ): Promise<Response> => {
    const response = await fetch(`${app.url}${path}`, {
      method,
      headers: { ...(body === undefined ? {} : { "content-type": "application/json" }), ...headers },
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    return keepingContract(method, path, response);
  };
  const api = (method: string, path: string, body?: unknown): Promise<Response> =>
    send(method, path, body, { authorization: `Bearer ${ADMIN_TOKEN}` });
  const { creditsUsd = "1000" } = options;
  if (creditsUsd !== null) await api("POST", "/api/credits/topups", { amountUsd: creditsUsd });
  return {
    url: app.url,
    key,
    setupLink: app.setupLink,
    database: loaded.settings.database,
    logged,
    post: (path, body, headers = {}) => send("POST", path, body, { authorization: `Bearer ${key}`, ...headers }),
    get: (path, headers = {}) => send("GET", path, undefined, { authorization: `Bearer ${key}`, ...headers }),
    api,
    async stop() {
      await app.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** One provider and these models, cheapest first, in every tier's chain. */
export function labYaml(baseUrl: string, models: readonly string[] = ["alpha", "beta"], extra = ""): string {
  const rows = models.map(
    (id, index) =>
      `  - { id: ${id}, provider: lab, price: { input: ${index + 1}, output: ${(index + 1) * 3} }, context: 128000, maxOutput: 16384, capabilities: [tools, vision, json] }`,
  );
  return [
    "catalog: none",
    `providers: { lab: { kind: openai, baseUrl: "${baseUrl}", apiKey: lab-secret, timeouts: { connectMs: 30000, firstByteMs: 60000, idleMs: 60000, totalMs: 120000 } } }`,
    "models:",
    ...rows,
    "tiers:",
    ...TIERS.map((tier) => `  ${tier}: [${models.join(", ")}]`),
    `routing: { baseline: ${models.at(-1)} }`,
    extra,
  ].join("\n");
}

export const HELLO = { model: "auto", messages: [{ role: "user", content: "What is the capital of France?" }] };

function recordingLog(): { log: Log; logged: LoggedLine[] } {
  const logged: LoggedLine[] = [];
  const at = (level: string) => (fields: LogFields, message: string) => void logged.push({ level, fields, message });
  return { log: { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") }, logged };
}
