// @ts-check
// A gateway with two weeks behind it, for pictures: the clock is set back and moved on hour by hour while callers call.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { ROOT } from "../setup/surroundings.mjs";
import { startProviders } from "./provider.mjs";

const HOUR_MS = 3_600_000;
/** Two weeks, so that the last one has something to be compared with. */
const HOURS = 14 * 24;
const ADMIN = "screenshots-only";
const PROVIDERS = ["openai", "google", "deepseek", "mistral", "groq", "together", "zai", "qwen", "openrouter"];
const PROMPTS = [
  "Hi there, good morning!",
  "What is the capital of Australia?",
  "Translate 'the parcel will arrive on Tuesday' into Japanese.",
  "Extract the invoice number, date and total from this text: Invoice 4711 of 3 May 2026, total 120.50 EUR.",
  "Summarise this customer conversation in three bullet points and suggest a polite reply.",
  "Write a product description of eighty words for a titanium travel mug.",
  "Refactor this recursive function to be iterative, keep its signature and add unit tests for the edge cases.",
  "Find the race condition in this worker pool and explain why the test only fails under load.",
  "Design a multi-region, strongly consistent ledger. Discuss consensus, clock skew, schema migration and failure testing, and prove that no money can be lost.",
];
const WEATHER = {
  type: "function",
  function: { name: "get_weather", parameters: { type: "object", properties: { city: { type: "string" } } } },
};

/** Starts it, lives through the weeks, and leaves the clock at now. */
export async function startDemo() {
  const providers = await startProviders();
  const folder = mkdtempSync(join(tmpdir(), "switchyard-screenshots-"));
  writeFileSync(join(folder, "switchyard.yaml"), configuration(providers));
  const clock = setBack(HOURS * HOUR_MS);
  const [{ start }, { load }] = await Promise.all([module("app.js"), module("config/load.js")]);
  const loaded = load({ flags: {}, env: { PORT: "0", SWITCHYARD_ADMIN_TOKEN: ADMIN }, cwd: folder });
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
  const silent = { debug() {}, info() {}, warn() {}, error() {} };
  const app = await start(loaded.settings, silent);
  await liveThroughTheWeeks({ url: app.url, clock, failing: providers.failing, firstKey: app.firstKey });
  return {
    url: app.url,
    setupLink: app.setupLink,
    async stop() {
      await app.stop();
      await providers.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function configuration(/** @type {import("./provider.mjs").Providers} */ { baseUrl }) {
  const rows = PROVIDERS.map((id) => `  ${id}: { baseUrl: "${baseUrl(id)}", apiKey: demo }`);
  return ["providers:", ...rows, "logging: { content: true }", "limits: { requestsPerMinute: 100000 }", ""].join("\n");
}

function module(/** @type {string} */ path) {
  return import(pathToFileURL(join(ROOT, "dist", path)).href);
}

function setBack(/** @type {number} */ ms) {
  const real = Date.now;
  let offsetMs = -ms;
  Date.now = () => real() + offsetMs;
  return {
    forwardMs(/** @type {number} */ more) {
      offsetMs = Math.min(0, offsetMs + more);
    },
  };
}

/** @param {{ url: string, clock: { forwardMs(ms: number): void }, failing: Set<string>, firstKey: string }} demo */
async function liveThroughTheWeeks({ url, clock, failing, firstKey }) {
  const api = async (/** @type {string} */ path, /** @type {object} */ body) => {
    const headers = { authorization: `Bearer ${ADMIN}`, "content-type": "application/json" };
    const response = await fetch(url + path, { method: "POST", headers, body: JSON.stringify(body) });
    if (!response.ok) throw new Error(`${path}: ${await response.text()}`);
    return /** @type {Promise<any>} */ (response.json());
  };
  await api("/api/credits/topups", { amountUsd: "25", note: "opening balance" });
  const safe = await api("/api/profiles", { name: "prod-safe", tierFloor: "SIMPLE", tierCeiling: "STANDARD" });
  const cheap = await api("/api/profiles", {
    name: "cheap chat",
    tierCeiling: "LIGHT",
    chatQuality: 0,
    maxCostUsd: 0.01,
  });
  const shop = await api("/api/keys", { name: "checkout service", profile: safe.id, spendLimitUsd: "50" });
  const bot = await api("/api/keys", { name: "support bot", profile: cheap.id, requestsPerMinute: 600 });
  const keys = [firstKey, shop.key, bot.key, bot.key];
  for (let hour = 0; hour < HOURS; hour += 1) {
    // Deepseek has a bad afternoon two days ago.
    if (hour >= HOURS - 40 && hour < HOURS - 34) failing.add("deepseek");
    else failing.delete("deepseek");
    const busy =
      1 + Math.round((3 + (hour / HOURS) * 3) * Math.max(0, Math.sin(((hour % 24) / 24) * Math.PI * 2 - 1.2)));
    await Promise.all(Array.from({ length: busy + Math.floor(Math.random() * 2) }, () => ask(url, keys)));
    clock.forwardMs(HOUR_MS);
  }
}

async function ask(/** @type {string} */ url, /** @type {readonly string[]} */ keys) {
  const prompt = PROMPTS[Math.floor(Math.random() ** 1.4 * PROMPTS.length)];
  const body = {
    model: "auto",
    messages: [{ role: "user", content: prompt }],
    stream: Math.random() < 0.4,
    ...(Math.random() < 0.08 ? { tools: [WEATHER] } : {}),
    ...(Math.random() < 0.02 ? { service_profile: "direct", model: "gpt-9" } : {}),
  };
  const key = keys[Math.floor(Math.random() * keys.length)];
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const response = await fetch(`${url}/v1/chat/completions`, { method: "POST", headers, body: JSON.stringify(body) });
  await response.text();
}
