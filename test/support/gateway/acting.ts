// Both fakes as a small model would behave: they call tools in parallel, take results back, see images, fill schemas and
// fail when told to. The same story in either format, so that clients can be run against both kinds of provider.

import { TIERS } from "../../../src/core/tiers.ts";
import { type FakeBlock, failsNatively, saysBlocks, text, thinking, toolUse } from "../providers/fake-anthropic.ts";
import { startFakeGemini } from "../providers/fake-gemini.ts";
import {
  type Behaviour,
  chunk,
  completion,
  type FakeProvider,
  fails,
  sends,
  streams,
  textChunks,
  USAGE,
} from "../providers/fake-provider.ts";
import { startFakeResponses } from "../providers/fake-responses.ts";
import { startMixed } from "../providers/mixed.ts";
import type { Json } from "../providers/streams.ts";
import { type Act, actsInGemini, actsInResponses, type Decide } from "./acting-newer.ts";
import { startGateway, type TestGateway } from "./gateway.ts";

export const CITIES = ["Rome", "Oslo"] as const;
export const CITY = { name: "Rome", people: 2_800_000 };
export const CAPITAL = "The capital of France is Paris.";
export const WEATHER = "get_weather";
/** A tool that is called once for each of these, one turn after another. */
export const NEXT_STEP = "next_step";
export const STEPS = ["first", "second"] as const;
/** A prompt with this word makes a provider refuse the request. */
export const REFUSED = "refuse-this";

/** A small red square. */
export const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

function decideByStory(body: Json): Act {
  const raw = JSON.stringify(body);
  const last = (body.messages as readonly Json[]).at(-1) as Json;
  if (raw.includes(REFUSED)) return { kind: "refusal" };
  const tools = toolNames(body);
  const step = STEPS.find((name) => !raw.includes(`${name} done`));
  if (tools.includes(NEXT_STEP) && step !== undefined) {
    return { kind: "calls", calls: [{ name: NEXT_STEP, input: { step } }] };
  }
  const results = resultsIn(last, body.messages as readonly Json[]);
  if (results !== null) return { kind: "text", text: `I was told: ${results}.` };
  if (tools.includes(WEATHER)) {
    return { kind: "calls", calls: CITIES.map((city) => ({ name: WEATHER, input: { city } })) };
  }
  if (tools[0] !== undefined) return { kind: "calls", calls: [{ name: tools[0], input: CITY }] };
  if (askedFormat(body) !== null) return { kind: "text", text: JSON.stringify(CITY) };
  return { kind: "text", text: raw.includes(PIXEL) ? "A red square." : CAPITAL };
}

/** The form that the answer is to have, in whichever format; null when it may be any text. */
function askedFormat(body: Json): Json | null {
  const format = body.response_format ?? (body.output_config as Json | undefined)?.format ?? body.output_format ?? null;
  return format as Json | null;
}

/** The least that satisfies the JSON schema a request asks for; null when it asks for none. */
export function fillAskedSchema(body: Json): string | null {
  const format = askedFormat(body);
  if (format === null) return null;
  const schema = (format.json_schema as Json | undefined)?.schema ?? format.schema ?? {};
  return JSON.stringify(fill(schema as Json));
}

function fill({ type, enum: values, properties = {}, anyOf }: Json): unknown {
  if (Array.isArray(values)) return values[0];
  if (Array.isArray(anyOf)) return fill(anyOf[0] as Json);
  const kind = String([type].flat()[0] ?? "object").toLowerCase();
  if (kind === "string") return "text";
  if (kind === "number" || kind === "integer") return 1;
  if (kind === "boolean") return false;
  if (kind === "array") return [];
  return Object.fromEntries(Object.entries(properties as Json).map(([name, schema]) => [name, fill(schema as Json)]));
}

export function toolNames(body: Json): readonly string[] {
  return ((body.tools ?? []) as readonly Json[]).map((tool) => String((tool.function as Json)?.name ?? tool.name));
}

function resultsIn(last: Json, messages: readonly Json[]): string | null {
  if (last.role === "tool") {
    const results = messages.filter(({ role }) => role === "tool").slice(-CITIES.length);
    return results.map(({ content }) => String(content)).join(" and ");
  }
  const blocks = (Array.isArray(last.content) ? last.content : []) as readonly Json[];
  const results = blocks.filter(({ type }) => type === "tool_result");
  return results.length === 0 ? null : results.map(({ content }) => wordsOf(content)).join(" and ");
}

function wordsOf(content: unknown): string {
  return Array.isArray(content) ? content.map((part: Json) => String(part.text)).join("") : String(content);
}

