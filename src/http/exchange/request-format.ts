// The wire format of a request: told by its path, and on shared and unknown paths by the sender's headers. Errors are
// written in the same format.

import type { IncomingHttpHeaders } from "node:http";
import type { FastifyRequest } from "fastify";
import type { FormatName } from "../../core/model.ts";
import type { CallFormat, ClientEnd, ClientFormat, ClientHeaders } from "../../formats/format.ts";
import type { JsonObject } from "../../formats/json/fields.ts";
import type { Formats } from "../../formats/registry.ts";

/** A route where clients of a format ask for completions. */
export interface CompletionRoute {
  /** `{model}` stands for the model where clients name it in the path. */
  readonly path: string;
  readonly format: FormatName;
  /** Everything below it belongs to the format too; the path itself when left out. */
  readonly base?: string;
  /** True when the path asks for a stream. Absent where the body does. */
  readonly isStream?: boolean;
  /** True when clients continue a response by its id. */
  readonly isStateful?: boolean;
  /** The path for a summary of a conversation, which is charged like a completion. */
  readonly compactPath?: string;
  /** The path for the number of input tokens of a request, if the format knows that. */
  readonly countPath?: string;
}

/** Only what a request is told apart by: it may not have reached the framework yet. */
interface RequestLine {
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
}

export interface RequestFormats {
  readonly routes: readonly CompletionRoute[];
  named(name: FormatName): CallFormat;
  /** The format a request speaks, and in which it is answered. */
  of(request: RequestLine): ClientEnd;
  /** The format of the client that sends these headers, whatever the path. `body`: what it sends, where that is read. */
  sentBy(headers: IncomingHttpHeaders, body?: JsonObject): ClientFormat;
  /** Tells whether completions are asked for at this route. */
  isCompletion(route: string): boolean;
}

declare module "fastify" {
  interface FastifyRequest {
    /** The format of the client; null only before the first hook has run. */
    clientFormat: ClientEnd | null;
  }
  interface FastifyContextConfig {
    /** The route as it is recorded, where the router needs another pattern. */
    label?: string;
    /** True when the request is about requests of its key that may hold all slots of the key: then it needs none itself. */
    needsNoSlot?: boolean;
  }
}

/** The route of a request as logs, metrics and the request log name it; undefined for an unknown path. */
export function routeOf({ routeOptions }: Pick<FastifyRequest, "routeOptions">): string | undefined {
  return routeOptions.config?.label ?? routeOptions.url;
}

const V1 = /^\/+v1(?:beta)?(?:[/?]|$)/;

/** Tells whether a path is for clients with an API key. Clients of Gemini call /v1beta. */
export function isV1(url: string): boolean {
  return V1.test(url);
}

export function createRequestFormats(formats: Formats, routes: readonly CompletionRoute[]): RequestFormats {
  const { usual } = formats;
  const isOtherChat = (format: CallFormat): format is ClientFormat => format.endpoint === undefined && format !== usual;
  const spoken = new Set(routes.map(({ format }) => formats.forClients(format)));
  const others = [...spoken].filter(isOtherChat);
  // A path that begins like a completion path belongs to its format too, also where nothing is found.
  const bases = new Map(routes.map(({ path, base = path, format }) => [base, format]));
  const paths = [...bases].map(([base, format]) => ({
    pattern: beginsWith(base),
    format: formats.forClients(format),
  }));
  const completions = new Set(routes.flatMap(({ path, compactPath }) => [path, compactPath ?? path]));
  const sentBy = (headers: IncomingHttpHeaders, body?: JsonObject): ClientFormat =>
    others.find(({ habits }) => habits.isSentBy(headers as ClientHeaders, body)) ?? usual;
  return {
    routes,
    named: formats.forClients,
    of({ url, headers }) {
      for (const { pattern, format } of paths) if (pattern.test(url)) return format;
      return sentBy(headers);
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
