// The wire format of a request: told by its path, and on shared and unknown paths by the sender's headers. Errors are
// written in the same format.

import type { IncomingHttpHeaders } from "node:http";
import type { FastifyRequest } from "fastify";
import type { FormatName } from "../../core/model.ts";
import type { CallFormat, ClientEnd, ClientFormat, ClientHeaders } from "../../formats/format.ts";
import type { JsonObject } from "../../formats/json/fields.ts";
import type { CallRoute, ClientPaths } from "../../formats/paths.ts";
import { createFormats, type Formats } from "../../formats/registry.ts";

/** A path where completions are asked for, and the format that is spoken there. */
interface ServedRoute extends CallRoute {
  readonly format: CallFormat;
}

/** Only what a request is told apart by: it may not have reached the framework yet. */
interface RequestLine {
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
}

export interface RequestFormats {
  readonly routes: readonly ServedRoute[];
  /** Descriptions of the formats' clients: one row for each kind of client, with all of its routes. */
  readonly clients: readonly Clients[];
  /** The paths under which clients list models, with the first format that does so there. */
  readonly modelLists: ReadonlyMap<string, CallFormat>;
  named(name: FormatName): CallFormat;
  /** Tells whether a path is for clients with an API key. */
  isClientPath(url: string): boolean;
  /** The format a request speaks, and in which it is answered. */
  of(request: RequestLine): ClientEnd;
  /** The format of the client that sends these headers, whatever the path. `body`: what it sends, where that is read. */
  sentBy(headers: IncomingHttpHeaders, body?: JsonObject): ClientFormat;
  /** Tells whether completions are asked for at this route. */
  isCompletion(route: string): boolean;
}

/** Clients of one name: those of one vendor may speak several formats. */
export interface Clients extends Pick<ClientPaths, "baseUrl" | "modelsPath" | "routes"> {
  readonly name: string;
  readonly keyHeader: string | null;
}

declare module "fastify" {
  interface FastifyRequest {
    /** The format of the client; null only before the first hook has run. */
    clientFormat: ClientEnd | null;
    /** True when the path is for clients with an API key. */
    isClientPath: boolean;
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

export function createRequestFormats(formats: Formats = createFormats()): RequestFormats {
  const { usual, clients } = formats;
  const isOtherChat = (format: CallFormat): format is ClientFormat => format.endpoint === undefined && format !== usual;
  const others = clients.filter(isOtherChat);
  const routes = clients.flatMap((format) => format.paths.routes.map((route) => ({ ...route, format })));
  const modelLists = new Map(clients.toReversed().map((format) => [format.paths.modelsPath, format]));
  // A path that begins like a completion path belongs to its format too, also where nothing is found.
  const bases = new Map(routes.map(({ path, format }) => [format.paths.base ?? path, format]));
  for (const format of clients) for (const path of format.paths.otherBases ?? []) bases.set(path, format);
  for (const [path, format] of modelLists) {
    if (clients.every(({ paths }) => paths.modelsPath !== path || paths === format.paths)) bases.set(path, format);
  }
  const paths = [...bases].map(([base, format]) => ({ pattern: beginsWith(base), format }));
  const tops = new Set([...bases.keys(), ...modelLists.keys()].map((path) => `/${path.split("/")[1]}`));
  const clientPaths = [...tops].map(beginsWith);
  const completions = new Set(routes.flatMap(({ path, compactPath }) => [path, compactPath ?? path]));
  const sentBy = (headers: IncomingHttpHeaders, body?: JsonObject): ClientFormat =>
    others.find(({ habits }) => habits.isSentBy(headers as ClientHeaders, body)) ?? usual;
  return {
    routes,
    clients: clientsOf(clients),
    modelLists,
    named: formats.forClients,
    isClientPath: (url) => clientPaths.some((pattern) => pattern.test(url)),
    of({ url, headers }) {
      for (const { pattern, format } of paths) if (pattern.test(url)) return format;
      return sentBy(headers);
    },
    sentBy,
    isCompletion: (route) => completions.has(route),
  };
}

function clientsOf(formats: readonly CallFormat[]): readonly Clients[] {
  const namesOf = formats.map(({ paths }) => paths.clients);
  const firsts = formats.filter(({ paths }, place) => namesOf.indexOf(paths.clients) === place);
  return firsts.map(({ paths, habits }) => {
    const name = paths.clients;
    const own = formats.filter((format) => format.paths.clients === name);
    return { ...paths, name, routes: own.flatMap((format) => format.paths.routes), keyHeader: habits.keyHeader };
  });
}

/** Slashes may be doubled, as the router takes them. A model's name may have one. */
function beginsWith(path: string): RegExp {
  const parts = path.split("/").filter((part) => part !== "");
  const written = parts.map((part) => `/+${part.replace(/[^\w]/g, "\\$&").replace("\\{model\\}", "[^?]+")}`);
  return new RegExp(`^${written.join("")}(?:[/?]|$)`);
}
