// Thinking that only the model and the account that wrote it take back: kept where a session stays, left out where it moves.

import { afterAll, beforeAll, expect, test } from "vitest";
import { startGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { type FakeProvider, fails, sends, startFakeProvider } from "../../support/providers/fake-provider.ts";

const answer = {
  ...{ id: "msg_1", type: "message", role: "assistant", model: "m", stop_reason: "end_turn", stop_sequence: null },
  content: [
    { type: "thinking", thinking: "", signature: "c2lnbmF0dXJl" },
    { type: "text", text: "ok" },
  ],
  usage: { input_tokens: 9, output_tokens: 3 },
};

/** Keys of other accounts of the same vendor. */
const KEYS = ["key-of-one-account", "key-of-another-account"];
/** Keys that are over their limit. */
const limited = new Set<unknown>();

let lab: FakeProvider;
let gateway: TestGateway;
beforeAll(async () => {
  lab = await startFakeProvider((exchange) => {
    const isLimited = limited.has(exchange.request.headers["x-api-key"]);
    return (isLimited ? fails(429) : sends(200, answer))(exchange);
  });
  const model = (id: string, extra: string) =>
    `  - { id: ${id}, provider: lab, price: { input: 1, output: 3 }, capabilities: [reasoning], dialect: { ${extra} } }`;
  gateway = await startGateway({
    yaml: [
      "catalog: none",
      `providers: { lab: { kind: anthropic, baseUrl: "${lab.url.replace(/\/v1$/, "")}", apiKeys: [${KEYS.join(", ")}] } }`,
      "models:",
      model("bound", "bindsThinking: true"),
      model("bound-too", "bindsThinking: true"),
      model("open", "bindsThinking: false"),
      "tiers: { NANO: [bound] }",
      "routing: { baseline: bound }",
    ].join("\n"),
  });
});
afterAll(async () => {
  await gateway.stop();
  await lab.close();
});

async function turn(model: string, session: string): Promise<readonly string[]> {
  const messages = [
    { role: "user", content: "Hello" },
    { role: "assistant", content: answer.content },
    { role: "user", content: "And now?" },
  ];
  const body = { model, service_profile: "direct", service_session: session, max_tokens: 100, messages };
  const response = await gateway.post("/v1/messages", body);
  expect(response.status).toBe(200);
  const sent = JSON.parse(lab.requests.at(-1)?.raw ?? "{}");
  const content: string | readonly { readonly type: string }[] = sent.messages[1].content;
  return typeof content === "string" ? ["text"] : content.map(({ type }) => type);
}

test("is kept while the model stays, and left out for another that would refuse it", async () => {
  await turn("bound", "one");
  expect(await turn("bound", "one")).toEqual(["thinking", "text"]);
  expect(await turn("bound-too", "one")).toEqual(["text"]);
  expect(await turn("bound-too", "one")).toEqual(["thinking", "text"]);
  expect(await turn("open", "one")).toEqual(["thinking", "text"]);
});

test("is left out for a key of another account, which would refuse it, and kept from then on", async () => {
  const keyOf = (): unknown => lab.requests.at(-1)?.headers["x-api-key"];
  await turn("bound", "keys");
  const first = keyOf();
  expect(await turn("bound", "keys")).toEqual(["thinking", "text"]);
  expect(keyOf()).toBe(first);
  limited.add(first);
  try {
    expect(await turn("bound", "keys")).toEqual(["text"]);
    expect(keyOf()).not.toBe(first);
    expect(await turn("bound", "keys")).toEqual(["thinking", "text"]);
  } finally {
    limited.clear();
  }
});

test("of a conversation that the gateway has not seen is left out after the vendor refused it", async () => {
  const message = "messages.1.content.0: Invalid `signature` in `thinking` block";
  const refusal = { type: "error", error: { type: "invalid_request_error", message } };
  lab.once("bound", sends(400, refusal));
  const before = lab.requests.length;
  expect(await turn("bound", "unseen")).toEqual(["text"]);
  expect(lab.requests.length - before).toBe(2);
});
