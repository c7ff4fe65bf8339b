// The built gateway for a soak, in a process and a folder of its own: started, watched for warnings, and stopped.

import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PRICES } from "./charges.ts";

/** A running gateway, and the way to talk to it. */
export interface SoakGateway {
  readonly url: string;
  readonly key: string;
  readonly adminToken: string;
  /** Warnings of the runtime and lines of the log that say something is wrong inside. */
  readonly complaints: string[];
  api(method: string, path: string, body?: object): Promise<Response>;
  /** SIGTERM, and the exit code. */
  stop(): Promise<number | null>;
}

const ADMIN_TOKEN = "soak-admin-token";
/** Texts with which the runtime and the log report leaks and lost errors. */
const COMPLAINT = /MaxListenersExceeded|UnhandledPromise|unhandled|uncaught|DeprecationWarning|"level":(60|"fatal")/i;

export async function startSoakGateway(root: string, providerUrl: string): Promise<SoakGateway> {
  const folder = mkdtempSync(join(tmpdir(), "switchyard-soak-"));
  writeFileSync(join(folder, "switchyard.yaml"), yamlOf(providerUrl));
  const child = spawn(process.execPath, [join(root, "bin/switchyard.mjs"), "serve"], {
    cwd: folder,
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      PATH: process.env.PATH,
      PORT: "0",
      LOG_LEVEL: "warn",
      NODE_ENV: "production",
      SWITCHYARD_ADMIN_TOKEN: ADMIN_TOKEN,
      SWITCHYARD_DRAIN_SECONDS: "10",
      SWITCHYARD_PRICES_CHECK: "off",
    },
  });
  process.once("exit", () => child.kill("SIGKILL"));
  const complaints: string[] = [];
  const output = await untilReady(child, complaints);
  const url = /Base URL +(\S+)\/v1/.exec(output)?.[1] ?? "";
  const api: SoakGateway["api"] = (method, path, body) =>
    fetch(`${url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${ADMIN_TOKEN}`,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  await api("POST", "/api/credits/topups", { amountUsd: "1000000" });
  return {
    url,
    key: /API key +(sk-service-\S+)/.exec(output)?.[1] ?? "",
    adminToken: ADMIN_TOKEN,
    complaints,
    api,
    async stop() {
      const code = await exitOf(child);
      rmSync(folder, { recursive: true, force: true });
      return code;
    },
  };
}

/** Three models on three providers, all of which are one mock; short timeouts, so that hanging ones are noticed. */
function yamlOf(providerUrl: string): string {
  const timeouts = "timeouts: { connectMs: 2000, firstByteMs: 2000, idleMs: 2000, totalMs: 20000 }";
  const price = (id: string): string => {
    const { input = 0n, output = 0n } = PRICES[id] ?? {};
    return `{ input: ${Number(input) / 1e6}, output: ${Number(output) / 1e6} }`;
  };
  const model = (id: string, provider: string): string =>
    `  - { id: ${id}, provider: ${provider}, price: ${price(id)}, context: 200000, maxOutput: 16384, capabilities: [tools, json] }`;
  return [
    "catalog: none",
    "limits: { requestsPerMinute: 1000000 }",
    "providers:",
    `  one: { kind: openai, baseUrl: "${providerUrl}", apiKey: soak-one, ${timeouts} }`,
    `  two: { kind: openai, baseUrl: "${providerUrl}", apiKey: soak-two, ${timeouts} }`,
    `  native: { kind: anthropic, baseUrl: "${providerUrl.replace(/\/v1$/, "")}", apiKey: soak-three, ${timeouts} }`,
    "models:",
    model("alpha", "one"),
    model("beta", "two"),
    model("gamma", "native"),
    "tiers: { NANO: [beta, alpha], SIMPLE: [beta, alpha], LIGHT: [alpha, beta, gamma], STANDARD: [alpha, gamma], COMPLEX: [gamma, alpha] }",
    "routing: { baseline: gamma, markup: 0.05 }",
  ].join("\n");
}

/** Resolves with everything printed up to the banner, and goes on listening for warnings. */
function untilReady(child: ChildProcess, complaints: string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    let output = "";
    const onOutput = (bytes: Buffer): void => {
      const text = bytes.toString("utf8");
      if (output.length < 100_000) output += text;
      for (const line of text.split("\n")) if (COMPLAINT.test(line)) complaints.push(line.slice(0, 300));
      if (/Base URL[\s\S]*Try it/.test(output)) resolve(output);
    };
    child.stdout?.on("data", onOutput);
    child.stderr?.on("data", onOutput);
    child.once("exit", (code, signal) => {
      complaints.push(`the gateway ended by itself (${code ?? signal})`);
      reject(new Error(`the gateway ended with ${code ?? signal}: ${output}`));
    });
  });
}

/** Sends SIGTERM and waits. */
function exitOf(child: ChildProcess): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve(child.exitCode);
  return new Promise((resolve) => {
    child.removeAllListeners("exit");
    child.once("exit", (code) => resolve(code));
    child.kill("SIGTERM");
  });
}
