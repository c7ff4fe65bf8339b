// GET /llms.txt: a short guide to the gateway as plain text, for agents that write programs against it.

import { readFileSync } from "node:fs";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { isSimulated } from "../../catalog/catalog.ts";
import { describeValues, plainHelp } from "../../core/requests/control-text.ts";
import { REQUEST_CONTROLS, type RequestControl } from "../../core/requests/controls.ts";
import { TIERS } from "../../core/tiers.ts";
import type { CallContext } from "../context.ts";
import type { Clients } from "../exchange/request-format.ts";
import type { Operation } from "../openapi/operation.ts";
import { BATCH_OPERATIONS } from "../v1/batches/contract.ts";
import { STORED_COMPLETION_OPERATIONS } from "../v1/chat/contract.ts";
import { V1_OPERATIONS } from "../v1/contract.ts";
import { CACHE_OPERATIONS } from "../v1/gemini-contract.ts";
import { REALTIME_OPERATIONS } from "../v1/realtime/contract.ts";
import { STATE_OPERATIONS } from "../v1/responses/contract.ts";
import { DOCS_FOLDER } from "./docs.ts";

/** Adds the route. The guide names the public address, or the one that it was asked under, so its examples work as they are. */
export function registerGuide(
  server: FastifyInstance,
  { settings, formats, services }: Pick<CallContext, "settings" | "formats" | "services">,
): void {
  const { publicUrl } = settings.server;
  server.get("/llms.txt", (request, reply) => {
    const origin = publicUrl ?? originOf(request);
    return reply
      .type("text/plain; charset=utf-8")
      .send(guide({ origin, isSandbox: isSimulated(services().catalog), clients: formats.clients }) + pageList(origin));
  });
}

interface PageRow {
  readonly text: string;
  /** Below /docs. Agents read Markdown better than HTML, so this is the page's source. */
  readonly path: string;
  readonly about: string;
}

/** Every page of the documentation, as its build listed them. Empty while it is not built. */
function pageList(origin: string): string {
  const rows = builtPages().map(({ text, path, about }) => `- [${text}](${origin}/docs/${path}): ${about}`);
  return rows.length === 0 ? "" : `\n## Documentation as Markdown\n\n${rows.join("\n")}\n`;
}

function builtPages(): readonly PageRow[] {
  try {
    return JSON.parse(readFileSync(`${DOCS_FOLDER}/pages.json`, "utf8"));
  } catch {
    return [];
  }
}

/**
 * The address it was asked under; behind a trusted proxy, the one its caller sees. Empty where the host header holds
 * anything but a host, since it would be written into the text.
 */
function originOf({ protocol, host }: FastifyRequest): string {
  const isPlain = /^[\w.-]+(:\d+)?$|^\[[\da-f:.]+\](:\d+)?$/i.test(host);
  return isPlain ? `${protocol}://${host}` : "";
}

interface Guide {
  readonly origin: string;
  readonly isSandbox: boolean;
  readonly clients: readonly Clients[];
}

function fieldLine(control: RequestControl): string {
  return `- ${control.field} (${describeValues(control.takes).replaceAll("`", "")}): ${plainHelp(control)}`;
}

/** The text itself. */
function guide({ origin, isSandbox, clients }: Guide): string {
  return `# Switchyard

> A drop-in gateway for ${listed(clients.map(({ name }) => name))} clients. It sends each request to the cheapest model that can
> handle it, falls back when a provider fails, and says why.
${isSandbox ? "\nNo provider is configured here: answers are simulated, routing and token counts are real.\n" : ""}
## Base URLs

${clients.map((each) => clientLine(each, origin)).join("\n")}
- Key: Authorization: Bearer sk-service-... (or ${clients.flatMap(keyHeaderOf).join(", ")})
- "model": "auto" is routed; another name is only followed with "service_profile": "direct"

## Fields for the router

Send them with the usual fields of a request. They never reach a provider.

${REQUEST_CONTROLS.map(fieldLine).join("\n")}

A tier is one of ${TIERS.join(", ")}.

## What comes back

- The provider's answer in the client's own format, streamed if asked for, with a "service" object: model, tier,
  confidence, method, savingsPct, fallback
- X-Request-Id on every answer. With DEBUG_ROUTING=1 also X-Service-Model, X-Service-Tier, X-Service-Savings and X-Service-Fallback
- Errors: 401 key, 402 no credits, 422 messages missing, 429 and 503 with Retry-After; the message says what to do

## Ask first

- POST ${origin}/v1/routing/debug {"prompt": "..."}: the decision and its reasons, free and without a provider call

## Other calls with the key

${[...V1_OPERATIONS, ...REALTIME_OPERATIONS, ...STORED_COMPLETION_OPERATIONS, ...CACHE_OPERATIONS, ...STATE_OPERATIONS, ...BATCH_OPERATIONS].map((each) => operationLine(each, origin)).join("\n")}

## More

- [OpenAPI 3.1](${origin}/openapi.json): every call with examples and errors
- [Documentation](${origin}/docs): guides, concepts and reference; [in one file](${origin}/docs/llms-full.txt)
- [Models](${origin}/v1/models): what this key can reach, with prices
`;
}

function operationLine({ method, path, summary }: Operation, origin: string): string {
  return `- ${method.toUpperCase()} ${origin}${path}: ${summary}`;
}

function listed(names: readonly string[]): string {
  return new Intl.ListFormat("en-GB").format(names);
}

/** The paths that these clients call, with `auto` where the model is part of the path. */
function clientLine({ name, baseUrl, routes, modelsPath }: Clients, origin: string): string {
  const calls = routes.flatMap(({ path, counting }) => [path, ...(counting === undefined ? [] : [counting.path])]);
  const paths = [...calls.map((path) => `POST ${path.replace("{model}", "auto")}`), `GET ${modelsPath}`];
  return `- ${name} clients: ${`${origin}${baseUrl}` || "/"} (${paths.join(", ")})`;
}

function keyHeaderOf({ name, keyHeader }: Clients): readonly string[] {
  return keyHeader === null ? [] : [`${keyHeader} from ${name} clients`];
}
