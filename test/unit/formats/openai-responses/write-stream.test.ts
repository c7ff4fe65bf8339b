// The stream a Responses client reads: one order of events whatever comes from the provider, and nothing lost in it.

import { describe, expect, it } from "vitest";
import { GatewayError } from "../../../../src/core/errors.ts";
import { sealDetail } from "../../../../src/formats/convert/reasoning-details.ts";
import { parseBody } from "../../../../src/formats/json/parse.ts";
import { responsesClient } from "../../../../src/formats/openai-responses/client.ts";
import { fc } from "../../../support/property.ts";
import { responseEventsIn } from "../../../support/providers/responses.ts";
import { type Json, SERVICE } from "../anthropic/exchange.ts";
import { answer, contextFor, streamEvents, streamed } from "./exchange.ts";

type Step =
  | { readonly kind: "reasoning_content" | "content" | "refusal"; readonly text: string }
  | { readonly kind: "call"; readonly index: number };

const steps = fc.array(
  fc.oneof(
    fc.record({
      kind: fc.constantFrom("reasoning_content" as const, "content" as const, "refusal" as const),
      text: fc.string({ maxLength: 6, unit: "binary" }),
    }),
    fc.record({ kind: fc.constant("call" as const), index: fc.nat(3) }),
  ),
  { maxLength: 40 },
);
const finishes = fc.constantFrom("stop", "tool_calls", "length", "content_filter");

/** Calls of even numbers are of custom tools. */
const TOOLS = [0, 1, 2, 3].map((index) => ({ type: index % 2 === 0 ? "custom" : "function", name: `f${index}` }));

/** Arguments with the signs that could mislead a reader of braces, escapes or halves of characters. */
function argumentsOf(index: number): string {
  return JSON.stringify({ input: `}{"\\ ${index} \n 𝒳é`, list: [{ a: [] }] });
}

function deltasOf(given: readonly Step[]): readonly Json[] {
  const sent = new Map<number, number>();
  const deltas: Json[] = [];
  const push = (index: number, length: number): void => {
    const from = sent.get(index);
    const piece = argumentsOf(index).slice(from ?? 0, (from ?? 0) + length);
    const head = from === undefined ? { id: `call_x${index}`, type: "function" } : {};
    const called = from === undefined ? { name: `f${index}`, arguments: piece } : { arguments: piece };
    deltas.push({ tool_calls: [{ index, ...head, function: called }] });
    sent.set(index, (from ?? 0) + length);
  };
  for (const step of given) {
    if (step.kind === "call") push(step.index, 3);
    else deltas.push({ [step.kind]: step.text });
  }
  for (const index of sent.keys()) push(index, 1000);
  return deltas;
}

const textOf = (deltas: readonly Json[], name: string): string => deltas.map((delta) => delta[name] ?? "").join("");

