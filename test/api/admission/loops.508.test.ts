// A gateway that is its own provider, over however many others: each request would become another one, until a limit ends it.

import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { expectError } from "../../support/errors.ts";
import { HELLO, labYaml, startGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { closedPort } from "../../support/network/unreachable.ts";
import { type Behaviour, type FakeProvider, startFakeProvider } from "../../support/providers/fake-provider.ts";

let provider: FakeProvider;
let gateway: TestGateway;
beforeAll(async () => {
  provider = await startFakeProvider();
  gateway = await startGateway({ yaml: labYaml(provider.url) });
});
beforeEach(() => provider.reset());
afterAll(async () => {
  await gateway.stop();
  await provider.close();
});

/** Another gateway that names this one as its provider: it hands the request back, with the header that it got. */
const handsBack: Behaviour = async ({ request, response }) => {
  const loop = request.headers["cdn-loop"];
  const answer = await gateway.post(
    "/v1/chat/completions",
    HELLO,
    loop === undefined ? {} : { "cdn-loop": String(loop) },
  );
  response.writeHead(answer.status, { "content-type": "application/json" });
  response.end(await answer.text());
};

test("a request that comes back gets 508, and the one before it goes on to the next model", async () => {
  provider.on("alpha", handsBack);
  const answer = await gateway.post("/v1/chat/completions", HELLO);
  expect(answer.status).toBe(200);
  expect(await answer.json()).toMatchObject({ model: "beta", service: { fallback: true } });
  expect([provider.callsTo("alpha"), provider.callsTo("beta")]).toEqual([1, 1]);
});

test("where every model leads back, each is called once", async () => {
  provider.on("*", handsBack);
  const { message } = await expectError(await gateway.post("/v1/chat/completions", HELLO), { status: 503 });
  expect(message).toContain("The last one returned 508.");
  expect(provider.requests).toHaveLength(2);
});

test("the 508 says so in a code, invites no retry, and tells the operator what to remove", async () => {
  await gateway.post("/v1/chat/completions", HELLO);
  const own = String(provider.requests[0]?.headers["cdn-loop"]);
  expect(own).toMatch(/^switchyard-[0-9a-f]{16}$/);
  const calls = provider.requests.length;
  const answer = await gateway.post("/v1/chat/completions", HELLO, { "cdn-loop": `cloudflare; loops=1, ${own}` });
  expect(answer.headers.get("x-should-retry")).toBe("false");
  const { message } = await expectError(answer, { status: 508, code: "loop_detected" });
  expect(message).not.toContain("baseUrl");
  expect(provider.requests).toHaveLength(calls);
  const line = gateway.logged.find(({ fields }) => fields.status === 508);
  expect(line?.fields.operatorMessage).toContain("Remove that provider");
});

test("other gateways on the way are passed on, and other programs are not", async () => {
  const others = "switchyard-0123456789abcdef";
  const answer = await gateway.post("/v1/chat/completions", HELLO, { "cdn-loop": `cloudflare; loops=1, ${others}` });
  expect(answer.status).toBe(200);
  expect(provider.requests[0]?.headers["cdn-loop"]).toMatch(new RegExp(`^${others}, switchyard-[0-9a-f]{16}$`));
});

test("two gateways are not the same one", async () => {
  const outer = await startGateway({ yaml: labYaml(`${gateway.url}/v1`).replace("lab-secret", gateway.key) });
  try {
    expect((await outer.post("/v1/chat/completions", HELLO)).status).toBe(200);
    expect(String(provider.requests[0]?.headers["cdn-loop"]).split(", ")).toHaveLength(2);
  } finally {
    await outer.stop();
  }
});

test("the own address is refused where a provider is published", async () => {
  const { port } = new URL((await closedPort()).url);
  const own = await startGateway({ yaml: labYaml(provider.url), env: { PORT: port } });
  try {
    const body = { id: "self", kind: "openai", baseUrl: `http://localhost:${port}/v1`, apiKey: "sk-service-x" };
    const base = (await (await own.api("GET", "/api/versions")).json()) as { data: { number: number }[] };
    const answer = await own.api("POST", "/api/providers", { ...body, base: base.data[0]?.number ?? 0 });
    expect(answer.status).toBe(422);
    expect(await answer.text()).toContain("this is the gateway's own address");
  } finally {
    await own.stop();
  }
});
