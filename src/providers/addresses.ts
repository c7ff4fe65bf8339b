// Addresses of requests to providers: one row for each way in which providers lay out their paths.

import type { Provider } from "../core/model.ts";

/** Path and query of a request; `model` as the provider names it. */
export type PathOf = (path: string, model?: string) => string;

type Addressed = Pick<Provider, "baseUrl" | "addressing" | "apiVersion">;

export function pathsOf(provider: Addressed): PathOf {
  return ADDRESSINGS[provider.addressing ?? "plain"](provider);
}

const ADDRESSINGS: Readonly<Record<"plain" | "azure" | "ollama", (provider: Addressed) => PathOf>> = {
  plain({ baseUrl }) {
    const { pathname, search } = new URL(baseUrl);
    const base = pathname.replace(/\/+$/, "");
    return (path) => withQuery(`${base}${path}`, search.slice(1));
  },
  // Ollama's own API is at the root; what speaks chat-completions is below /v1.
  ollama({ baseUrl }) {
    const base = new URL(baseUrl).pathname.replace(/(?:\/v1)?\/*$/, "");
    return (path) => `${base}/v1${path}`;
  },
  // A resource has two addresses: `/openai/v1`, which takes the deployment in the body, and one for each deployment,
  // which needs a version. The base URL may be that of the resource or end in `/openai` or `/openai/v1`.
  azure({ baseUrl, apiVersion }) {
    const { pathname } = new URL(baseUrl);
    const resource = pathname.replace(/(?:\/openai(?:\/v1)?)?\/*$/, "");
    const version = apiVersion === undefined ? "" : `api-version=${encodeURIComponent(apiVersion)}`;
    if (version === "" || pathname.endsWith("/v1")) return (path) => withQuery(`${resource}/openai/v1${path}`, version);
    return (path, model = "") => {
      // Sessions name their deployment in the query.
      if (path.startsWith(SESSIONS))
        return withQuery(`${resource}/openai${SESSIONS}`, `${version}&deployment=${encodeURIComponent(model)}`);
      const deployment = IN_DEPLOYMENT.has(path) ? `/deployments/${encodeURIComponent(model)}` : "";
      return withQuery(`${resource}/openai${deployment}${path}`, version);
    };
  },
};

/** Paths that a deployment answers itself. Responses and the list of models belong to the resource. */
const IN_DEPLOYMENT: ReadonlySet<string> = new Set([
  "/chat/completions",
  "/embeddings",
  "/images/generations",
  "/images/edits",
  "/audio/speech",
  "/audio/transcriptions",
  "/audio/translations",
]);

const SESSIONS = "/realtime";

function withQuery(path: string, query: string): string {
  if (query === "") return path;
  return `${path}${path.includes("?") ? "&" : "?"}${query}`;
}
