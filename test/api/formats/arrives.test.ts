// What a client asks for reaches the provider, is refused, or is told in `service.notes`: parts, items and options of every
// client format on providers of every format.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CHAT, RESPONSES } from "../../support/formats/wishes-openai.ts";
import { GEMINI, MESSAGES } from "../../support/formats/wishes-others.ts";
import { EVERY_MODEL, type EveryFormat, startEveryFormat } from "../../support/gateway/every-client.ts";
import type { TestGateway } from "../../support/gateway/gateway.ts";
import { type BedrockGateway, startBedrockGateway } from "../../support/providers/clouds/bedrock-gateway.ts";
import type { Json } from "../../support/providers/streams.ts";

let every: EveryFormat;
let bedrock: BedrockGateway;
beforeAll(async () => {
  [every, bedrock] = await Promise.all([startEveryFormat(), startBedrockGateway()]);
});
afterAll(() => Promise.all([every.close(), bedrock.close()]));

const CLIENTS = { chat: CHAT, messages: MESSAGES, responses: RESPONSES, gemini: GEMINI };
const BASE = {
  chat: { messages: [{ role: "user", content: "Look." }] },
  messages: { messages: [{ role: "user", content: "Look." }], max_tokens: 500 },
  responses: { input: "Look." },
  gemini: { contents: [{ role: "user", parts: [{ text: "Look." }] }] },
};
const PATHS = { chat: "/v1/chat/completions", messages: "/v1/messages", responses: "/v1/responses" };
const REFUSED = /"(?:code|error_code|reason)":"(?:unconvertible|no_capable_model)"/i;
const MODELS = [...EVERY_MODEL, "nova"] as const;

describe.each(Object.keys(CLIENTS) as (keyof typeof CLIENTS)[])("a client of %s", (client) => {
  test.each(MODELS)("loses nothing in silence on %s", async (model) => {
    const isNova = model === "nova";
    const gateway: TestGateway = isNova ? bedrock.gateway : every.gateway;
    const provider = isNova ? bedrock.cloud : every.providers[model];
    const path = client === "gemini" ? `/v1beta/models/${model}:generateContent` : PATHS[client];
    const lost: string[] = [];
    for (const [name, [body, mark]] of Object.entries(CLIENTS[client])) {
      provider.reset();
      const named = client === "gemini" ? {} : { model };
      const answer = await gateway.post(path, { ...BASE[client], ...named, service_profile: "direct", ...body });
      const text = await answer.text();
      const sent = provider.requests.at(-1)?.bytes.toString() ?? "";
      if (answer.status === 400 && REFUSED.test(text)) continue;
      if (mark.test(sent)) continue;
      const { service } = JSON.parse(text) as { service?: { notes?: readonly Json[] } };
      if (service?.notes !== undefined) continue;
      lost.push(`${name} (${answer.status}): ${sent.slice(0, 300)}`);
    }
    expect(lost).toEqual([]);
  });
});
