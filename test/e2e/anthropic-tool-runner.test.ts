// The tool runner of the official Anthropic client, unchanged, over three turns. The 1.x line asks for a thread and would
// then send the newest messages only; the provider must see the whole conversation all the same.

import Anthropic from "@anthropic-ai/sdk";
import AnthropicZero from "anthropic-sdk-0";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type Houses, NEXT_STEP, openHouses, STEPS } from "../support/gateway/acting.ts";

let houses: Houses;
beforeAll(async () => {
  houses = await openHouses();
});
afterAll(() => houses.close());

const LINES: readonly (readonly [string, typeof Anthropic])[] = [
  ["1.x", Anthropic],
  ["0.x", AnthropicZero as unknown as typeof Anthropic],
];
const CASES = LINES.flatMap(([line, Client]) =>
  (["chat", "native"] as const).flatMap((house) => [false, true].map((stream) => ({ line, Client, house, stream }))),
);
const TASK = "Take every step in order.";

describe.each(CASES)("tool runner $line on $house, stream $stream", ({ line, Client, house, stream }) => {
  let client: Anthropic;
  const threads: unknown[] = [];
  beforeEach(() => {
    threads.length = 0;
    houses.providers[house].requests.length = 0;
    client = new Client({
      baseURL: houses[house].url,
      apiKey: houses[house].key,
      maxRetries: 0,
      fetch: (url, init) => {
        threads.push((JSON.parse(String(init?.body)) as { thread?: unknown }).thread);
        return fetch(url, init);
      },
    });
  });

  it("keeps the conversation", async () => {
    const taken: string[] = [];
    const tool = {
      type: "custom" as const,
      name: NEXT_STEP,
      description: "Takes a step.",
      input_schema: { type: "object" as const, properties: { step: { type: "string" } }, required: ["step"] },
      parse: (input: unknown) => input as { step: string },
      run: ({ step }: { step: string }) => {
        taken.push(step);
        return `${step} done`;
      },
    };
    const runner = client.beta.messages.toolRunner({
      model: "auto",
      max_tokens: 500,
      system: "You are a careful worker.",
      messages: [{ role: "user", content: TASK }],
      tools: [tool],
      stream,
    });
    const message = await runner.runUntilDone();
    expect(taken).toEqual([...STEPS]);
    expect(message.stop_reason).toBe("end_turn");
    expect(JSON.stringify(message.content)).toContain("second done");

    const { requests } = houses.providers[house];
    expect(requests).toHaveLength(3);
    const last = requests[2]?.body as unknown as { messages: readonly { role: string }[]; tools: readonly unknown[] };
    const roles = last.messages.map(({ role }) => role);
    expect(roles).toEqual(
      house === "native"
        ? ["user", "assistant", "user", "assistant", "user"]
        : ["system", "user", "assistant", "tool", "assistant", "tool"],
    );
    for (const part of [TASK, "careful worker", "first done", "second done"]) expect(requests[2]?.raw).toContain(part);
    expect(last.tools).toHaveLength(1);
    expect(requests.some(({ raw }) => raw.includes('"thread"'))).toBe(false);
    // One thread is asked for and refused, and after that none; the 0.x line knows no threads.
    const none = [undefined, undefined, undefined];
    expect(threads).toEqual(line === "1.x" ? [{ type: "create" }, ...none] : none);
  });
});

it("an explicit thread raises the client's own error, unless it may go on without", async () => {
  const client = new Anthropic({ baseURL: houses.chat.url, apiKey: houses.chat.key, maxRetries: 0 });
  const params = { model: "auto", max_tokens: 100 };
  const hello = { role: "user" as const, content: "Hello" };
  const refused = await client.beta.messages
    .thread(params)
    .send(hello)
    .catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(Anthropic.BadRequestError);
  expect(refused).toMatchObject({ error: { error: { details: { error_code: "thread_unsupported_request" } } } });
  const thread = client.beta.messages.thread({ ...params, unsupportedRequestBehavior: "continue_unthreaded" });
  await thread.send(hello);
  await thread.send({ role: "user", content: "And now?" });
  const sent = houses.providers.chat.requests.at(-1)?.body.messages as readonly unknown[];
  expect(sent).toHaveLength(3);
});
