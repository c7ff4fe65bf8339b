// The fake provider as an Azure resource: it takes the key in `api-key`, knows its deployments by name at both of its
// addresses, and wraps answers and streams in the notes of Azure's content filter.

import {
  answers,
  type Behaviour,
  chunk,
  completion,
  type Exchange,
  type FakeProvider,
  fails,
  sends,
  startFakeProvider,
  streams,
  USAGE,
} from "./fake-provider.ts";
import { responds } from "./fake-responses.ts";

export const AZURE_KEY = "azure-secret-0123456789";
export const AZURE_VERSION = "2024-10-21";

export interface FakeAzure extends FakeProvider {
  /** The address of the resource, as Azure's portal shows it. */
  readonly resource: string;
}

/** Deployments are what tests script with `on` and `once`; others get 404. */
export async function startFakeAzure(deployments: readonly string[]): Promise<FakeAzure> {
  const provider = await startFakeProvider(fails(404, { code: "DeploymentNotFound" }));
  const script = (behaviour: Behaviour): Behaviour => guarded(behaviour, deployments);
  const reset = (): void => {
    provider.reset();
    provider.on("*", script(speaksAsDeployment));
  };
  reset();
  return {
    ...provider,
    resource: new URL(provider.url).origin,
    on: (model, behaviour) => provider.on(model, script(behaviour)),
    once: (model, ...behaviours) => provider.once(model, ...behaviours.map(script)),
    reset,
  };
}

/** What stands before every deployment: the address, the key and the name. */
function guarded(behaviour: Behaviour, deployments: readonly string[]): Behaviour {
  return (exchange) => {
    const refusal = refusalOf(exchange, deployments);
    return refusal === null ? behaviour(exchange) : refusal(exchange);
  };
}

function refusalOf({ request }: Exchange, deployments: readonly string[]): Behaviour | null {
  const url = new URL(request.path, "http://azure");
  const isClassic = url.pathname.startsWith("/openai/") && !url.pathname.startsWith("/openai/v1/");
  if (!url.pathname.startsWith("/openai/") || (isClassic && !url.searchParams.has("api-version"))) {
    return fails(404, { code: "404", message: "Resource not found" });
  }
  if (request.headers["api-key"] !== AZURE_KEY) {
    const message = `Access denied due to invalid subscription key ${request.headers["api-key"]}.`;
    return fails(401, { code: "401", message });
  }
  if (url.pathname.endsWith("/models")) return sends(200, { object: "list", data: [{ id: "gpt-4o-2024-08-06" }] });
  const named = /^\/openai\/deployments\/([^/]+)\/(?:chat\/completions|embeddings)$/.exec(url.pathname)?.[1];
  const isOfResource = !isClassic || url.pathname === "/openai/responses";
  const deployment = named === undefined ? (isOfResource ? request.body?.model : "") : decodeURIComponent(named);
  if (deployments.includes(deployment ?? "")) return null;
  const message = "The API deployment for this resource does not exist.";
  return fails(404, { code: "DeploymentNotFound", message });
}

const SAFE = { hate: { filtered: false, severity: "safe" }, violence: { filtered: false, severity: "safe" } };
const PROMPT_NOTES = [{ prompt_index: 0, content_filter_results: SAFE }];
/** The first event of every stream: it has no choices, and its other fields are empty. */
const PROMPT_EVENT = { choices: [], created: 0, id: "", model: "", object: "", prompt_filter_results: PROMPT_NOTES };
const UNDERLYING = "gpt-4o-2024-08-06";

const speaksAsDeployment: Behaviour = (exchange) => {
  const { path } = exchange.request;
  if (path.includes("/responses")) return responds("ok")(exchange);
  if (path.includes("/embeddings")) return EMBEDS(exchange);
  return says("ok")(exchange);
};

const EMBEDS = sends(200, {
  object: "list",
  model: "text-embedding-3-small",
  data: [{ object: "embedding", index: 0, embedding: [0.5, -0.25] }],
  usage: { prompt_tokens: 4, total_tokens: 4 },
});

/** A text with the notes of the filter, whole or streamed. */
export function says(text: string): Behaviour {
  const choice = { index: 0, message: { role: "assistant", content: text }, finish_reason: "stop" };
  const noted = { choices: [{ ...choice, content_filter_results: SAFE }], prompt_filter_results: PROMPT_NOTES };
  return (exchange) => {
    if (exchange.request.body.stream !== true) return sends(200, completion(text, UNDERLYING, noted))(exchange);
    return streamsNoted(
      [{ role: "assistant", content: "" }, ...(text.match(/\s*\S+/g) ?? []).map((content) => ({ content }))],
      "stop",
    )(exchange);
  };
}

/** An answer that the filter stops before its first word. */
export const filtersAnswer: Behaviour = (exchange) => {
  if (exchange.request.body.stream === true) return streamsNoted([], "content_filter")(exchange);
  const choice = { index: 0, message: { role: "assistant" }, finish_reason: "content_filter" };
  const usage = { prompt_tokens: 12, completion_tokens: 0, total_tokens: 12 };
  return answers("", { choices: [{ ...choice, content_filter_results: BLOCKED }], usage })(exchange);
};

const BLOCKED = { violence: { filtered: true, severity: "high" } };

/** A prompt that the filter refuses. */
export const filtersPrompt: Behaviour = fails(400, {
  message: "The response was filtered due to the prompt triggering Azure OpenAI's content management policy.",
  type: null,
  param: "prompt",
  code: "content_filter",
  status: 400,
  innererror: { code: "ResponsibleAIPolicyViolation", content_filter_result: BLOCKED },
});

/** Deltas, each with its notes, and the way they end. */
export function streamsNoted(deltas: readonly object[], finish: string): Behaviour {
  const noted = (delta: object, reason: string | null): object => {
    const choices = [{ index: 0, delta, finish_reason: reason, content_filter_results: SAFE, logprobs: null }];
    return { ...chunk(UNDERLYING, {}), choices };
  };
  const chunks = [PROMPT_EVENT, ...deltas.map((delta) => noted(delta, null)), noted({}, finish)];
  return streams(chunks, { usage: USAGE });
}
