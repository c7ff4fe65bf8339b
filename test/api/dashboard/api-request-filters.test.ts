// The filters of /api/requests and its histogram over HTTP: each alone and all together, and both agree.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { HELLO, labYaml, startGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { type FakeProvider, fails, startFakeProvider } from "../../support/providers/fake-provider.ts";

interface Line {
  readonly requestId: string;
  readonly [field: string]: unknown;
}

let provider: FakeProvider;
let gateway: TestGateway;
let profileId = "";
beforeAll(async () => {
  provider = await startFakeProvider();
  gateway = await startGateway({ yaml: labYaml(provider.url) });
  const made = async (path: string, body: object): Promise<Record<string, string>> =>
    (await (await gateway.api("POST", path, body)).json()) as Record<string, string>;
  profileId = (await made("/api/profiles", { name: "high", tierFloor: "COMPLEX" })).id as string;
  const { key } = await made("/api/keys", { name: "bound", profile: profileId });
  const send = async (id: string, body: object, headers: Record<string, string> = {}): Promise<void> => {
    await (await gateway.post("/v1/chat/completions", body, { "x-request-id": id, ...headers })).text();
  };
  await send("plain", HELLO);
  await send("raised", HELLO, { authorization: `Bearer ${key}` });
  await send("direct", { ...HELLO, service_profile: "direct", model: "beta" });
  await send("refused", {});
  provider.on("alpha", fails(500));
  await send("fallen", HELLO);
});
afterAll(async () => {
  await gateway.stop();
  await provider.close();
});

const list = async (query: string): Promise<readonly Line[]> => {
  const answer = await gateway.api("GET", `/api/requests?${query}`);
  return ((await answer.json()) as { data: Line[] }).data;
};
const ids = async (query: string): Promise<readonly string[]> =>
  (await list(query)).map(({ requestId }) => requestId).sort();
const counted = async (query: string): Promise<number> => {
  const answer = await gateway.api("GET", `/api/requests/histogram?${query}`);
  const { data } = (await answer.json()) as { data: { requests: number }[] };
  return data.reduce((sum, { requests }) => sum + requests, 0);
};

describe("the log", () => {
  it.each([
    ["", ["direct", "fallen", "plain", "raised", "refused"]],
    ["provider=lab", ["direct", "fallen", "plain", "raised"]],
    ["provider=none", ["refused"]],
    ["profile=direct", ["direct"]],
    ["profile=none", ["refused"]],
    ["adjusted=true", ["fallen", "raised"]],
    ["adjusted=true&fallback=false", ["raised"]],
    ["keyProfile=none&adjusted=true", ["fallen"]],
    ["answered=first", ["direct", "plain", "raised"]],
    ["answered=second,later,none", ["fallen"]],
    ["answered=none", []],
    ["failed=lab", ["fallen"]],
    ["failed=Lab", []],
    ["failed=lab&answered=first", []],
    ["costFrom=0.00001&costTo=1", ["direct", "fallen", "plain", "raised"]],
    ["costFrom=0.5", []],
    ["costTo=0.00003", ["plain", "raised"]],
    ["q=ra&provider=lab", ["raised"]],
  ])("and the histogram, narrowed by '%s'", async (query, expected) => {
    expect(await ids(query)).toEqual(expected);
    for (const by of ["hour", "day"]) expect(await counted(`${query}&by=${by}`)).toBe(expected.length);
  });

  it("narrowed by a saved profile, whose lines name it", async () => {
    const lines = await list(`keyProfile=${profileId}&adjusted=true&tier=COMPLEX&provider=lab&status=2xx`);
    expect(lines).toMatchObject([{ requestId: "raised", keyProfile: profileId, adjusted: true, profile: "auto" }]);
    expect(await counted(`keyProfile=${profileId}&adjusted=true&tier=COMPLEX&provider=lab&status=2xx`)).toBe(1);
  });

  it("is exported with the same filters", async () => {
    const answer = await gateway.api("GET", "/api/requests/export?format=csv&adjusted=true&fallback=false");
    const [head, row, end] = (await answer.text()).split("\r\n");
    expect(head).toContain("keyProfile");
    expect(row).toContain("raised");
    expect(end).toBe("");
  });

  it.each([
    ["profile", "fast"],
    ["answered", "second,sometimes"],
    ["failed", "%00"],
    ["adjusted", "1"],
    ["costFrom", "-1"],
    ["costTo", "much"],
    ["costFrom", "376197065632"],
    ["provider", "%00"],
    ["keyProfile", "%00"],
  ])("refuses %s=%s and names it", async (name, value) => {
    for (const path of ["/api/requests", "/api/requests/histogram", "/api/requests/export"]) {
      const answer = await gateway.api("GET", `${path}?${name}=${value}`);
      expect(answer.status).toBe(400);
      expect(await answer.json()).toMatchObject({ error: { param: name } });
    }
  });
});

describe("the histogram", () => {
  it("says what it covers, and counts errors", async () => {
    const answer = await gateway.api("GET", "/api/requests/histogram?by=day&from=2026-01-01T05:00:00Z");
    const { data, from, by } = (await answer.json()) as { data: { errors: number }[]; from: string; by: string };
    const errors = data.reduce((sum, day) => sum + day.errors, 0);
    expect([from, by, errors]).toEqual(["2026-01-01T00:00:00.000Z", "day", 1]);
  });

  it("of another account is empty, of none is missing", async () => {
    const made = (await (await gateway.api("POST", "/api/accounts", { name: "b" })).json()) as { id: string };
    expect(await counted(`account=${made.id}`)).toBe(0);
    expect((await gateway.api("GET", "/api/requests/histogram?account=nobody")).status).toBe(404);
  });

  it("by the hour covers two months at most", async () => {
    const answer = await gateway.api("GET", "/api/requests/histogram?by=hour&from=2020-01-01T00:00:00Z");
    expect(answer.status).toBe(400);
  });
});
