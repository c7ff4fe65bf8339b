// Unmatched requests. A path that exists with other methods gets 405 with Allow, or 204 for OPTIONS; others get 404.

import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Settings } from "../../config/settings.ts";
import { GatewayError } from "../../core/errors.ts";
import * as TEXT from "../text.ts";
import { publicOrigin } from "./hosts.ts";
import { pathHint } from "./path-hint.ts";
import type { RequestFormats } from "./request-format.ts";

const PATH_SHOWN = 200;

interface KnownPath {
  readonly pattern: RegExp;
  readonly methods: Set<string>;
}

export interface MethodTable {
  /** Sends the response to OPTIONS; returns the error of everything else. */
  respondUnmatched(request: FastifyRequest, reply: FastifyReply): GatewayError | null;
}

/** Watches the routes as they are registered, so it must be created before them. */
export function createMethodTable(
  server: FastifyInstance,
  { settings, formats }: { readonly settings: Pick<Settings["server"], "publicUrl">; readonly formats: RequestFormats },
): MethodTable {
  const paths = new Map<string, KnownPath>();
  server.addHook("onRoute", ({ url, method }) => {
    // The wildcard route of CORS preflights makes no path a known one.
    if (url.includes("*")) return;
    const known = paths.get(url) ?? { pattern: toPattern(url), methods: new Set<string>() };
    paths.set(url, known);
    for (const name of [method].flat()) known.methods.add(name);
  });
  const isKnown = (path: string): boolean => [...paths.values()].some(({ pattern }) => pattern.test(path));
  const meant = (): readonly string[] =>
    [...paths.keys()].filter((url) => formats.isClientPath(url) && !url.includes(":") && url.indexOf("/", 1) > 0);
  return {
    respondUnmatched(request, reply) {
      const path = normalised(request.url);
      const isCall = isCustomMethod(path) || (request.method === "POST" && PLAIN_METHOD.test(path));
      const known = pathsLike(path, isCall, paths);
      const allow = [...new Set(known.flatMap(({ methods }) => [...methods]))].sort().join(", ");
      // A route itself has found nothing where the method is possible.
      if (allow === "" || known.some(({ methods }) => methods.has(request.method))) {
        const origin = publicOrigin(request, settings);
        const hint = pathHint({ ...formats, path, origin, isKnown, meant: meant() });
        return new GatewayError("notFound", TEXT.unknownPath(path.slice(0, PATH_SHOWN), hint));
      }
      reply.header("allow", allow);
      if (request.method !== "OPTIONS") {
        return new GatewayError("wrongMethod", TEXT.methodNotAllowed(request.method, allow));
      }
      reply.code(204).send();
      return null;
    },
  };
}

/** Behind a colon, such as `:embedContent`. It is no part of a name. */
const CUSTOM_METHOD = /:[a-z]+[A-Z]\w*$/;

/** Such as `:predict`. The name of a model may end like this as well, but nothing is posted to one. */
const PLAIN_METHOD = /:[a-z]+$/;

/** Tells whether a path ends in an action, not in a name. */
export function isCustomMethod(path: string): boolean {
  return CUSTOM_METHOD.test(path);
}

function pathsLike(path: string, isCall: boolean, paths: ReadonlyMap<string, KnownPath>): readonly KnownPath[] {
  // A path without parameters is itself; another that would fit it, too, is not meant.
  const exact = paths.get(path);
  if (exact !== undefined) return [exact];
  const fitting = [...paths].filter(([, { pattern }]) => pattern.test(path));
  const calls = fitting.filter(([url]) => url.includes("::"));
  return (isCall || calls.length > 0 ? calls : fitting).map(([, known]) => known);
}

function normalised(url: string): string {
  const path = (url.split("?", 1)[0] as string).replace(/\/{2,}/g, "/");
  return path.length > 1 ? path.replace(/\/$/, "") : path;
}

function toPattern(url: string): RegExp {
  const parts = url.replaceAll("(.+)", "").split(/(?<!:):[A-Za-z]+/);
  const escaped = parts.map((part) => part.replaceAll("::", ":").replace(/[.+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${escaped.join("[^/]+")}$`);
}
