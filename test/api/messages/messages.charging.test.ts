// The same money in the Messages format: providers that count cached tokens beside the prompt, and clients of /v1/messages.

import { once } from "node:events";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Behaviour, fails, sends, streams } from "../../support/providers/fake-provider.ts";
import { type Bank, openBank, owed, PRICES, type Tokens } from "../../support/stores/money.ts";

let bank: Bank;
beforeAll(async () => {
  bank = await openBank({ chain: ["gamma"] });
});
beforeEach(() => bank.provider.reset());
afterAll(() => bank.close());

const TEXT = "Paris is the capital of France.";

function message(usage: object): object {
  return {
    id: "msg_fake",
    type: "message",
    role: "assistant",
    model: "gamma",
    content: [{ type: "text", text: TEXT }],
    stop_reason: "end_turn",
    stop_sequence: null,
    usage,
  };
}

const named = (event: { readonly type: string }): string => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;

/** Usage comes twice: what was read with the start, what was written with the end. */
function messageStream(first: object, last: object): readonly string[] {
  const delta = { type: "text_delta", text: TEXT };
  return [
    { type: "message_start", message: { ...message(first), content: [], stop_reason: null } },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    { type: "content_block_delta", index: 0, delta },
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason: "end_turn", stop_sequence: null }, usage: last },
    { type: "message_stop" },
  ].map(named);
}

const asChat = (stream: boolean): Promise<Response> => bank.ask({ stream });
const asMessages = (stream: boolean): Promise<Response> =>
  bank.gateway.post("/v1/messages", {
    model: "auto",
    max_tokens: 1000,
    stream,
    messages: [{ role: "user", content: "What is the capital of France?" }],
  });

const CASES: readonly { readonly name: string; readonly usage: object; readonly tokens: Tokens }[] = [
  { name: "plain", usage: { input_tokens: 600 }, tokens: { input: 600, output: 50 } },
  {
    name: "cache reads beside the input",
    usage: { input_tokens: 600, cache_read_input_tokens: 400 },
    tokens: { input: 600, cacheRead: 400, output: 50 },
  },
  {
    name: "cache writes beside the input",
    usage: { input_tokens: 600, cache_read_input_tokens: 100, cache_creation_input_tokens: 301 },
    tokens: { input: 600, cacheRead: 100, cacheWrite: 301, output: 50 },
  },
];

describe.each([
  ["chat completions", asChat],
  ["messages", asMessages],
])("for a client of %s", (_, ask) => {
  test.each(CASES)("$name", async ({ usage, tokens }) => {
    bank.provider.on("gamma", sends(200, message({ ...usage, output_tokens: 50 })));
    expect(await bank.spentBy(async () => expect((await ask(false)).status).toBe(200))).toBe(
      owed(tokens, PRICES.gamma),
    );
  });

  test.each(CASES)("$name, streamed", async ({ usage, tokens }) => {
    const events = messageStream({ ...usage, output_tokens: 1 }, { output_tokens: 50 });
    bank.provider.on("gamma", streams(events, { ending: "end" }));
    const spent = await bank.spentBy(async () => expect(await (await ask(true)).text()).toContain("France."));
    expect(spent).toBe(owed(tokens, PRICES.gamma));
  });

  test.each<readonly [string, Behaviour]>([
    ["fails", fails(529, { type: "overloaded_error" }, { "retry-after": "30" })],
    ["answers nothing", sends(200, { ...message({ input_tokens: 5, output_tokens: 0 }), content: [] })],
    ["breaks off", streams(messageStream({ input_tokens: 5 }, {}).slice(0, 3), { ending: "cut" })],
  ])("a provider that %s costs nothing", async (_name, behaviour) => {
    bank.provider.on("gamma", behaviour);
    expect(await bank.spentBy(async () => (await ask(true)).text())).toBe(0n);
  });
});

test("a client that leaves pays for what it got, although the usage so far says one token", async () => {
  const events = messageStream({ input_tokens: 600, output_tokens: 1 }, {}).slice(0, 3);
  bank.provider.on("gamma", streams(events, { ending: "hang" }));
  const spent = await bank.spentBy(async () => {
    const open = bank.open({ stream: true });
    await once(await open.response, "data");
    open.leave();
  });
  expect(spent).toBe(owed({ input: 600, output: Math.ceil(TEXT.length / 4) }, PRICES.gamma));
});

test("402 has the shape of its format, and leaves nothing behind", async () => {
  await bank.empty();
  const answer = await asMessages(false);
  expect(answer.status).toBe(402);
  expect(await answer.json()).toMatchObject({ type: "error", error: { type: "billing_error" } });
  expect(bank.provider.requests).toHaveLength(0);
  await bank.atRest();
});
