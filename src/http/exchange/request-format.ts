// The wire format of a request: told by its path, and on paths that all formats share by the sender's headers. Errors
// are written in the same format.

import type { IncomingHttpHeaders } from "node:http";
import type { FormatName } from "../../core/model.ts";
import type { ClientFormat, ClientHeaders } from "../../formats/format.ts";
import type { Formats } from "../../formats/registry.ts";

/** Where clients of a format ask for completions. */
export interface CompletionRoute {
  readonly path: string;
  readonly format: FormatName;
  /** Where they ask how many input tokens a request has, if the format knows that. */
  readonly countPath?: string;
}

/** Only what a request is told apart by: it may not have reached the framework yet. */
interface RequestLine {
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
}

export interface RequestFormats {
  readonly routes: readonly CompletionRoute[];
  named(name: FormatName): ClientFormat;
  /** The format a request speaks, and in which it is answered. */
  of(request: RequestLine): ClientFormat;
  /** The format of the client that sends these headers, whatever the path. */
  sentBy(headers: IncomingHttpHeaders): ClientFormat;
  /** Whether completions are asked for at this route. */
  isCompletion(route: string): boolean;
}

declare module "fastify" {
  interface FastifyRequest {
    /** Null only before the first hook has run. */
    clientFormat: ClientFormat | null;
  }
}

const V1 = /^\/+v1(?:[/?]|$)/;
const MODELS = /^\/+v1\/+models(?:[/?]|$)/;

export function isV1(url: string): boolean {
  return V1.test(url);
}

export function createRequestFormats(formats: Formats, routes: readonly CompletionRoute[]): RequestFormats {
  const { usual } = formats;
  const others = formats.all.filter((format) => format !== usual);
  // What begins like a completion path belongs to its format too, also where nothing is found.
  const paths = routes
    .map(({ path, format }) => ({ pattern: beginsWith(path), format: formats.forClients(format) }))
    .filter(({ format }) => format !== usual);
  const completions = new Set(routes.map(({ path }) => path));
  const sentBy = (headers: IncomingHttpHeaders): ClientFormat =>
    others.find(({ habits }) => habits.isSentBy(headers as ClientHeaders)) ?? usual;
  return {
    routes,
    named: formats.forClients,
    of({ url, headers }) {
      for (const { pattern, format } of paths) if (pattern.test(url)) return format;
      return MODELS.test(url) ? sentBy(headers) : usual;
    },
    sentBy,
    isCompletion: (route) => completions.has(route),
  };
}

/** Slashes may be doubled, as the router takes them. */
function beginsWith(path: string): RegExp {
  const parts = path.split("/").filter((part) => part !== "");
  return new RegExp(`^${parts.map((part) => `/+${part.replace(/[^\w]/g, "\\$&")}`).join("")}(?:[/?]|$)`);
}