const acts =
  (decide: Decide): Behaviour =>
  (exchange) => {
    const { body } = exchange.request;
    const act = decide(body);
    const { model } = body;
    if (act.kind === "refusal")
      return fails(400, { message: "The prompt is not acceptable.", type: "invalid_request_error" })(exchange);
    if (act.kind === "text") {
      if (body.stream === true) return streams(textChunks(act.text, model), { usage: USAGE })(exchange);
      return sends(200, completion(act.text, model))(exchange);
    }
    const calls = act.calls.map(({ name, input }, index) => ({
      id: `call_${exchange.request.raw.length}_${index}`,
      type: "function",
      function: { name, arguments: JSON.stringify(input) },
    }));
    if (body.stream !== true) {
      const message = { role: "assistant", content: null, tool_calls: calls };
      return sends(
        200,
        completion("", model, { choices: [{ index: 0, message, finish_reason: "tool_calls" }] }),
      )(exchange);
    }
    const begun = calls.map((call, index) =>
      chunk(model, { tool_calls: [{ index, ...call, function: { name: call.function.name, arguments: "" } }] }),
    );
    const filled = calls.map((call, index) =>
      chunk(model, { tool_calls: [{ index, function: { arguments: call.function.arguments } }] }),
    );
    return streams(
      [chunk(model, { role: "assistant", content: null }), ...begun, ...filled, chunk(model, {}, "tool_calls")],
      {
        usage: USAGE,
      },
    )(exchange);
  };

const actsNatively =
  (decide: Decide): Behaviour =>
  (exchange) => {
    const { body, raw } = exchange.request;
    const act = decide(body);
    if (act.kind === "refusal") return failsNatively(400, "The prompt is not acceptable.")(exchange);
    const thought = body.thinking === undefined ? [] : [thinking("Let me think.", "signed==")];
    const said: readonly FakeBlock[] =
      act.kind === "text"
        ? [text(act.text)]
        : act.calls.map(({ name, input }, index) => toolUse(`toolu_${raw.length}_${index}`, name, input));
    return saysBlocks([...thought, ...said])(exchange);
  };

/** A gateway for each format that providers speak, and the sandbox. */
export interface Houses extends Readonly<Record<House, TestGateway>> {
  readonly providers: Readonly<Record<Exclude<House, "sandbox">, FakeProvider>>;
  close(): Promise<void>;
}

export const HOUSES = ["sandbox", "chat", "native", "responses", "gemini"] as const;
type House = (typeof HOUSES)[number];

export async function openHouses(decide: Decide = decideByStory): Promise<Houses> {
  const chat = await startMixed({ tiers: everywhere("alpha") });
  const native = await startMixed({ tiers: everywhere("claude") });
  const responses = await openHouse("responses", await startFakeResponses());
  const gemini = await openHouse("gemini", await startFakeGemini());
  chat.openai.on("*", acts(decide));
  native.anthropic.on("*", actsNatively(decide));
  responses.provider.on("*", actsInResponses(decide));
  gemini.provider.on("*", actsInGemini(decide));
  const sandbox = await startGateway();
  return {
    sandbox,
    chat: chat.gateway,
    native: native.gateway,
    responses: responses.gateway,
    gemini: gemini.gateway,
    providers: {
      ...{ chat: chat.openai, native: native.anthropic },
      ...{ responses: responses.provider, gemini: gemini.provider },
    },
    async close() {
      await sandbox.stop();
      for (const house of [chat, native]) await house.close();
      for (const { gateway, provider } of [responses, gemini]) {
        await gateway.stop();
        await provider.close();
      }
    },
  };
}

function everywhere(model: string): Record<string, readonly string[]> {
  return Object.fromEntries(TIERS.map((tier) => [tier, [model]]));
}

/** A model of a provider of this kind in every tier, and another in none. */
async function openHouse(
  kind: string,
  provider: FakeProvider,
): Promise<{ readonly gateway: TestGateway; readonly provider: FakeProvider }> {
  const tiers = Object.entries(everywhere("model")).map(([tier, models]) => `  ${tier}: [${models.join(", ")}]`);
  const gateway = await startGateway({
    yaml: [
      "catalog: none",
      "limits: { requestsPerMinute: 100000 }",
      `providers: { house: { kind: ${kind}, baseUrl: "${provider.url}", apiKey: house-secret } }`,
      "models:",
      ...["model", "spare"].map(
        (id) =>
          `  - { id: ${id}, provider: house, price: { input: 1, output: 3 }, context: 200000, maxOutput: 16384, capabilities: [tools, vision, json, reasoning] }`,
      ),
      "tiers:",
      ...tiers,
    ].join("\n"),
  });
  return { gateway, provider };
}
