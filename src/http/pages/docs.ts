// GET /docs: the documentation that `npm run docs:build` made from docs/, with the API reference. `npm start` builds it in
// the background, so for the first seconds of a fresh checkout the path says that it is coming.

import { createReadStream, existsSync, statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { extname } from "node:path";
import { fileURLToPath } from "node:url";
import { createGunzip } from "node:zlib";
import type { FastifyInstance, FastifyReply } from "fastify";

/** The same folder from src/ and from dist/. */
export const DOCS_FOLDER = fileURLToPath(new URL("../../../dist/docs", import.meta.url));

/** No leading dot and no other separator: a path can only lead to a file of the site. */
const PLAIN_PATH = /^(?:[\w@][\w.@-]*\/)*[\w@][\w.@-]*$/;
const RETRY_SECONDS = 5;
const HINT = `The documentation is being built. This page reloads when it is ready.

If it does not:  npm run docs:build
The API is described at /openapi.json.
`;

/** Adds the routes of the site, whose built files lie in `folder`. The dashboard has registered @fastify/static. */
export function registerDocs(server: FastifyInstance, folder: string = DOCS_FOLDER): void {
  server.get("/docs", ({ url }, reply) => {
    // The router of the pages needs the slash that this server treats as optional.
    return url.startsWith("/docs/") ? sendPage(reply, folder, "index.html") : reply.redirect("/docs/", 308);
  });
  server.get("/docs/llms-full.txt", async (_request, reply) => {
    if (!existsSync(`${folder}/pages.json`)) return sendPage(reply, folder, "");
    return reply
      .header("cache-control", "no-cache")
      .type("text/plain; charset=utf-8")
      .send(await wholeText(folder));
  });
  server.get<{ Params: { "*": string } }>("/docs/*", ({ params: { "*": path } }, reply) => {
    const file = fileAt(folder, path);
    if (!file.startsWith("assets/")) return sendPage(reply, folder, file);
    if (!isPackedFor(reply, folder, file)) return reply.sendFile(file, folder, { maxAge: "365d", immutable: true });
    return sendUnpacked(reply.header("cache-control", "public, max-age=31536000, immutable"), folder, file);
  });
}

/** Joins the Markdown of all pages. A file of its own would hold every word twice. */
async function wholeText(folder: string): Promise<string> {
  const pages = JSON.parse(await readFile(`${folder}/pages.json`, "utf8")) as readonly { readonly path: string }[];
  const texts = pages.map(async ({ path }) => {
    const markdown = await readFile(`${folder}/${path}`, "utf8");
    return `<!-- docs/${path} -->\n\n${markdown.trim()}\n`;
  });
  return (await Promise.all(texts)).join("\n");
}

/** The file that a path leads to: a page without its extension, a folder by its index. Empty where there is none. */
function fileAt(folder: string, path: string): string {
  if (path === "") return "index.html";
  if (!PLAIN_PATH.test(path)) return "";
  return [path, `${path}.html`, `${path}/index.html`].find((name) => isBuilt(folder, name)) ?? "";
}

/** A large file lies there compressed only. */
function isBuilt(folder: string, name: string): boolean {
  return isFile(`${folder}/${name}`) || isFile(`${folder}/${name}.gz`);
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

/** Sends one file of the site; an empty name stands for a page that does not exist. */
function sendPage(reply: FastifyReply, folder: string, file: string): FastifyReply {
  reply.header("cache-control", "no-cache");
  if (!isBuilt(folder, "index.html")) {
    const headers = { "retry-after": RETRY_SECONDS, refresh: RETRY_SECONDS };
    return reply.code(503).headers(headers).type("text/plain; charset=utf-8").send(HINT);
  }
  if (file === "") return reply.code(404).sendFile("404.html", folder, { cacheControl: false });
  if (isPackedFor(reply, folder, file)) return sendUnpacked(reply, folder, file);
  return reply.sendFile(file, folder, { cacheControl: false });
}

/** Answers true where the file lies there in a form only that this client does not read. */
function isPackedFor({ request }: FastifyReply, folder: string, file: string): boolean {
  return !/\bgzip\b/.test(String(request.headers["accept-encoding"])) && !isFile(`${folder}/${file}`);
}

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
};

function sendUnpacked(reply: FastifyReply, folder: string, file: string): FastifyReply {
  const type = TYPES[extname(file)] ?? "application/octet-stream";
  return reply.type(type).send(createReadStream(`${folder}/${file}.gz`).pipe(createGunzip()));
}
