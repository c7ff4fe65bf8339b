// A collector that is away, silent, or back again: requests never notice, what is lost is counted, and the end of the
// process sends what it can without waiting long.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { LogEvent } from "../../../src/core/events.ts";
import { HELLO, labYaml, startGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { startGatewayProcess } from "../../support/gateway/gateway-process.ts";
import { scrape } from "../../support/gateway/scrape.ts";
import { type Collector, refuses, startCollector, staysSilent, takes } from "../../support/network/collector.ts";
import { answers, type FakeProvider, startFakeProvider } from "../../support/providers/fake-provider.ts";

vi.setConfig({ testTimeout: 900_000 });

let provider: FakeProvider;
beforeAll(async () => {
  provider = await startFakeProvider(answers("ok"));
});
afterAll(() => provider.close());

async function withGateway(
  env: Record<string, string>,
  work: (gateway: TestGateway) => Promise<void>,
  extra = "",
): Promise<void> {
  const yaml = labYaml(provider.url, ["alpha", "beta"], extra);
  const gateway = await startGateway({ yaml, env: { OTEL_EXPORTER_OTLP_PROTOCOL: "http/json", ...env } });
  let isStopped = false;
  try {
    await work({
      ...gateway,
      async stop() {
        isStopped = true;
        await gateway.stop();
      },
    });
  } finally {
    if (!isStopped) await gateway.stop();
  }
}

async function withCollector(work: (collector: Collector) => Promise<void>): Promise<void> {
  const collector = await startCollector();
  try {
    await work(collector);
  } finally {
    await collector.close();
  }
}

async function ask(gateway: TestGateway, count = 1): Promise<void> {
  const statuses = await Promise.all(
    Array.from({ length: count }, async () => {
      const answer = await gateway.post("/v1/chat/completions", HELLO);
      await answer.text();
      return answer.status;
    }),
  );
  expect(new Set(statuses)).toEqual(new Set([200]));
}

const dropped = async (gateway: TestGateway, reason: string): Promise<number> =>
  (await scrape(gateway.url)).value(`switchyard_spans_dropped_total{reason="${reason}"}`) ?? -1;

const said = (gateway: TestGateway, event: LogEvent): number =>
  gateway.logged.filter(({ fields }) => fields.event === event).length;

describe("a collector that", () => {
  test("is away costs spans, which are counted, and is complained of once", async () => {
    const gone = await startCollector();
    await gone.close();
    const env = {
      OTEL_EXPORTER_OTLP_ENDPOINT: gone.url,
      OTEL_EXPORTER_OTLP_TIMEOUT: "300",
      OTEL_BSP_SCHEDULE_DELAY: "20",
    };
    await withGateway(env, async (gateway) => {
      await ask(gateway);
      await expect.poll(() => dropped(gateway, "export-failed")).toBe(3);
      await ask(gateway);
      await expect.poll(() => dropped(gateway, "export-failed")).toBe(6);
      expect(said(gateway, "otlp.export_failed")).toBe(1);
    });
  });

  test("never answers holds up neither requests nor the end", async () => {
    await withCollector(async (collector) => {
      collector.behave(staysSilent);
      const env = {
        OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${collector.url}/v1/traces`,
        OTEL_EXPORTER_OTLP_TIMEOUT: "600000",
        OTEL_BSP_SCHEDULE_DELAY: "20",
        OTEL_BSP_MAX_QUEUE_SIZE: "9",
      };
      await withGateway(env, async (gateway) => {
        await ask(gateway);
        await expect.poll(() => collector.posts.length).toBe(1);
        // Three spans each: three requests fit into the queue.
        await ask(gateway, 10);
        await expect.poll(() => dropped(gateway, "queue-full")).toBe(21);
        const stoppedAt = performance.now();
        await gateway.stop();
        expect(performance.now() - stoppedAt).toBeLessThan(30_000);
        expect(collector.posts).toHaveLength(1);
      });
    });
  });

  test("refuses and then takes them again gets the next ones", async () => {
    await withCollector(async (collector) => {
      collector.behave(refuses);
      const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_BSP_SCHEDULE_DELAY: "20" };
      await withGateway(env, async (gateway) => {
        await ask(gateway);
        await expect.poll(() => dropped(gateway, "export-failed")).toBe(3);
        collector.behave(takes);
        await ask(gateway);
        const sent = async (): Promise<number | undefined> =>
          (await scrape(gateway.url)).value("switchyard_spans_sent_total");
        await expect.poll(sent).toBe(3);
        expect(said(gateway, "otlp.export_recovered")).toBe(1);
      });
    });
  });
});

test("a process ends although its collector never answers", async () => {
  await withCollector(async (collector) => {
    collector.behave(staysSilent);
    const folder = mkdtempSync(join(tmpdir(), "switchyard-traces-"));
    const env = {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_TIMEOUT: "600000",
      OTEL_BSP_SCHEDULE_DELAY: "20",
    };
    const gateway = await startGatewayProcess({ folder, env });
    const headers = { authorization: `Bearer ${gateway.firstKey}` };
    expect((await fetch(`${gateway.url}/v1/models`, { headers })).status).toBe(200);
    await expect.poll(() => collector.posts.length).toBe(1);
    const askedAt = performance.now();
    expect(await gateway.stop()).toBe(0);
    // Ten minutes, if it waited for the collector.
    expect(performance.now() - askedAt).toBeLessThan(60_000);
    rmSync(folder, { recursive: true, force: true });
  });
});

test("what waits at the end is sent before the process is done", async () => {
  await withCollector(async (collector) => {
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_BSP_SCHEDULE_DELAY: "600000" };
    await withGateway(env, async (gateway) => {
      await ask(gateway, 2);
      await gateway.stop();
      expect(collector.spans()).toHaveLength(6);
    });
  });
});

test("without a protocol it is protobuf; compressed when asked for", async () => {
  await withCollector(async (collector) => {
    const env = {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_PROTOCOL: "",
      OTEL_EXPORTER_OTLP_COMPRESSION: "gzip",
      OTEL_BSP_SCHEDULE_DELAY: "20",
    };
    await withGateway(env, async (gateway) => {
      await ask(gateway);
      await expect.poll(() => collector.posts.length).toBeGreaterThan(0);
      const [post] = collector.posts;
      expect(post?.headers).toMatchObject({ "content-type": "application/x-protobuf", "content-encoding": "gzip" });
      for (const text of ["switchyard", "POST /v1/chat/completions", "chat alpha", "gen_ai.request.model"]) {
        expect(post?.body.includes(text), text).toBe(true);
      }
    });
  });
});

test("a provider that was named for it gets the place of its own span, and nothing of the client's", async () => {
  await withCollector(async (collector) => {
    const yaml = labYaml(provider.url).replace("kind: openai,", "kind: openai, traceparent: true,");
    const env = {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
      OTEL_BSP_SCHEDULE_DELAY: "20",
    };
    const gateway = await startGateway({ yaml, env });
    try {
      const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
      const traceparent = `00-${traceId}-00f067aa0ba902b7-01`;
      await (await gateway.post("/v1/chat/completions", HELLO, { traceparent, tracestate: "vendor=x" })).text();
      const spans = await collector.trace(traceId, 3);
      const client = spans.find(({ name }) => name === "chat alpha");
      const headers = provider.requests.at(-1)?.headers ?? {};
      expect(headers.traceparent).toBe(`00-${traceId}-${client?.spanId}-01`);
      expect(headers).not.toHaveProperty("tracestate");
    } finally {
      await gateway.stop();
    }
  });
});

test("switched off nothing is sent; the log still has the caller's trace", async () => {
  await withCollector(async (collector) => {
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_SDK_DISABLED: "true" };
    await withGateway(env, async (gateway) => {
      const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
      await (await gateway.get("/v1/models", { traceparent: `00-${traceId}-00f067aa0ba902b7-01` })).text();
      await (await gateway.get("/v1/models", { traceparent: `00-${traceId}-00f067aa0ba902b7-01-more` })).text();
      await gateway.stop();
      expect(collector.posts).toEqual([]);
      const lines = gateway.logged
        .filter(({ fields }) => fields.event === "request.completed")
        .map(({ fields }) => fields);
      // What is undefined is not written.
      expect(lines.map((fields) => ("trace_id" in fields ? (fields.trace_id ?? null) : null))).toEqual([traceId, null]);
    });
  });
});
