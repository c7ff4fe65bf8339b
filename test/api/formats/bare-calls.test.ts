// A call of a tool that takes nothing has the empty object as its arguments, for clients of every format with providers of
// every format, whole and streamed: clients that parse arguments throw on an empty text.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import {
  askAs,
  type ClientName,
  EVERY_MODEL,
  type EveryFormat,
  objectsOf,
  startEveryFormat,
} from "../../support/gateway/every-client.ts";
import * as anthropic from "../../support/providers/fake-anthropic.ts";
import * as gemini from "../../support/providers/fake-gemini.ts";
import { type Behaviour, chunk, completion, sends, streams } from "../../support/providers/fake-provider.ts";
import * as responses from "../../support/providers/fake-responses.ts";
import type { Json } from "../../support/providers/streams.ts";

let every: EveryFormat;
beforeAll(async () => {
  every = await startEveryFormat();
});
beforeEach(() => {
  every.reset();
  for (const model of EVERY_MODEL) every.providers[model].on(model, CALLS[model]);
});
afterAll(() => every.close());

const CALL = { index: 0, id: "call_a1", type: "function", function: { name: "ping", arguments: "" } };
const CHOICE = {
  index: 0,
  message: { role: "assistant", content: null, tool_calls: [CALL] },
  finish_reason: "tool_calls",
};
const WHOLE = sends(200, { ...completion("", "alpha"), choices: [CHOICE] });
const STREAM = streams([chunk("alpha", { tool_calls: [CALL] }), chunk("alpha", {}, "tool_calls")]);
const CALLS: Readonly<Record<(typeof EVERY_MODEL)[number], Behaviour>> = {
  alpha: (exchange) => (exchange.request.body.stream === true ? STREAM : WHOLE)(exchange),
  claude: anthropic.saysBlocks([anthropic.toolUse("toolu_1", "ping", {})], { stopReason: "tool_use" }),
  gem: gemini.saysParts([{ functionCall: { name: "ping" } }]),
  pro: responses.respondsItems([{ ...responses.functionCall("call_a1", "ping", {}), arguments: "" }]),
};

const SCHEMA = { type: "object", properties: {} };
const TOOLS: Readonly<Record<string, object>> = {
  chat: { tools: [{ type: "function", function: { name: "ping", parameters: SCHEMA } }] },
  messages: { tools: [{ name: "ping", input_schema: SCHEMA }] },
  responses: { tools: [{ type: "function", name: "ping", parameters: SCHEMA }] },
  gemini: { tools: [{ functionDeclarations: [{ name: "ping" }] }] },
};

/** The arguments as a client of the format puts them together. */
const READ: Readonly<Record<string, (answer: readonly Json[]) => unknown>> = {
  chat: (answer) => JSON.parse(piecesOf(answer, "arguments")),
  messages(answer) {
    const spelled = piecesOf(answer, "partial_json");
    const [block] = answer.flatMap(({ content, content_block: begun }) => [...list(content), ...list(begun)]);
    return spelled === "" ? (block as Json).input : JSON.parse(spelled);
  },
  responses(answer) {
    const last = answer.at(-1) as Json;
    const { output } = (last.response ?? last) as { output: readonly Json[] };
    return JSON.parse(String(output.find(({ type }) => type === "function_call")?.arguments));
  },
  gemini: (answer) => (JSON.stringify(answer).includes('"args"') ? findIn(answer, "args") : {}),
};

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : value === undefined ? [] : [value];
}

function findIn(value: unknown, name: string): unknown {
  if (typeof value !== "object" || value === null) return undefined;
  if (name in value) return (value as Json)[name];
  return Object.values(value)
    .map((inner) => findIn(inner, name))
    .find((found) => found !== undefined);
}

/** The texts under a name, in order, wherever they stand. */
function piecesOf(value: unknown, name: string): string {
  const text = JSON.stringify(value);
  const pieces = [...text.matchAll(new RegExp(`"${name}":("(?:[^"\\\\\\\\]|\\\\\\\\.)*")`, "g"))];
  return pieces.map(([, piece]) => JSON.parse(piece as string) as string).join("");
}

/** A provider's own bytes pass to a client of its format. */
const isPassed = (model: string, client: string): boolean => model === "pro" && client === "responses";

describe.each(EVERY_MODEL)("from %s", (model) => {
  const clients = (["chat", "messages", "responses", "gemini"] as const).filter((client) => !isPassed(model, client));
  test.each(clients.flatMap((client) => [[client, false] as const, [client, true] as const]))(
    "to a client of %s, stream %s",
    async (client: ClientName, isStream) => {
      const extra = { ...TOOLS[client], service_profile: "direct" };
      const answer = await askAs(every.gateway, { client, isStream, model }, extra);
      const text = await answer.text();
      expect([answer.status, text]).toEqual([200, expect.stringContaining("ping")]);
      expect(READ[client]?.(objectsOf(text))).toEqual({});
    },
  );
});
