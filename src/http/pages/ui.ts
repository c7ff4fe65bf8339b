// The dashboard's files: its page at every address of the app, its hashed files for ever, and a hint where it is not built.

import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import fastifyStatic from "@fastify/static";
import type { FastifyInstance, FastifyReply } from "fastify";

/** The same folder from src/ and from dist/. */
export const UI_FOLDER = fileURLToPath(new URL("../../../dist/ui", import.meta.url));

/** The first step of every address that the page itself makes sense of. */
const VIEWS = [
  ...["overview", "requests", "playground", "keys", "profiles", "credits", "models", "settings"],
  ...["login", "setup", "invite"],
];
/** Files beside the page that have no hash in their names. */
const PLAIN_FILES = ["favicon.svg", "theme.js"];

/** Every route of the dashboard. */
export const UI_ROUTES: readonly string[] = [
  "/",
  "/assets/:file",
  ...PLAIN_FILES.map((file) => `/${file}`),
  ...VIEWS.flatMap((view) => [`/${view}`, `/${view}/:id`]),
];

const PLAIN_NAME = /^\w[\w.-]*$/;

const HINT = `switchyard: the gateway is running, but its dashboard is not built.

Build it:  npm run build     (npm start does so by itself)
The API is at /v1, its description at /openapi.json.
`;

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
    } else server.get(route, (_request, reply) => sendPage(reply));
  }
}
