// A recorded request as a curl command: word for word where its body was kept, else with a placeholder for the prompt.
// Keys are never kept, so the key is read from the shell.

import type { Controls } from "../../../src/core/decision.ts";
import type { RequestDetail } from "../../types.ts";

/** What of a record the command needs. */
type RecordedRequest = Pick<RequestDetail, "route" | "stream" | "content" | "decision" | "model">;

const CHAT = "/v1/chat/completions";
const messages = [{ role: "user", content: "YOUR_PROMPT" }];
const contents = [{ role: "user", parts: [{ text: "YOUR_PROMPT" }] }];

/** What stands in for the fields of a prompt that was not kept, by endpoint. */
const PLACEHOLDERS: Readonly<Record<string, object>> = {
  [CHAT]: { messages },
  "/v1/messages": { max_tokens: 1024, messages },
  "/v1/completions": { prompt: "YOUR_PROMPT" },
  "/v1/responses": { input: "YOUR_PROMPT" },
  "/v1/embeddings": { input: "YOUR_TEXT" },
  "/v1/moderations": { input: "YOUR_TEXT" },
  "/v1/rerank": { query: "YOUR_QUERY", documents: ["YOUR_TEXT"] },
  "/v1beta/models/{model}:generateContent": { contents },
  "/v1beta/models/{model}:streamGenerateContent": { contents },
};

/** The command, with the headers of its format. The playground's requests become chat requests. */
export function curlOf(detail: RecordedRequest, origin: string): string {
  const path = detail.route in PLACEHOLDERS ? detail.route : CHAT;
  const called = origin + path.replace("{model}", () => modelOf(detail));
  // Clients write names of models as they like.
  const address = /^[\w.:/@+-]+$/.test(called) ? called : quoted(called);
  return [
    `curl ${address} \\`,
    '  -H "Authorization: Bearer $SWITCHYARD_KEY" \\',
    ...(path === "/v1/messages" ? ['  -H "anthropic-version: 2023-06-01" \\'] : []),
    '  -H "Content-Type: application/json" \\',
    `  -d ${quoted(bodyOf(detail, path))}`,
  ].join("\n");
}

/** One word of the shell, whatever is in it. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** Formats that name the model in the path have none in the body, and no field for a stream. */
function modelOf({ decision, model }: RecordedRequest): string {
  return decision === null ? (model ?? "auto") : (decision.controls?.model ?? "auto");
}

/** A body that was cut would not parse. The playground's own requests have another shape, so they are written again. */
function bodyOf(detail: RecordedRequest, path: string): string {
  const { route, stream, content, decision } = detail;
  const isKept = content !== null && !content.isRequestCut && route === path;
  if (isKept) return content.request;
  const isInPath = path.includes("{model}");
  return JSON.stringify({
    ...(isInPath ? {} : { model: modelOf(detail) }),
    ...PLACEHOLDERS[path],
    ...(stream && !isInPath ? { stream: true } : {}),
    ...controlsOf(decision?.controls ?? {}),
  });
}

/** The controls that a decision records, and the request fields that set them. */
const FIELDS: readonly (readonly [keyof Controls, string])[] = [
  ["forcedTier", "service_tier"],
  ["tierFloor", "service_tier_floor"],
  ["tierCeiling", "service_tier_ceiling"],
  ["maxCostUsd", "service_max_cost"],
  ["toolScoreMin", "service_bfcl_min"],
  ["codeQuality", "service_code_quality"],
  ["chatQuality", "service_chat_quality"],
];

/** Only what the request asked for. */
function controlsOf(controls: Partial<Controls>): Record<string, unknown> {
  const { profile = "auto" } = controls;
  const set = FIELDS.filter(([name]) => controls[name] !== undefined && controls[name] !== null);
  return {
    ...(profile === "auto" ? {} : { service_profile: profile }),
    ...Object.fromEntries(set.map(([name, field]) => [field, controls[name]])),
  };
}
