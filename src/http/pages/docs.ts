// GET /docs: the contract as a page for people, made once from the OpenAPI document. No script.

import type { FastifyInstance } from "fastify";
import { asText } from "../exchange/error-page.ts";
import { openapiDocument, type WrittenOperation } from "./openapi.ts";

export function registerDocs(server: FastifyInstance): void {
  const page = docsPage();
  server.get("/docs", (_request, reply) => reply.type("text/html; charset=utf-8").send(page));
  server.get("/docs.css", (_request, reply) => reply.type("text/css; charset=utf-8").send(STYLE));
}

function docsPage(): string {
  const { paths, components } = openapiDocument();
  const entries = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): Entry => ({ method: method.toUpperCase(), path, operation })),
  );
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Switchyard API</title>
<link rel="stylesheet" href="/docs.css">
</head>
<body>
<header><h1>Switchyard API</h1>
<p>Point an OpenAI client's base URL at <code>/v1</code> of this server. The same contract for machines: <a href="/openapi.json">/openapi.json</a>.</p></header>
<nav aria-label="Operations"><ul>${entries.map(link).join("")}</ul></nav>
<main>${entries.map(section).join("\n")}
<h2 id="schemas">Schemas</h2>${Object.entries(components.schemas).map(schemaSection).join("\n")}</main>
</body>
</html>
`;
}

interface Entry {
  readonly method: string;
  readonly path: string;
  readonly operation: WrittenOperation;
}

function link({ method, path, operation }: Entry): string {
  return `<li><a href="#${asText(operation.operationId)}"><b>${method}</b> ${asText(path)}</a></li>`;
}

function section({ method, path, operation }: Entry): string {
  const { operationId, summary, security, parameters = null, requestBody, responses } = operation;
  const [status = "", ...errors] = Object.keys(responses);
  return `<section id="${asText(operationId)}"><h2><b>${method}</b> <code>${asText(path)}</code></h2>
<p>${asText(summary)}. Needs ${keyFor(security)}.</p>
${part("Parameters", parameters)}
${part("Body", requestBody?.content ?? null)}
${part(`Answer ${status}`, responses[status]?.content ?? null)}
${errors.length === 0 ? "" : `<p>Errors: ${errors.join(", ")}</p>`}</section>`;
}

function keyFor(security: WrittenOperation["security"]): string {
  if (security.length === 0) return "nothing";
  return security.some((scheme) => "apiKey" in scheme) ? "an API key" : "a session or the admin token";
}

function part(title: string, value: unknown): string {
  if (value === null) return "";
  return `<details><summary>${asText(title)}</summary><pre>${asText(JSON.stringify(value, null, 2))}</pre></details>`;
}

function schemaSection([name, schema]: [string, object]): string {
  return part(name, schema).replace("<details>", `<details id="schema-${asText(name)}">`);
}

const STYLE = `:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; --accent: light-dark(#0b6b6b, #58c4bf); }
body { margin: 0 auto; max-width: 60rem; padding: 1.5rem 1rem 4rem; background: light-dark(#f6f7f7, #101415); color: light-dark(#15201f, #e6eded); }
a { color: var(--accent); text-underline-offset: 2px; }
nav a { display: block; padding: 2px 0; text-decoration: none; }
nav a:hover { text-decoration: underline; }
nav b, h2 b { display: inline-block; min-width: 4.2em; font: 600 0.8em ui-monospace, Menlo, Consolas, monospace; color: var(--accent); }
section:target { scroll-margin-top: 1rem; box-shadow: -4px 0 0 var(--accent); padding-left: 0.75rem; }
summary { cursor: pointer; min-height: 24px; }
nav ul { list-style: none; padding: 0; columns: 2 18rem; font-size: 0.9rem; }
nav a, h2 code { overflow-wrap: anywhere; }
section { border-top: 1px solid color-mix(in srgb, currentColor 20%, transparent); padding-top: 0.5rem; }
h2 { font-size: 1.1rem; }
pre { overflow-x: auto; padding: 0.75rem; background: color-mix(in srgb, currentColor 7%, transparent); border-radius: 6px; }
details { margin: 0.25rem 0; }
`;