describe("any order of deltas", () => {
  it("gives items one after another, numbered without gaps, that add up to the last event", () => {
    fc.assert(
      fc.property(steps, finishes, (given, finish) => {
        const deltas = deltasOf(given);
        const response = streamed(deltas, { tools: TOOLS }, finish);
        const said = (type: string, name: string): string =>
          response.output
            .flatMap(({ content, summary }) => [...((content ?? []) as Json[]), ...((summary ?? []) as Json[])])
            .filter((part) => part.type === type)
            .map((part) => part[name])
            .join("");
        expect(said("output_text", "text")).toBe(textOf(deltas, "content"));
        expect(said("refusal", "refusal")).toBe(textOf(deltas, "refusal"));
        expect(said("summary_text", "text")).toBe(textOf(deltas, "reasoning_content"));
        const calls = response.output.filter(({ type }) => type.endsWith("_call"));
        for (const call of calls) {
          const index = Number(String(call.name).slice(1));
          const whole = argumentsOf(index);
          const input = (JSON.parse(whole) as { input: string }).input;
          expect(call.type === "custom_tool_call" ? call.input : call.arguments).toBe(index % 2 === 0 ? input : whole);
        }
        const begun = given.flatMap((step) => (step.kind === "call" ? [step.index] : []));
        expect(calls.map(({ call_id: id }) => id)).toEqual([...new Set(begun)].map((index) => `call_x${index}`));
        const isCut = finish === "length" || finish === "content_filter";
        expect(response.status).toBe(isCut ? "incomplete" : "completed");
      }),
    );
  });

  it("says the same as a whole answer", () => {
    const message = fc.record(
      {
        reasoning_content: fc.string({ minLength: 1 }),
        content: fc.string({ minLength: 1 }),
        tool_calls: fc
          .uniqueArray(fc.nat(3), { minLength: 1 })
          .map((indexes) => indexes.map((index) => ({ id: `call_x${index}`, name: `f${index}`, index }))),
      },
      { requiredKeys: ["content"] },
    );
    fc.assert(
      fc.property(message, finishes, ({ tool_calls: calls, ...texts }, finish) => {
        const whole = calls?.map(({ id, name, index }, position) => ({
          index: position,
          id,
          type: "function",
          function: { name, arguments: argumentsOf(index) },
        }));
        const body = { tools: TOOLS };
        const said = whole === undefined ? texts : { ...texts, tool_calls: whole };
        const { reasoning_content: reasoning, content } = texts;
        const deltas = [
          { reasoning_content: reasoning },
          { content },
          ...(whole ?? []).map((call) => ({ tool_calls: [call] })),
        ];
        expect(streamed(deltas, body, finish)).toEqual(answer(said, body, finish));
      }),
    );
  });
});

describe("an item", () => {
  it.each([
    ["tool_calls", "{}"],
    ["length", ""],
  ])("of a call without arguments that ends with %s has %j", (finish, expected) => {
    const call = { index: 0, id: "call_a", type: "function", function: { name: "f1", arguments: "" } };
    const whole = answer({ tool_calls: [call] }, { tools: TOOLS }, finish);
    expect(whole.output).toMatchObject([{ type: "function_call", arguments: expected }]);
    const events = streamEvents([{ tool_calls: [call] }], { tools: TOOLS }, finish);
    const done = events.find(({ type }) => type === "response.function_call_arguments.done");
    expect(done).toMatchObject({ arguments: expected });
    expect(streamed([{ tool_calls: [call] }], { tools: TOOLS }, finish)).toEqual(whole);
  });

  it("of a call is opened only when its name is known", () => {
    const { output } = streamed(
      [
        { tool_calls: [{ index: 0, id: "call_a", function: { arguments: '{"a"' } }] },
        { tool_calls: [{ index: 0, function: { name: "f", arguments: ":1}" } }] },
      ],
      { tools: [{ type: "function", name: "f" }] },
    );
    expect(output).toMatchObject([{ type: "function_call", call_id: "call_a", name: "f", arguments: '{"a":1}' }]);
  });

  it("of a tool in a namespace has both names", () => {
    const tools = [{ type: "namespace", name: "crm", tools: [{ type: "function", name: "find" }] }];
    const { output } = streamed(
      [{ tool_calls: [{ index: 0, id: "c", function: { name: "crm__find", arguments: "{}" } }] }],
      {
        tools,
      },
    );
    expect(output).toMatchObject([{ type: "function_call", name: "find", namespace: "crm" }]);
  });

  it("has the likelihoods that were asked for", () => {
    const logprobs = (token: string): object => ({
      content: [{ token, logprob: -0.5, bytes: null, top_logprobs: [] }],
    });
    const writer = responsesClient.streamWriter(contextFor({ top_logprobs: 0 }), {
      service: SERVICE,
      wantsUsage: true,
    });
    const chunk = (token: string) => ({
      json: { choices: [{ index: 0, delta: { content: token }, logprobs: logprobs(token), finish_reason: null }] },
      hasContent: true,
      isFinish: false,
    });
    const events = responseEventsIn(
      writer.write([chunk("a"), chunk("b")]) + writer.fail(new GatewayError("internal", "x")),
    );
    const deltas = events.filter(({ type }) => type === "response.output_text.delta");
    expect(deltas.map(({ logprobs: given }) => (given as Json[]).map(({ token }) => token))).toEqual([["a"], ["b"]]);
  });
});

