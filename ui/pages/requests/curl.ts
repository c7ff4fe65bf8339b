// A recorded request as a curl command: word for word where its body was kept, else with a place for the prompt and the
// routing it asked for. The key is nowhere kept, so it is read from the shell.

import type { Controls } from "../../../src/core/decision.ts";
import type { RequestDetail } from "../../types.ts";

type RecordedRequest = Pick<RequestDetail, "route" | "stream" | "content" | "decision">;

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

/** The playground's own requests have another shape, so they are asked anew. */
function bodyOf({ route, stream, content, decision }: RecordedRequest, isMessages: boolean): string {
  const isKept = content !== null && !content.isRequestCut && route.startsWith("/v1/");
  if (isKept) return content.request;
  return JSON.stringify({
    model: decision?.controls?.model ?? "auto",
    ...(isMessages ? { max_tokens: 1024 } : {}),
    messages: [{ role: "user", content: "Your prompt here: this gateway does not keep prompts." }],
    ...(stream ? { stream: true } : {}),
    ...controlsOf(decision?.controls ?? {}),
  });
}

const FIELDS: readonly (readonly [keyof Controls, string])[] = [
  ["forcedTier", "service_tier"],
  ["tierFloor", "service_tier_floor"],
  ["tierCeiling", "service_tier_ceiling"],
  ["maxCostUsd", "service_max_cost"],
  ["toolScoreMin", "service_bfcl_min"],
  ["codeQuality", "service_code_quality"],
  ["chatQuality", "service_chat_quality"],
];

function controlsOf(controls: Partial<Controls>): Record<string, unknown> {
  const { profile = "auto" } = controls;
  const set = FIELDS.filter(([name]) => controls[name] !== undefined && controls[name] !== null);
  return {
    ...(profile === "auto" ? {} : { service_profile: profile }),
    ...Object.fromEntries(set.map(([name, field]) => [field, controls[name]])),
  };
}
