// A recorded request as a curl command: word for word where its body was kept, else with a placeholder for the prompt.
// Keys are never kept, so the key is read from the shell.

/// <reference types="vite/types/importMeta.d.ts" />

import type { Controls } from "../../../src/core/decision.ts";
import { REQUEST_CONTROLS } from "../../../src/core/requests/controls.ts";
import type { ClientPaths } from "../../../src/formats/paths.ts";
import type { RequestDetail } from "../../types.ts";

/** Fields of a record that the command needs. */
type RecordedRequest = Pick<RequestDetail, "route" | "stream" | "content" | "decision" | "model">;

/** The codecs' own tables of where clients call, one file per format. */
const TABLES = import.meta.glob<Readonly<Record<string, ClientPaths>>>("../../../src/formats/*/paths.ts", {
  eager: true,
});
const CALLS = new Map(
  Object.values(TABLES)
    .flatMap((table) => Object.values(table))
    .flatMap(({ routes, headers = {} }) => routes.map(({ path, example }) => [path, { example, headers }] as const)),
);
/** Path for requests of the playground, whose own path belongs to the dashboard. */
const CHAT = "/v1/chat/completions";

/** The command, with the headers of its format. The playground's requests become chat requests. */
export function curlOf(detail: RecordedRequest, origin: string): string {
  const path = CALLS.has(detail.route) ? detail.route : CHAT;
  const { example = {}, headers = {} } = CALLS.get(path) ?? {};
  const called = origin + path.replace("{model}", () => modelOf(detail));
  // Clients write names of models as they like.
  const address = /^[\w.:/@+-]+$/.test(called) ? called : quoted(called);
  return [
    `curl ${address} \\`,
    '  -H "Authorization: Bearer $SWITCHYARD_KEY" \\',
    ...Object.entries(headers).map(([name, value]) => `  -H "${name}: ${value}" \\`),
    '  -H "Content-Type: application/json" \\',
    `  -d ${quoted(bodyOf(detail, path, example))}`,
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
function bodyOf(detail: RecordedRequest, path: string, example: object): string {
  const { route, stream, content, decision } = detail;
  const isKept = content !== null && !content.isRequestCut && route === path;
  if (isKept) return content.request;
  const isInPath = path.includes("{model}");
  return JSON.stringify({
    ...(isInPath ? {} : { model: modelOf(detail) }),
    ...example,
    ...(stream && !isInPath ? { stream: true } : {}),
    ...controlsOf(decision?.controls ?? {}),
  });
}

/** Keeps only the controls that the request asked for. */
function controlsOf(controls: Partial<Controls>): Record<string, unknown> {
  const asked = REQUEST_CONTROLS.map(({ name, field, takes }) => [field, controls[name] ?? takes.unset, takes.unset]);
  return Object.fromEntries(asked.filter(([, value, unset]) => value !== unset));
}
