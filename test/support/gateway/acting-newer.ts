// The story of acting.ts told by providers of the newer formats: a request is read as chat, and what the model does is
// written as items of Responses or as parts of Gemini.

import { functionCall as callPart, failsNatively, saysParts, text as textPart } from "../providers/fake-gemini.ts";
import { type Behaviour, fails } from "../providers/fake-provider.ts";
import { functionCall, message, respondsItems } from "../providers/fake-responses.ts";
import type { Json } from "../providers/streams.ts";

/** What a model does with a request. */
export type Act =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "calls"; readonly calls: readonly { readonly name: string; readonly input: object }[] }
  | { readonly kind: "refusal" };

/** What to do is told by the body alone, whichever format it is in. */
export type Decide = (body: Json) => Act;

const REFUSAL = "The prompt is not acceptable.";

export const actsInResponses =
  (decide: Decide): Behaviour =>
  (exchange) => {
    const { body, raw } = exchange.request;
    const act = decide(chatOfResponses(body));
    if (act.kind === "refusal") return fails(400, { message: REFUSAL, type: "invalid_request_error" })(exchange);
    // As the vendor does, it gives back what the client wrote on the request.
    const script = { extra: { metadata: body.metadata ?? {} } };
    if (act.kind === "text") return respondsItems([message(act.text)], script)(exchange);
    const calls = act.calls.map(({ name, input }, index) => functionCall(`call_${raw.length}_${index}`, name, input));
    return respondsItems(calls, script)(exchange);
  };

export const actsInGemini =
  (decide: Decide): Behaviour =>
  (exchange) => {
    const { body, raw } = exchange.request;
    const act = decide(chatOfGemini(body));
    // Unique, as the vendor's is: ids of calls are made from it.
    const script = { responseId: `resp-${raw.length}` };
    if (act.kind === "refusal") return failsNatively(400, { words: REFUSAL })(exchange);
    if (act.kind === "text") return saysParts([textPart(act.text)], script)(exchange);
    const calls = act.calls.map(({ name, input }) => callPart(name, input, { signature: "signed==" }));
    return saysParts(calls, script)(exchange);
  };

function chatOfResponses(body: Json): Json {
  const { input, tools, text } = body as { input: string | Json[]; tools?: unknown; text?: { format?: Json } };
  const items = typeof input === "string" ? [{ type: "message", content: input }] : input;
  const messages = items.map((item: Json) =>
    item.type === "function_call_output" ? { role: "tool", content: item.output } : { role: "other", content: [item] },
  );
  const isFormatted = text?.format !== undefined && text.format.type !== "text";
  return { messages, tools, ...(isFormatted ? { response_format: text?.format } : {}) };
}

function chatOfGemini(body: Json): Json {
  const { contents, tools, generationConfig } = body as {
    contents: readonly { readonly parts: readonly Json[] }[];
    tools?: readonly { readonly functionDeclarations?: readonly Json[] }[];
    generationConfig?: Json;
  };
  const messages = contents.flatMap(({ parts }) => parts).map(messageOfPart);
  const { responseMimeType: type, responseJsonSchema, responseSchema } = generationConfig ?? {};
  return {
    messages,
    tools: (tools ?? []).flatMap(({ functionDeclarations = [] }) => functionDeclarations),
    ...(type === undefined ? {} : { response_format: { type, schema: responseJsonSchema ?? responseSchema } }),
  };
}

function messageOfPart(part: Json): Json {
  const result = part.functionResponse as { readonly response: { readonly output?: unknown } } | undefined;
  if (result === undefined) return { role: "other", content: [part] };
  return { role: "tool", content: result.response.output ?? JSON.stringify(result.response) };
}
