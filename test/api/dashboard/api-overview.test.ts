// /api/overview: one call with the numbers of the single ones, and JSON that is compressed where it may be.

import { request } from "node:http";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ADMIN_TOKEN, HELLO, startGateway, type TestGateway } from "../../support/gateway/gateway.ts";

let gateway: TestGateway;
const read = async (path: string): Promise<Record<string, unknown>> =>
  (await (await gateway.api("GET", path)).json()) as Record<string, unknown>;

beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

it("says that nothing was answered until something was", async () => {
  expect(await read("/api/overview")).toMatchObject({ latest: null, isStarted: false, series: [], keys: [] });
  await (await gateway.post("/v1/chat/completions", {})).text();
  expect(await read("/api/overview")).toMatchObject({ latest: { status: 422 }, isStarted: false });
  await (await gateway.post("/v1/chat/completions", HELLO)).text();
  await (await gateway.post("/v1/chat/completions", {})).text();
  expect(await read("/api/overview")).toMatchObject({ latest: { status: 422 }, isStarted: true });
});

/** What rankings and shares have of a row of usage. */
const SHARE = ["start", "group", "requests", "errors", "chargeUsd", "savedUsd"];

describe("its numbers", () => {
  it.each(["hour", "day"])("by %s are those of the single calls", async (by) => {
    const overview = await read(`/api/overview?by=${by}`);
    const range = `from=${overview.from}&to=${overview.to}`;
    const rows = async (query: string): Promise<unknown> => (await read(`/api/usage?${query}&${range}`)).data;
    const group = async (name: string, step: string): Promise<unknown> =>
      ((await rows(`by=${step}&group=${name}&latency=false`)) as Record<string, unknown>[]).map((row) =>
        Object.fromEntries(SHARE.map((field) => [field, row[field]])),
      );
    expect(overview.series).toEqual(await rows(`by=${by}`));
    expect([overview.total]).toEqual(await rows("by=total"));
    expect(overview.tiers).toEqual(await group("tier", by));
    expect(overview.statuses).toEqual(await group("status", by));
    expect(overview.models).toEqual(await group("model", "total"));
    const keys = (await group("key", "total")) as Record<string, unknown>[];
    expect(overview.keys).toEqual(keys.map((key) => ({ ...key, start: overview.from, name: expect.any(String) })));
    expect(overview.errors).toHaveLength(2);
    expect(overview.before).toBeNull();
  });

  it("name the keys, and narrow to one", async () => {
    const { keys, baselineModel } = await read("/api/overview");
    expect(keys).toMatchObject([{ name: expect.any(String), requests: 3 }]);
    expect(baselineModel).toEqual(expect.any(String));
    const other = await read("/api/overview?key=key_of_nobody");
    expect(other).toMatchObject({ series: [], errors: [], keys: [], isStarted: true });
  });

  it("refuse a range that ends before it begins", async () => {
    expect((await gateway.api("GET", "/api/overview?from=2026-02-01&to=2026-01-01")).status).toBe(400);
  });
});

describe("JSON", () => {
  it.each([
    ["br, gzip", "br", brotliDecompressSync],
    ["gzip, deflate", "gzip", gunzipSync],
    ["br;q=0, gzip;q=0.5", "gzip", gunzipSync],
  ] as const)("is compressed for %s", async (accepted, encoding, open) => {
    for (const path of ["/api/models", "/openapi.json"]) {
      const packed = await raw("GET", path, accepted);
      expect(packed.headers).toMatchObject({ "content-encoding": encoding, vary: expect.stringContaining("encoding") });
      const plain = await raw("GET", path);
      expect(plain.headers["content-encoding"]).toBeUndefined();
      expect(JSON.parse(open(packed.body).toString())).toEqual(JSON.parse(plain.body.toString()));
      expect(packed.body.length).toBeLessThan(plain.body.length / 2);
      expect(Number(packed.headers["content-length"])).toBe(packed.body.length);
    }
  });

  it.each([
    ["small", "GET", "/api/credits", 200],
    ["of a write, which may carry a key", "POST", "/api/profiles", 201],
    ["of /v1", "GET", "/v1/models", 200],
  ] as const)("stays plain: %s", async (_, method, path, status) => {
    const answer = await raw(method, path, "br, gzip", method === "POST" ? LARGE : undefined);
    expect([answer.status, answer.headers["content-encoding"]]).toEqual([status, undefined]);
    expect(answer.body.length > 1_400).toBe(path !== "/api/credits");
  });
});

/** A profile whose response is large enough to be compressed. */
const LARGE = { name: "many", description: "漢".repeat(500) };

interface RawResponse {
  readonly status: number | undefined;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

/** fetch would open what is compressed, and send a header of its own. */
function raw(method: string, path: string, accepted?: string, body?: object): Promise<RawResponse> {
  return new Promise((resolve, reject) => {
    const headers = {
      authorization: `Bearer ${path.startsWith("/v1") ? gateway.key : ADMIN_TOKEN}`,
      ...(accepted === undefined ? {} : { "accept-encoding": accepted }),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    };
    const sent = request(gateway.url + path, { method, headers }, (response) => {
      const parts: Buffer[] = [];
      response.on("data", (part: Buffer) => parts.push(part));
      response.on("end", () =>
        resolve({ status: response.statusCode, headers: response.headers, body: Buffer.concat(parts) }),
      );
    });
    sent.on("error", reject);
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}
