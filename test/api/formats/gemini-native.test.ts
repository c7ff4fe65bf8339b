// A Gemini client on a Gemini provider: its bytes, and Google's own response, with nothing converted on the way.

import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { functionCall, says, saysParts, text, thought } from "../../support/providers/fake-gemini.ts";
import { GEM_PRICE, type GeminiGateway, startGeminiGateway } from "../../support/providers/gemini-gateway.ts";
import { type Bank, bankOf, owed } from "../../support/stores/money.ts";

let world: GeminiGateway;
let bank: Bank;
beforeAll(async () => {
  world = await startGeminiGateway();
  bank = bankOf(world.gemini, world.gateway);
});
beforeEach(() => world.reset());
afterAll(() => world.close());

const WHOLE = "/v1beta/models/gem:generateContent";
const STREAM = "/v1beta/models/gem:streamGenerateContent?alt=sse";
const CONTENTS = '"contents" : [ {"role":"user","parts":[{"text":"caf\\u00e9 1e3"}]} ]';
const REST = '"safetySettings":[{"category":"X","threshold":"OFF"}],"generationConfig":{"temperature":1.0,"topK":4e1}';

it("sends the client's bytes, and without our controls the same", async () => {
  const plain = ` { ${CONTENTS} , ${REST}}`;
  const answer = await world.gateway.post(`${WHOLE}`, `{"service_profile":"direct",${CONTENTS},${REST}}`);
  expect(answer.status).toBe(200);
  expect(world.gemini.requests[0]).toMatchObject({
    path: "/v1beta/models/gem-1:generateContent",
    raw: `{${CONTENTS},${REST}}`,
  });
  // Routed: whichever Gemini model it is, nothing is left to change.
  await (await world.gateway.post("/v1beta/models/auto:generateContent", plain)).text();
  expect(world.gemini.requests.at(-1)?.raw).toBe(plain);
});

it("hands Google's parts on, whole and streamed, and charges what Google counted", async () => {
  const parts = [
    thought("Hm."),
    text("Said.", "SIG-T"),
    functionCall("one", { x: 1 }, { id: "a", signature: "SIG-A" }),
  ];
  const usage = { promptTokenCount: 12, cachedContentTokenCount: 2, candidatesTokenCount: 5, thoughtsTokenCount: 3 };
  world.gemini.on("*", saysParts(parts, { usage }));
  const body = `{"service_profile":"direct",${CONTENTS}}`;
  let answer: unknown;
  let stream = "";
  const spent = await bank.spentBy(async () => {
    answer = await (await world.gateway.post(WHOLE, body)).json();
    stream = await (await world.gateway.post(STREAM, body)).text();
  });
  expect(answer).toMatchObject({ candidates: [{ content: { parts }, finishReason: "STOP" }], usageMetadata: usage });
  for (const signature of ["SIG-T", "SIG-A"]) expect(stream).toContain(`"thoughtSignature":"${signature}"`);
  expect(stream).toContain('"finishReason":"STOP"');
  expect(spent).toBe(2n * owed({ input: 10, cacheRead: 2, output: 8 }, GEM_PRICE));
});

it("keeps its own signatures and gives other vendors' calls the placeholder", async () => {
  world.gemini.on("*", says("ok"));
  const call = (signature?: string): object => ({
    functionCall: { name: "one", args: {} },
    ...(signature === undefined ? {} : { thoughtSignature: signature }),
  });
  const result = { role: "user", parts: [{ functionResponse: { name: "one", response: { output: "1" } } }] };
  const contents = [
    { role: "user", parts: [{ text: "Hi" }] },
    { role: "model", parts: [call("SIG-A")] },
    result,
    { role: "model", parts: [call()] },
    result,
  ];
  await (await world.gateway.post(WHOLE, { service_profile: "direct", contents })).text();
  const sent = world.gemini.requests[0]?.body as unknown as { contents: { parts: object[] }[] };
  expect([sent.contents[1]?.parts, sent.contents[3]?.parts]).toEqual([
    [call("SIG-A")],
    [call("skip_thought_signature_validator")],
  ]);
});
