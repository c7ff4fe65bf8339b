// Hints for unknown paths: what the base URL or the path should be. Most requests that miss come from a client whose base
// URL has `/v1` once too often or not at all.

import { nearest } from "../../catalog/nearest.ts";

interface UnknownPath {
  readonly path: string;
  /** The address at which the client reaches the gateway. */
  readonly origin: string;
  /** Tells whether there is a route for a path. */
  readonly isKnown: (path: string) => boolean;
  /** The routes of the API. */
  readonly routes: readonly string[];
}

/** Endpoints of other services that clients call by default, and what to call here. */
const INSTEAD: readonly (readonly [path: RegExp, hint: string])[] = [
  [/^\/v1\/complete$/, "Use POST /v1/messages."],
  [/^\/v1\/messages\/batches(\/|$)/, "Batches are not served: send each request to POST /v1/messages."],
  [/^\/v1\/files(\/|$)/, "Files are not stored here: send them inside the request, as base64."],
  [
    /^\/v1beta\//,
    "Of the Gemini API, these are served: GET /v1beta/models, and generateContent, streamGenerateContent and countTokens of /v1beta/models/{model}.",
  ],
  [/^\/api\/tags$/, "The Ollama API is not served: use GET /v1/models."],
  [/^\/api\/(chat|generate)$/, "The Ollama API is not served: use POST /v1/chat/completions."],
  [/^\/v1\/(images|audio)(\/|$)/, "Images and audio are not served here."],
];

/** Anything longer is no misspelt route of ours, and comparing takes time. */
const COMPARED_MAX = 64;

/** A sentence for the person who configured the client. */
export function pathHint({ path, origin, isKnown, routes }: UnknownPath): string {
  const behindV1 = path.replace(/^(?:\/v1)+(?=\/|$)/i, "");
  if (path !== behindV1 && path !== `/v1${behindV1}` && isKnown(`/v1${behindV1}`)) return baseUrlHint(behindV1, origin);
  if (path === behindV1 && isKnown(`/v1${path}`)) return baseUrlHint(path, origin);
  const other = INSTEAD.find(([pattern]) => pattern.test(path));
  if (other !== undefined) return other[1];
  const meant = path.length > COMPARED_MAX ? null : nearest(path, routes);
  return meant === null ? "GET /openapi.json lists the paths." : `Did you mean ${meant}?`;
}

/** Anthropic clients add `/v1` themselves, all others do not. */
function baseUrlHint(path: string, origin: string): string {
  const baseUrl = path.startsWith("/messages") ? origin : `${origin}/v1`;
  return `Set the base URL to ${baseUrl} to reach /v1${path}.`;
}
