// The dashboard's files. Every path of a page answers index.html, hashed files may be cached for ever, and a gateway
// without a built dashboard says how to build it.

import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import fastifyStatic from "@fastify/static";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { DASHBOARD_PAGES } from "./dashboard-pages.ts";

/** The same folder from src/ and from dist/. */
export const UI_FOLDER = fileURLToPath(new URL("../../../dist/ui", import.meta.url));

/**
 * One-time links carry their token behind the `#` of `/`. Somebody who types the path without it gets the dashboard, which
 * asks them to sign in, and not an error in JSON.
 */
const LINK_PATHS = ["/setup", "/invite"];
/** Files beside the page that have no hash in their names. */
const PLAIN_FILES = ["favicon.svg", "theme.js"];

/** Every route of the dashboard. */
export const UI_ROUTES: readonly string[] = [
  "/assets/:file",
  ...PLAIN_FILES.map((file) => `/${file}`),
  ...[...DASHBOARD_PAGES.map(({ path }) => path), ...LINK_PATHS].flatMap((path) =>
    path === "/" ? [path] : [path, `${path}/:id`],
  ),
];

/** No path separator and no leading dot: a name can only be that of a file in the assets folder. */
const PLAIN_NAME = /^\w[\w.-]*$/;

/** An OpenAI client whose base URL lacks `/v1` asks for its models where the dashboard has a page. */
function isApiClient({ url, headers }: FastifyRequest): boolean {
  return /^\/+models(?:[/?]|$)/.test(url) && !(headers.accept?.includes("text/html") ?? false);
}

const HINT = `switchyard: the gateway is running, but its dashboard is not built.

Build it:  npm run build     (npm start does so by itself)
The API is at /v1, its description at /openapi.json.
`;

/** The dashboard itself, for addresses without a route; null where it is not built. */
export function readPage(folder: string = UI_FOLDER): Promise<string | null> {
  return readFile(`${folder}/index.html`, "utf8").catch(() => null);
}

/** Adds the routes of the dashboard, whose built files lie in `folder`. */
export async function registerUi(server: FastifyInstance, folder: string = UI_FOLDER): Promise<void> {
  await server.register(fastifyStatic, { root: folder, serve: false, preCompressed: true });
  const sendPage = (reply: FastifyReply): FastifyReply => {
    reply.header("cache-control", "no-cache");
    if (existsSync(`${folder}/index.html`)) return reply.sendFile("index.html", { cacheControl: false });
    return reply.type("text/plain; charset=utf-8").send(HINT);
  };
  for (const route of UI_ROUTES) {
    if (route === "/assets/:file") {
      server.get<{ Params: { file: string } }>(route, ({ params: { file } }, reply) => {
        if (!PLAIN_NAME.test(file)) return reply.callNotFound();
        return reply.sendFile(`assets/${file}`, { maxAge: "365d", immutable: true });
      });
    } else if (PLAIN_FILES.includes(route.slice(1))) {
      server.get(route, (_request, reply) =>
        reply.header("cache-control", "no-cache").sendFile(route.slice(1), { cacheControl: false }),
      );
    } else {
      server.get(route, (request, reply) => (isApiClient(request) ? reply.callNotFound() : sendPage(reply)));
    }
  }
}
