// A recorded request as a curl command: word for word where its body was kept, else with a placeholder for the prompt.
// Keys are never kept, so the key is read from the shell.

import type { Controls } from "../../../src/core/decision.ts";
import type { RequestDetail } from "../../types.ts";

/** What of a record the command needs. */
type RecordedRequest = Pick<RequestDetail, "route" | "stream" | "content" | "decision">;

/** The command, with the headers of its format. */
export function curlOf(detail: RecordedRequest, origin: string): string {
  const isMessages = detail.route === "/v1/messages";
  const path = isMessages ? "/v1/messages" : "/v1/chat/completions";
  return [
    `curl ${origin}${path} \\`,
    '  -H "Authorization: Bearer $SWITCHYARD_KEY" \\',
    ...(isMessages ? ['  -H "anthropic-version: 2023-06-01" \\'] : []),
    '  -H "Content-Type: application/json" \\',
    `  -d '${bodyOf(detail, isMessages).replaceAll("'", "'\\''")}'`,
  ].join("\n");
}

/** A body that was cut would not parse. The playground's own requests have another shape, so they are written again. */
function bodyOf({ route, stream, content, decision }: RecordedRequest, isMessages: boolean): string {
  const isKept = content !== null && !content.isRequestCut && route.startsWith("/v1/");
  if (isKept) return content.request;
  return JSON.stringify({
    model: decision?.controls?.model ?? "auto",
    ...(isMessages ? { max_tokens: 1024 } : {}),
    messages: [{ role: "user", content: "YOUR_PROMPT" }],
    ...(stream ? { stream: true } : {}),
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
