// Hints for unknown paths: what the base URL or the path should be. Most requests that miss come from a client whose base
// URL has `/v1` once too often or not at all.

import { nearest } from "../../catalog/nearest.ts";
import type { NotServed } from "../../formats/paths.ts";
import type { RequestFormats } from "./request-format.ts";

interface UnknownPath extends Pick<RequestFormats, "routes" | "of"> {
  readonly path: string;
  /** The address at which the client reaches the gateway. */
  readonly origin: string;
  /** Tells whether there is a route for a path. */
  readonly isKnown: (path: string) => boolean;
  /** The paths that it may be a misspelling of. */
  readonly meant: readonly string[];
}

/** Endpoints of services whose format is not spoken here, and what to call instead. */
const OTHER_SERVICES: readonly NotServed[] = [
  [/^\/api\/tags$/, "The Ollama API is not served: use GET /v1/models."],
  [/^\/api\/(chat|generate)$/, "The Ollama API is not served: use POST /v1/chat/completions."],
];

/** Anything longer is no misspelt route of ours, and comparing takes time. */
const COMPARED_MAX = 64;
/** A path that differs by more is an endpoint that another service has. */
const EDITS_MAX = 2;

/** A sentence for the person who configured the client. */
export function pathHint(unknown: UnknownPath): string {
  const { path, isKnown } = unknown;
  const behindV1 = path.replace(/^(?:\/v1)+(?=\/|$)/i, "");
  if (path !== `/v1${behindV1}` && isKnown(`/v1${behindV1}`)) return baseUrlHint(behindV1, unknown);
  const notServed = [...unknown.routes.flatMap(({ format }) => format.paths.notServed ?? []), ...OTHER_SERVICES];
  const other = notServed.find(([pattern]) => pattern.test(path));
  if (other !== undefined) return other[1];
  const meant = path.length > COMPARED_MAX ? null : nearest(path, unknown.meant, EDITS_MAX);
  return meant === null ? "GET /openapi.json lists the paths." : `Did you mean ${meant}?`;
}

/** Some clients add `/v1` themselves. */
function baseUrlHint(path: string, { origin, of }: UnknownPath): string {
  const { baseUrl } = of({ url: `/v1${path}`, headers: {} }).paths;
  return `Set the base URL to ${origin}${baseUrl} to reach /v1${path}.`;
}
