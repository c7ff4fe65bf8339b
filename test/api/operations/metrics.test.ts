// What /metrics says after traffic with a fallback, and that the dashboard, the alerts and docs/operate/observability.md name
// nothing that is not there.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { parse } from "yaml";
import { failureReason } from "../../../src/telemetry/request-metrics.ts";
import { HELLO, labYaml, startGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { type Scrape, scrape } from "../../support/gateway/scrape.ts";
import { answers, type FakeProvider, fails, hangs, startFakeProvider } from "../../support/providers/fake-provider.ts";

const ROOT = join(import.meta.dirname, "../../..");
const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");

let provider: FakeProvider;
let gateway: TestGateway;
let seen: Scrape;
/** After a further response, whose provider counted nothing. */
let uncounted: Scrape;

beforeAll(async () => {
  provider = await startFakeProvider(answers("ok"));
  // Two failures in a row open the breaker; a transient fault is retried.
  gateway = await startGateway({
    yaml: labYaml(provider.url, ["alpha", "beta"], "health: { failuresInRow: 2, openMs: 600000, openMsMax: 600000 }"),
  });
  provider.on("alpha", fails(500));
  const answer = await gateway.post("/v1/chat/completions", HELLO);
  expect(answer.status).toBe(200);
  await answer.text();
  await gateway.post("/v1/chat/completions", { messages: [] }).then((refused) => refused.text());
  // Both are counted when they are over, a moment after their answers.
  await vi.waitFor(
    async () => {
      seen = await scrape(gateway.url);
      expect(seen.value("switchyard_requests_in_flight")).toBe(0);
    },
    { timeout: 60_000 },
  );
  provider.once("beta", answers("ok", { usage: undefined }));
  await (await gateway.post("/v1/chat/completions", HELLO)).text();
  uncounted = await scrape(gateway.url);
});
afterAll(async () => {
  await gateway.stop();
  await provider.close();
});

describe("after a request that fell back", () => {
  test.each<readonly [string, number]>([
    ['switchyard_fallbacks_total{from="alpha",to="beta",reason="status_5xx"}', 1],
    ['switchyard_failed_attempts_total{provider="lab",model="alpha",reason="status_5xx"}', 2],
    ['switchyard_retries_total{provider="lab",outcome="made"}', 1],
    ['switchyard_breaker_state{scope="model",provider="lab",model="alpha"}', 2],
    ['switchyard_breaker_openings_total{scope="model",provider="lab",model="alpha"}', 1],
    ['switchyard_models{state="usable"}', 1],
    ['switchyard_models{state="resting"}', 1],
    ['switchyard_provider_calls_in_flight{provider="lab"}', 0],
    ['switchyard_tokens_total{model="beta",kind="input"}', 12],
    ['switchyard_tokens_total{model="beta",kind="output"}', 5],
    // 12 × 2 + 5 × 6 USD per million, and 5 % on top; the baseline is beta itself, without it.
    ['switchyard_charged_usd_total{model="beta"}', 0.0000567],
    ['switchyard_baseline_usd_total{model="beta"}', 0.000054],
    ["switchyard_overhead_seconds_count", 1],
    ["switchyard_decision_seconds_count", 1],
    ["switchyard_to_provider_seconds_count", 1],
    ['switchyard_to_client_seconds_count{part="whole"}', 1],
    ['switchyard_store_errors_total{work="request"}', 0],
    ["switchyard_settlements_waiting", 0],
    ['switchyard_shed_requests_total{reason="queue"}', 0],
  ])("%s is %d", (series, value) => {
    expect(seen.value(series)).toBe(value);
  });

  test("the overhead is less than the whole, and the decision less than the overhead", () => {
    const sum = (name: string): number => seen.value(`${name}_sum`) as number;
    const whole = seen.value('switchyard_request_duration_seconds_sum{route="/v1/chat/completions"}') as number;
    expect(sum("switchyard_decision_seconds")).toBeGreaterThan(0);
    expect(sum("switchyard_overhead_seconds")).toBeGreaterThan(sum("switchyard_decision_seconds"));
    // Whole milliseconds are counted for the requests, so up to one of them is missing.
    expect(sum("switchyard_overhead_seconds")).toBeLessThan(whole + 0.002);
  });
});

test("a call is out at its provider until it is over", async () => {
  const out = async (): Promise<number | undefined> =>
    (await scrape(gateway.url)).value('switchyard_provider_calls_in_flight{provider="lab"}');
  provider.on("beta", hangs);
  const arrived = provider.nextRequest();
  const leaving = new AbortController();
  const left = fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" },
    body: JSON.stringify({ ...HELLO, model: "beta", service_profile: "direct" }),
    signal: leaving.signal,
  }).catch(() => "left");
  await arrived;
  expect(await out()).toBe(1);
  leaving.abort();
  expect(await left).toBe("left");
  await expect.poll(out).toBe(0);
});