describe("signed reasoning", () => {
  const detail = { type: "reasoning.text", format: "anthropic", text: "Hm.", signature: "sig", index: 0 } as const;
  const deltas = [{ reasoning_content: "Hm." }, { reasoning_details: [detail] }, { content: "Yes." }];

  it("is sealed into the item when it was asked for", () => {
    const { output } = streamed(deltas, { include: ["reasoning.encrypted_content"] });
    expect(output[0]).toMatchObject({
      type: "reasoning",
      summary: [{ type: "summary_text", text: "Hm." }],
      encrypted_content: sealDetail(detail),
    });
  });

  it("is left out otherwise", () => {
    expect(streamed(deltas).output[0]).not.toHaveProperty("encrypted_content");
  });

  it("without a readable word is an item without summary", () => {
    const hidden = { type: "reasoning.encrypted", format: "anthropic", data: "x", index: 0 } as const;
    const { output } = streamed([{ reasoning_details: [hidden] }, { content: "Yes." }], {
      include: ["reasoning.encrypted_content"],
    });
    expect(output).toMatchObject([{ type: "reasoning", summary: [] }, { type: "message" }]);
  });
});

describe("a stream that breaks", () => {
  it.each([
    ["providersFailed", {}, "server_error"],
    ["internal", {}, "server_error"],
    ["noCredit", { code: "insufficient_credits" }, "insufficient_quota"],
    ["rateLimited", {}, "rate_limit_exceeded"],
    ["badRequest", { code: "context_length_exceeded" }, "context_length_exceeded"],
  ] as const)("for %s %j ends with error and response.failed", (kind, details, code) => {
    const writer = responsesClient.streamWriter(contextFor({}), { service: SERVICE, wantsUsage: true });
    const json = { choices: [{ index: 0, delta: { content: "Par" }, finish_reason: null }] };
    const text = writer.write([{ json, hasContent: true, isFinish: false }]);
    const events = responseEventsIn(text + writer.fail(new GatewayError(kind, "It broke.", details)));
    const [error, failed] = events.slice(-2);
    expect(error).toMatchObject({ type: "error", error: { code, message: "It broke.", param: null } });
    expect(failed).toMatchObject({
      type: "response.failed",
      response: {
        id: "resp_0123abcd",
        status: "failed",
        error: { code, message: "It broke." },
        usage: null,
      },
    });
  });

  it("before anything was said begins all the same", () => {
    const writer = responsesClient.streamWriter(contextFor({}), { service: SERVICE, wantsUsage: true });
    const events = responseEventsIn(writer.fail(new GatewayError("internal", "It broke.")));
    expect(events.map(({ type }) => type)).toEqual([
      "response.created",
      "response.in_progress",
      "error",
      "response.failed",
    ]);
  });
});

it("what the client asked is told as it wrote it, also over several lines", () => {
  const asked = {
    input: "x",
    instructions: "Be\nbrief.",
    tools: [{ type: "function", name: "f", parameters: { type: "object" } }],
    text: { verbosity: "low" },
  };
  for (const indent of [0, 2]) {
    const { source, body } = parseBody(Buffer.from(JSON.stringify(asked, null, indent)));
    const context = { ...contextFor({}), request: responsesClient.readRequest(source, body) };
    const writer = responsesClient.streamWriter(context, { service: SERVICE, wantsUsage: true });
    const [created] = responseEventsIn(writer.fail(new GatewayError("internal", "x")));
    expect(created?.response).toMatchObject({
      instructions: asked.instructions,
      tools: asked.tools,
      text: { verbosity: "low", format: { type: "text" } },
    });
  }
});

it("an answer without a word is a response without items", () => {
  expect(streamEvents([], {}, "length").map(({ type }) => type)).toEqual([
    "response.created",
    "response.in_progress",
    "response.incomplete",
  ]);
});
