// What a shadow sample is planned with: the key that is free, without a trace in what is known of health.

import { expect, test } from "vitest";
import { type Decision, NO_CONSTRAINTS } from "../../../src/core/decision.ts";
import { parseBody } from "../../../src/formats/json/parse.ts";
import { openaiChat } from "../../../src/formats/openai-chat/codec.ts";
import type { Services } from "../../../src/gateway/services.ts";
import { type AskedAgain, plan } from "../../../src/gateway/shadow/second-answer.ts";
import { createHealth, type Trouble } from "../../../src/providers/health.ts";
import { makeCatalog, makeModel, makeProvider } from "../../support/catalog.ts";

const KEYS = ["one", "two", "three"];
const RULES = { failuresInRow: 5, failureShare: 0.5, callsMin: 20, windowMs: 30_000, openMs: 5_000, openMsMax: 60_000 };
const limited: Trouble = { kind: "limited", waitMs: 10_000, error: "429" };
const refused: Trouble = { kind: "refused-key", waitMs: null, error: "401" };

function make(keyIds: readonly string[] | undefined = KEYS) {
  const second = makeModel({ id: "second", price: { input: 1e6, output: 4e6, cacheRead: null, cacheWrite: null } });
  const apiKeys = keyIds?.map((id) => ({ id, key: `secret-${id}`, weight: 1 }));
  const provider = makeProvider(apiKeys === undefined ? {} : { apiKeys });
  const catalog = makeCatalog({ chains: { LIGHT: [second] }, providers: [provider] });
  let nowMs = 1_000_000;
  const models = [{ id: "second", provider: second.provider, keyIds }];
  const log = { debug() {}, info() {}, warn() {}, error() {} };
  const health = createHealth({ models, rules: RULES, now: () => nowMs, random: () => 0.5, log });
  const registry = { connection: () => ({ provider }) };
  const services = { catalog, health, registry, speeds: { current: () => new Map() } } as unknown as Services;
  const { source, body } = parseBody(Buffer.from(JSON.stringify({ messages: [{ role: "user", content: "Hi" }] })));
  const asked: AskedAgain = {
    format: openaiChat,
    request: openaiChat.readRequest(source, body),
    constraints: NO_CONSTRAINTS,
    decision: { estimatedTokens: { input: 20, output: 10 } } as Decision,
    requestId: "req_1",
    liveOutputTokens: 10,
  };
  const fail = (keyId: string, trouble: Trouble): void => {
    health.report("second", health.admit("second", keyId), trouble, keyId);
  };
  return { health, fail, keyOf: () => plan(asked, "second", services)?.keyId, pass: (ms: number) => (nowMs += ms) };
}

test("the next key is taken while one is limited or refused, and none when all are", () => {
  const { fail, keyOf, pass } = make();
  const first = keyOf() as string;
  expect(KEYS).toContain(first);
  fail(first, limited);
  const next = keyOf() as string;
  expect(KEYS).toContain(next);
  expect(next).not.toBe(first);
  fail(next, refused);
  const last = keyOf() as string;
  expect(new Set([first, next, last])).toEqual(new Set(KEYS));
  fail(last, limited);
  expect(keyOf()).toBeUndefined();
  pass(10_001);
  expect(keyOf()).toBe(first);
});

test("planning is no call: no ticket is drawn, and no probe of a key that had failed", () => {
  for (const keyIds of [KEYS, undefined]) {
    const { health, keyOf, fail, pass } = make(keyIds);
    const before = health.overview();
    for (let count = 0; count < 50; count++) keyOf();
    expect(health.overview()).toEqual(before);
    expect(health.admit("second", keyIds?.[0])).toBe(1);
    if (keyIds === undefined) continue;
    fail("one", refused);
    pass(60_000);
    for (let count = 0; count < 50; count++) keyOf();
    // The first live call may probe it.
    expect(health.admit("second", "one")).toBeGreaterThan(0);
  }
});