test("a stream counts its first and its last text", async () => {
  const streamed = async (part: string): Promise<number> =>
    (await scrape(gateway.url)).value(`switchyard_to_client_seconds_count{part="${part}"}`) ?? 0;
  expect(await streamed("first")).toBe(0);
  provider.once("beta", answers("ok"));
  const body = { ...HELLO, model: "beta", service_profile: "direct", stream: true };
  expect(await (await gateway.post("/v1/chat/completions", body)).text()).toContain("[DONE]");
  await expect.poll(() => streamed("first")).toBe(1);
  expect(await streamed("last")).toBe(1);
});

test.each<readonly [Parameters<typeof failureReason>[0], string]>([
  [{ failure: "connect", status: null }, "connect"],
  [{ failure: "status", status: 429 }, "status_429"],
  [{ failure: "status", status: 418 }, "status_4xx"],
  [{ failure: "status", status: 502 }, "status_5xx"],
  [{ failure: "status", status: 999 }, "status_5xx"],
  [{ failure: "status", status: 302 }, "status_4xx"],
])("of a failure %o the label is %s", (failure, label) => {
  expect(failureReason(failure)).toBe(label);
});

interface Query {
  readonly where: string;
  readonly expr: string;
}

interface Panel {
  readonly title: string;
  readonly targets?: readonly { readonly expr: string }[];
}

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly annotations: { readonly summary: string };
}

const dashboard = JSON.parse(read("deploy/grafana/switchyard.json")) as { panels: readonly Panel[] };
const { groups } = parse(read("deploy/prometheus/switchyard.rules.yaml")) as { groups: { rules: Rule[] }[] };
const rules = groups.flatMap((group) => group.rules);
const page = read("docs/operate/observability.md");
const alertPage = read("docs/operate/alerts.md");

const QUERIES: readonly Query[] = [
  ...dashboard.panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => ({ where: title, expr }))),
  ...rules.map(({ alert, expr }) => ({ where: alert, expr })),
];

/** Labels that Prometheus adds itself. */
const SCRAPED: ReadonlySet<string> = new Set(["instance", "job"]);

describe.each(QUERIES)("$where: $expr", ({ expr }) => {
  const names = [...expr.matchAll(/switchyard_\w+/g)].map(([name]) => name);

  test("names metrics that are there", () => {
    expect(names.length).toBeGreaterThan(0);
    expect(names.filter((name) => !seen.names.has(name))).toEqual([]);
  });

  test("names labels that their lines have", () => {
    const asked = [
      ...[...expr.matchAll(/\{([^}]*)\}/g)].flatMap(([, within]) => [...(within as string).matchAll(/(\w+)\s*[=!]/g)]),
      ...[...expr.matchAll(/by \(([^)]*)\)/g)].flatMap(([, within]) => [...(within as string).matchAll(/(\w+)/g)]),
    ].map(([, label]) => label as string);
    const known = new Set(names.flatMap((name) => [...(seen.labelsOf(name) ?? [])]));
    expect(asked.filter((label) => !SCRAPED.has(label) && !known.has(label))).toEqual([]);
  });

  test("has as many brackets open as closed", () => {
    for (const pair of ["()", "{}", "[]"]) {
      expect(expr.split(pair[0] as string).length, pair).toBe(expr.split(pair[1] as string).length);
    }
  });
});

describe("docs/operate/observability.md", () => {
  const rows = [...page.matchAll(/^\| `(switchyard_\w+)` \| ([^|]*)\|/gm)].map(([, name, labels]) => ({
    name: name as string,
    labels: (labels as string).split(",").flatMap((label) => (label.trim() === "" ? [] : [label.trim()])),
  }));
  const PROCESS = /^switchyard_(process|nodejs)_/;

  test("has a row for every metric, and none for one that is not there", () => {
    const there = [...seen.families].filter((name) => !PROCESS.test(name));
    expect(rows.map(({ name }) => name).toSorted()).toEqual(there.toSorted());
  });

  test("names the labels that the lines have", () => {
    // Its first line comes after a scheduled check; test/unit/app/price-check.test.ts knows its label.
    for (const { name, labels } of rows.filter((row) => row.name !== "switchyard_price_feed_age_seconds")) {
      const line = seen.labelsOf(name) ?? seen.labelsOf(`${name}_count`) ?? uncounted.labelsOf(name);
      expect([...(line ?? [])].toSorted(), name).toEqual(labels.toSorted());
    }
  });

  test("says of each alert what to do", () => {
    for (const { alert } of rules) expect(alertPage).toContain(`### ${alert}\n`);
  });
});
