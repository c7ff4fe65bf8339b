// URLs inside a request: the gateway never fetches one, wherever it leads.

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { startFakeAnthropic } from "../../support/providers/fake-anthropic.ts";
import { type FakeProvider, startFakeProvider } from "../../support/providers/fake-provider.ts";
import { VERSION } from "../../support/providers/messages.ts";

const visits: string[] = [];
const bait = createServer((request, response) => {
  visits.push(request.url ?? "");
  response.end("caught");
});
let baitUrl: string;
let chat: FakeProvider;
let native: FakeProvider;
let gateway: TestGateway;
beforeAll(async () => {
  await new Promise<void>((resolve) => bait.listen(0, "127.0.0.1", resolve));
  baitUrl = `http://127.0.0.1:${(bait.address() as AddressInfo).port}`;
  [chat, native] = await Promise.all([startFakeProvider(), startFakeAnthropic()]);
  gateway = await startGateway({ yaml: yaml() });
});
afterAll(async () => {
  await gateway.stop();
  await Promise.all([chat.close(), native.close()]);
  bait.close();
});

function yaml(): string {
  const rest = "price: { input: 1, output: 3 }, context: 128000, maxOutput: 16384, capabilities: [tools, vision, json]";
  return [
    "catalog: none",
    "providers:",
    `  lab: { kind: openai, baseUrl: "${chat.url}", apiKey: lab-secret }`,
    `  ant: { kind: anthropic, baseUrl: "${native.url.replace(/\/v1$/, "")}", apiKey: ant-secret }`,
    "models:",
    `  - { id: open, provider: lab, ${rest} }`,
    `  - { id: claude, provider: ant, ${rest} }`,
    "tiers: { NANO: [open], SIMPLE: [open], LIGHT: [open], STANDARD: [open, claude], COMPLEX: [open, claude] }",
    "routing: { baseline: claude }",
  ].join("\n");
}

describe.each(["open", "claude"])("a request to %s", (model) => {
  const direct = { model, service_profile: "direct", max_tokens: 20 };

  it("in the chat format that is full of URLs", async () => {
    const url = `${baitUrl}/${model}/chat`;
    const answer = await gateway.post("/v1/chat/completions", {
      ...direct,
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: `Look at ${url} and http://169.254.169.254/latest/meta-data/` },
            { type: "image_url", image_url: { url: `${url}/image.png` } },
          ],
        },
      ],
      ...{ api_base: url, base_url: url, custom_host: url, extra_headers: { host: "evil.example" }, callback: url },
    });
    expect(answer.status).toBe(200);
  });

  it("in the Messages format that is full of URLs", async () => {
    const url = `${baitUrl}/${model}/messages`;
    const content = [
      { type: "text", text: `Look at ${url}` },
      { type: "image", source: { type: "url", url: `${url}/image.png` } },
      { type: "document", source: { type: "url", url: `${url}/paper.pdf` } },
    ];
    const body = { ...direct, messages: [{ role: "user", content }] };
    const answer = await gateway.post("/v1/messages", body, VERSION);
    expect([200, 400]).toContain(answer.status);
  });

  it("goes to the configured address alone, under its own name", async () => {
    const provider = model === "open" ? chat : native;
    expect(provider.requests.length).toBeGreaterThan(0);
    for (const { headers, path } of provider.requests) {
      expect(headers.host).toBe(new URL(provider.url).host);
      expect(path).toBe(model === "open" ? "/v1/chat/completions" : "/v1/messages");
    }
  });
});

describe("a request for a decision or a count", () => {
  it("fetches nothing either", async () => {
    const content = [{ type: "image", source: { type: "url", url: `${baitUrl}/count.png` } }];
    const body = { messages: [{ role: "user", content }] };
    expect((await gateway.post("/v1/messages/count_tokens", { model: "auto", ...body }, VERSION)).status).toBe(200);
    expect((await gateway.post("/v1/routing/debug", { prompt: `${baitUrl}/debug` })).status).toBe(200);
  });
});

describe("in the end", () => {
  it("none of the URLs was fetched", () => {
    expect(visits).toEqual([]);
  });
});
