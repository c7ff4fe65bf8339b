// The limit for the time to the first token as a rule of its own: which hosts it leaves out, and when it is set aside.

import { describe, expect, test } from "vitest";
import type { HostSpeed } from "../../../src/core/decision.ts";
import type { HostedModel } from "../../../src/core/model.ts";
import { latencyLimit, leftOutNotes, withinLimit } from "../../../src/routing/latency.ts";
import { makeModel, makeQuestion } from "../../support/catalog.ts";
import { fc } from "../../support/property.ts";

const hostAt = (host: string): HostedModel => ({ ...makeModel({ id: "m" }), host, hostKey: `m via ${host}` });
const HOSTS = ["a", "b", "c"].map(hostAt);

function limitOf(maxMs: number, known: Readonly<Record<string, Partial<HostSpeed>>>, ruled: number | null = null) {
  const question = makeQuestion({ controls: { maxLatencyMs: maxMs }, constraints: { maxLatencyMs: ruled } });
  const speeds = Object.entries(known).map(
    ([host, speed]) => [`m via ${host}`, { firstMs: 0, tokensPerSecond: 0, ...speed }] as const,
  );
  return latencyLimit({ ...question, hostSpeeds: new Map(speeds) });
}

describe("the latency limit", () => {
  test("is there only where request or profile has one, and the lower one counts", () => {
    expect(latencyLimit(makeQuestion())).toBeNull();
    expect(limitOf(900, {})?.name).toBe("max latency 900 ms");
    expect(limitOf(900, {}, 400)?.name).toBe("max latency 400 ms");
  });

  test("takes streams before whole answers, and no host that was not observed", () => {
    const limit = limitOf(500, { a: { firstMs: 400, headMs: 9_000 }, b: { headMs: 501 }, c: { tokensPerSecond: 3 } });
    expect(HOSTS.map((host) => limit?.isMetBy(host))).toEqual([true, false, true]);
  });

  test("names what it leaves out", () => {
    const limit = limitOf(500, { a: { firstMs: 700.4 }, b: { firstMs: 500 } });
    expect(leftOutNotes("m", HOSTS, limit)).toEqual(["left out of m: first token after 700 ms at a, above 500 ms"]);
    expect(withinLimit("m", HOSTS, limit).hosts.map(({ host }) => host)).toEqual(["b", "c"]);
  });

  test("never leaves a model without a host, whatever was observed", () => {
    const ms = fc.integer({ min: 1, max: 2_000 });
    fc.assert(
      fc.property(ms, fc.record({ a: ms, b: ms, c: ms }), (maxMs, seen) => {
        const known = Object.fromEntries(Object.entries(seen).map(([host, firstMs]) => [host, { firstMs }]));
        const { hosts, notes } = withinLimit("m", HOSTS, limitOf(maxMs, known));
        const fast = HOSTS.filter(({ host }) => seen[host as "a"] <= maxMs);
        expect(hosts).toEqual(fast.length === 0 ? HOSTS : fast);
        expect(notes.length).toBe(fast.length === HOSTS.length ? 0 : 1);
      }),
    );
  });
});
