// Settings of the measured gateway: the built-in catalogue, with all providers of its chains pointing at the mock. So the
// chains have the length and the dialects they have in production.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { load } from "../../src/config/load.ts";
import type { Settings } from "../../src/config/settings.ts";

export const ADMIN_TOKEN = "bench-admin";

/** Every provider in the built-in chains that speaks chat-completions. */
const PROVIDERS = ["openai", "google", "deepseek", "mistral", "groq", "zai", "openrouter"];

/** Writes a configuration file into `folder`. */
export function writeBenchConfig(folder: string, providerPort: number, port: number): void {
  const server = { host: "127.0.0.1", drainSeconds: 0, adminToken: ADMIN_TOKEN, port };
  const baseUrl = `http://127.0.0.1:${providerPort}/v1`;
  const yaml = [
    `server: ${JSON.stringify(server)}`,
    "limits: { requestsPerMinute: 1000000 }",
    "logging: { level: info }",
    "providers:",
    ...PROVIDERS.map((id) => `  ${id}: { kind: openai, apiKey: bench, baseUrl: "${baseUrl}" }`),
  ].join("\n");
  writeFileSync(join(folder, "switchyard.yaml"), yaml);
}

/** Writes a configuration file into `folder` and loads it. */
export function benchSettings(folder: string, providerPort: number, database?: string): Settings {
  writeBenchConfig(folder, providerPort, 0);
  const loaded = load({ flags: {}, env: databaseEnv(database), cwd: folder });
  if (!loaded.ok) throw new Error(loaded.problems.map(({ place, message }) => `${place}: ${message}`).join("\n"));
  return loaded.settings;
}

/** Processes on one database need one secret. */
export function databaseEnv(database: string | undefined): Readonly<Record<string, string>> {
  return database === undefined ? {} : { DATABASE_URL: database, SWITCHYARD_SECRET: "the-secret-of-benchmarks" };
}
