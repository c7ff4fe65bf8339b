// Token counts that a provider leaves out or that cannot be right are counted by provider, model and reason, and logged at
// most once a minute. In both formats, whole and streamed.

import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { HELLO } from "../../support/gateway/gateway.ts";
import { scrape } from "../../support/gateway/scrape.ts";
import { says } from "../../support/providers/fake-anthropic.ts";
import { answers, type Behaviour, chunk, streams } from "../../support/providers/fake-provider.ts";
import { type Mixed, startMixed } from "../../support/providers/mixed.ts";

let mixed: Mixed;

beforeAll(async () => {
  mixed = await startMixed();
});
beforeEach(() => mixed.reset());
afterAll(() => mixed.close());

const chatUsage = (prompt: number, completion: number): object => ({
  usage: { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion },
});
const streamed = (usage?: object): Behaviour =>
  streams([chunk("alpha", { content: "Hello" }), chunk("alpha", {}, "stop")], usage as { usage: object });
const message = (input: number, output: number): Behaviour =>
  says("Hello", { usage: { input_tokens: input, output_tokens: output } });

interface Case {
  readonly model: "alpha" | "claude";
  readonly stream: boolean;
  readonly reason: string;
  readonly behaviour: Behaviour;
}

const CASES: readonly Case[] = [
  { model: "alpha", stream: false, reason: "missing", behaviour: answers("Hello", { usage: undefined }) },
  { model: "alpha", stream: false, reason: "missing", behaviour: answers("Hello", chatUsage(-5, 3)) },
  { model: "alpha", stream: false, reason: "output_missing", behaviour: answers("Hello", chatUsage(5, 0)) },
  { model: "alpha", stream: false, reason: "excessive", behaviour: answers("Hello", chatUsage(5, 900_000)) },
  { model: "alpha", stream: true, reason: "missing", behaviour: streamed() },
  { model: "alpha", stream: true, reason: "missing", behaviour: streamed(chatUsage(1.5, 3)) },
  { model: "alpha", stream: true, reason: "excessive", behaviour: streamed(chatUsage(9_000_000, 3)) },
  { model: "claude", stream: false, reason: "missing", behaviour: message(-1, 3) },
  { model: "claude", stream: false, reason: "excessive", behaviour: message(5, 900_000) },
  { model: "claude", stream: true, reason: "missing", behaviour: message(-1, 3) },
  { model: "claude", stream: true, reason: "excessive", behaviour: message(9_000_000, 3) },
];

async function problems(): Promise<Record<string, number>> {
  const text = await (await fetch(`${mixed.gateway.url}/metrics`)).text();
  const lines = text.matchAll(/^switchyard_usage_problems_total\{.*model="(\w+)",reason="(\w+)"\} (\d+)$/gm);
  return Object.fromEntries([...lines].map(([, model, reason, count]) => [`${model} ${reason}`, Number(count)]));
}

test.each(CASES)("$model, stream $stream: $reason", async ({ model, stream, reason, behaviour }) => {
  const subject = `${model} ${reason}`;
  const before = await problems();
  if (model === "alpha") mixed.openai.once("alpha-1", behaviour);
  else mixed.anthropic.once("claude-real-1", behaviour);
  const answer = await mixed.gateway.post("/v1/chat/completions", {
    ...HELLO,
    model,
    stream,
    service_profile: "direct",
  });
  expect(answer.status, await answer.text()).toBe(200);
  await expect.poll(problems).toEqual({ ...before, [subject]: (before[subject] ?? 0) + 1 });
});

test("counts that are right are no problem", async () => {
  const before = await problems();
  const answer = await mixed.gateway.post("/v1/chat/completions", {
    ...HELLO,
    model: "alpha",
    service_profile: "direct",
  });
  expect(answer.status).toBe(200);
  expect(await problems()).toEqual(before);
});

test("the log has one line a minute for each provider, model and reason", async () => {
  const lines = mixed.gateway.logged.filter(({ fields }) => fields.event === "usage.implausible");
  const subjects = lines.map(({ fields }) => `${fields.model} ${fields.reason}`);
  expect(subjects.length).toBeGreaterThan(0);
  expect(subjects.toSorted()).toEqual(Object.keys(await problems()).toSorted());
  expect((await scrape(mixed.gateway.url)).labelsOf("switchyard_usage_problems_total")).toEqual(
    new Set(["provider", "model", "reason"]),
  );
});
