// /api/usage: totals that agree with the log, by any step and group.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { HELLO, startGateway, type TestGateway } from "../../support/gateway/gateway.ts";

interface Usage {
  readonly data: readonly { readonly group: string | null; readonly requests: number; readonly chargeUsd: string }[];
  readonly from: string;
  readonly to: string;
}

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
  for (const body of [HELLO, HELLO, { ...HELLO, stream: true }, {}]) {
    await (await gateway.post("/v1/chat/completions", body)).text();
  }
});
afterAll(() => gateway.stop());

const usage = async (query: string): Promise<Usage> =>
  (await (await gateway.api("GET", `/api/usage${query}`)).json()) as Usage;

it("counts every recorded request, refused ones too", async () => {
  const { data } = await usage("?by=total");
  expect(data).toEqual([
    expect.objectContaining({
      requests: 4,
      errors: 1,
      fallbacks: 0,
      latency: { averageMs: expect.any(Number), p50Ms: expect.any(Number), p95Ms: expect.any(Number) },
    }),
  ]);
  const log = (await (await gateway.api("GET", "/api/requests")).json()) as { data: { chargeUsd: string | null }[] };
  const charged = log.data.reduce((sum, { chargeUsd }) => sum + Number(chargeUsd ?? 0), 0);
  expect(Number(data[0]?.chargeUsd)).toBeCloseTo(charged, 9);
  expect(charged).toBeGreaterThan(0);
});

it.each(["hour", "day", "total"])("by %s adds up to the same, whatever the group", async (by) => {
  for (const group of ["model", "tier", "key", "status"]) {
    const { data } = await usage(`?by=${by}&group=${group}`);
    expect(data.reduce((sum, { requests }) => sum + requests, 0)).toBe(4);
  }
  const { data } = await usage(`?by=${by}&group=status`);
  expect(data.map(({ group, requests }) => [group, requests])).toEqual([
    ["200", 3],
    ["422", 1],
  ]);
});

it("takes the group in `by` too, and names it in each row", async () => {
  const byModel = (await usage("?by=model")).data as readonly { model?: string; group: string | null }[];
  expect(byModel.map(({ model }) => model)).toEqual(byModel.map(({ group }) => group));
  expect((await usage("?by=status")).data).toMatchObject([{ status: "200" }, { status: "422" }]);
  expect((await usage("?by=day,tier")).data).toEqual((await usage("?by=day&group=tier")).data);
});

it("says which time it covers", async () => {
  const { from, to, data } = await usage("?by=hour&from=2026-01-01T10:20:00Z&to=2026-01-01T12:30:00Z");
  expect([from, to, data]).toEqual(["2026-01-01T10:00:00.000Z", "2026-01-01T13:00:00.000Z", []]);
});

describe("a question that does not fit", () => {
  it.each([
    ["by", "?by=week"],
    ["by", "?by=day,hour"],
    ["by", "?by=model,tier"],
    ["group", "?group=category"],
    ["from", "?from=2026-02-01&to=2026-01-01"],
    ["by", "?by=hour&from=2024-01-01&to=2026-01-01"],
    ["tier", "?tier=HUGE"],
    ["account", "?account=nobody"],
  ])("in %s is refused: %s", async (param, query) => {
    const answer = await gateway.api("GET", `/api/usage${query}`);
    expect(answer.status).toBe(param === "account" ? 404 : 400);
    expect(await answer.json()).toMatchObject({ error: { param } });
  });
});

it("has exact percentiles of few requests, by any step and group", async () => {
  interface Times {
    readonly group: string | null;
    readonly latency: { readonly p50Ms: number | null; readonly p95Ms: number | null };
    readonly firstContent: { readonly p50Ms: number | null };
    readonly overhead: { readonly p50Ms: number | null };
  }
  const log = (await (await gateway.api("GET", "/api/requests")).json()) as {
    data: { latencyMs: number; firstContentMs: number | null; status: number }[];
  };
  const sorted = log.data.map(({ latencyMs }) => latencyMs).sort((a, b) => a - b);
  const refused = log.data.find(({ status }) => status === 422)?.latencyMs;
  for (const by of ["hour", "day", "total"]) {
    const [whole] = (await usage(`?by=${by}`)).data as unknown as Times[];
    expect(whole?.latency).toMatchObject({ p50Ms: sorted[1], p95Ms: sorted[3] });
    expect(log.data.map(({ firstContentMs }) => firstContentMs)).toContain(whole?.firstContent.p50Ms);
    // Kept as counts only, and of four requests counts say nothing.
    expect(whole?.overhead.p50Ms).toBeNull();
    const grouped = (await usage(`?by=${by}&group=status`)).data as unknown as Times[];
    expect(grouped.find(({ group }) => group === "422")).toMatchObject({
      latency: { p50Ms: refused, p95Ms: refused },
      firstContent: { p50Ms: null },
    });
  }
  const [none] = (await usage("?by=total&tier=COMPLEX")).data as unknown as Times[];
  expect(none).toBeUndefined();
});

it("leaves out percentiles where nobody wants them, and nothing else", async () => {
  const [whole] = (await usage("?by=total")).data;
  const [plain] = (await usage("?by=total&latency=false")).data;
  expect(plain).toMatchObject({ requests: 4, latency: { p50Ms: null, p95Ms: null }, overhead: { averageMs: null } });
  expect(whole).toMatchObject({ overhead: { averageMs: expect.any(Number), p95Ms: null } });
  expect((await gateway.api("GET", "/api/usage?latency=no")).status).toBe(400);
});

it("tells by the try that answered, and what providers failed", async () => {
  const [total] = (await usage("?by=total")).data as readonly { answered?: object }[];
  expect(total?.answered).toEqual({ first: 3, second: 0, later: 0, none: 0, unknown: 0 });
  const failures = await usage("/failures?by=hour");
  expect(failures).toMatchObject({ data: [], next: null, by: "hour" });
  for (const query of ["?by=week", "?by=hour&from=2020-01-01T00:00:00Z", "?from=2026-02-01&to=2026-01-01"]) {
    expect((await gateway.api("GET", `/api/usage/failures${query}`)).status).toBe(400);
  }
});
