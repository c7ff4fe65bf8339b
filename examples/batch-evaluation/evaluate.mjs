// Sends each prompt of prompts.jsonl to two tiers, checks the answers, tells the gateway what was right, and prints how
// many passed at what cost. Variables: SWITCHYARD_URL, SWITCHYARD_KEY, TIERS.

import { readFileSync } from "node:fs";

const {
  SWITCHYARD_URL: url = "http://127.0.0.1:8787",
  SWITCHYARD_KEY: key = "",
  TIERS = "NANO,STANDARD",
} = process.env;
const AT_ONCE = 4;
const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
const file = new URL("prompts.jsonl", import.meta.url);
const cases = readFileSync(file, "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line));

/** One prompt at one tier: whether the answer is right, and its cost. */
async function ask(tier, { prompt, expect }) {
  const body = {
    model: "auto",
    ...{ service_profile: "tier", service_tier: tier, metadata: { experiment: "batch-evaluation" } },
    messages: [{ role: "user", content: prompt }],
  };
  const response = await fetch(`${url}/v1/chat/completions`, { method: "POST", headers, body: JSON.stringify(body) });
  const answer = await response.json();
  if (!response.ok) throw new Error(`${response.status}: ${answer.error?.message}`);
  const isRight = answer.choices[0].message.content.toLowerCase().includes(expect);
  const feedback = { request_id: response.headers.get("x-request-id"), score: isRight ? 1 : 0 };
  await fetch(`${url}/v1/feedback`, { method: "POST", headers, body: JSON.stringify(feedback) });
  return { isRight, costUsd: Number(answer.service.costUsd), model: answer.model };
}

/** A few at once, so that limits of a key are kept. */
async function askAll(tier) {
  const waiting = [...cases];
  const results = [];
  const worker = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) results.push(await ask(tier, next));
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return results;
}

for (const tier of TIERS.split(",")) {
  const results = await askAll(tier);
  const right = results.filter(({ isRight }) => isRight).length;
  const costUsd = results.reduce((sum, each) => sum + each.costUsd, 0);
  const models = [...new Set(results.map(({ model }) => model))].join(", ");
  console.log(`${tier.padEnd(10)} ${right}/${results.length} right   $${costUsd.toFixed(6)}   ${models}`);
}
