// A Gemini model that draws, and one that hears: image tokens and sound tokens have rates of their own.

import { afterAll, beforeAll, expect, test } from "vitest";
import { readBuiltin } from "../../../src/catalog/builtin.ts";
import { TIERS } from "../../../src/core/tiers.ts";
import { startGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { generated, startFakeGemini } from "../../support/providers/fake-gemini.ts";
import { type FakeProvider, sends } from "../../support/providers/fake-provider.ts";
import { type Bank, bankOf } from "../../support/stores/money.ts";

let gemini: FakeProvider;
let gateway: TestGateway;
let bank: Bank;
beforeAll(async () => {
  gemini = await startFakeGemini();
  const model = (id: string, price: string, capability: string): string =>
    `  - { id: ${id}, provider: google, price: ${price}, context: 65536, maxOutput: 8192, capabilities: [${capability}] }`;
  const yaml = [
    "catalog: none",
    "providers:",
    `  google: { kind: gemini, baseUrl: "${gemini.url}", apiKey: google-secret }`,
    "models:",
    model("ear", "{ input: 0.25, output: 1.5, audioInput: 0.5 }", "audio"),
    model("painter", "{ input: 2, output: 12, imageOutput: 120 }", "vision"),
    "tiers:",
    ...TIERS.map((tier) => `  ${tier}: [ear]`),
    "routing: { baseline: ear }",
  ].join("\n");
  gateway = await startGateway({ yaml });
  bank = bankOf(gemini, gateway);
});
afterAll(() => bank.close());

const withFee = (nano: bigint): bigint => (nano * 105n + 99n) / 100n;
const PICTURE = { inlineData: { mimeType: "image/png", data: "iVBORw0KGgo=" } };

test("a picture is charged by its image tokens", async () => {
  const usage = {
    promptTokenCount: 10,
    candidatesTokenCount: 1_130,
    totalTokenCount: 1_140,
    candidatesTokensDetails: [
      { modality: "IMAGE", tokenCount: 1_120 },
      { modality: "TEXT", tokenCount: 10 },
    ],
  };
  gemini.on("*", sends(200, generated([PICTURE], { usage })));
  const spent = await bank.spentBy(async () => {
    const answer = await gateway.post("/v1beta/models/painter:generateContent", {
      service_profile: "direct",
      contents: [{ role: "user", parts: [{ text: "A lighthouse" }] }],
      generationConfig: { responseModalities: ["IMAGE"] },
    });
    const body = (await answer.json()) as { candidates: readonly { content: { parts: readonly object[] } }[] };
    expect(body.candidates[0]?.content.parts).toEqual([PICTURE]);
  });
  expect(spent).toBe(withFee(10n * 2_000n + 10n * 12_000n + 1_120n * 120_000n));
});

test("sound in a chat goes to a model that hears, at the rate of sound", async () => {
  const usage = {
    promptTokenCount: 110,
    candidatesTokenCount: 4,
    totalTokenCount: 114,
    promptTokensDetails: [{ modality: "AUDIO", tokenCount: 100 }],
  };
  gemini.on("*", sends(200, generated([{ text: "A bell." }], { usage })));
  const sound = { type: "input_audio", input_audio: { data: "UklGRg==", format: "wav" } };
  const spent = await bank.spentBy(async () => {
    const answer = await gateway.post("/v1/chat/completions", {
      model: "auto",
      messages: [{ role: "user", content: [{ type: "text", text: "What is this?" }, sound] }],
    });
    expect([answer.status, ((await answer.json()) as { model: string }).model]).toEqual([200, "ear"]);
  });
  expect(spent).toBe(withFee(10n * 250n + 100n * 500n + 4n * 1_500n));
});

test("models of the catalogue hear where Google has them, and models that draw are in no chain", () => {
  const { models, tiers } = readBuiltin();
  const hearing = models.filter(({ capabilities }) => capabilities.includes("audio"));
  expect(hearing.length).toBeGreaterThan(5);
  for (const { provider, hosts = [] } of hearing) {
    expect(provider).toBe("google");
    // Vertex AI is Google's as well.
    const others = hosts.filter((host) => host.provider !== "google-vertex");
    expect(others.every(({ capabilities }) => capabilities?.includes("audio") === false)).toBe(true);
  }
  const drawing = models.filter(({ price }) => price?.imageOutput !== undefined).map(({ id }) => id);
  expect(drawing.length).toBe(4);
  for (const id of drawing) expect(JSON.stringify(tiers)).not.toContain(`"${id}"`);
});
