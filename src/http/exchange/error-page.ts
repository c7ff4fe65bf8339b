// Error pages, for people who open an address in a browser. Programs get JSON, and so does everybody on /api and where clients call.

import type { FastifyRequest } from "fastify";
import type { GatewayError } from "../../core/errors.ts";

export function wantsPage(request: Pick<FastifyRequest, "method" | "url" | "headers" | "isClientPath">): boolean {
  const { method, url, headers, isClientPath } = request;
  const isRead = method === "GET" || method === "HEAD";
  const isForProgram = isClientPath || /^\/+api(?:[/?]|$)/.test(url);
  return isRead && !isForProgram && (headers.accept?.includes("text/html") ?? false);
}

/** Without style and script: the host may be one under which neither is served. */
export function errorPage({ status, message }: GatewayError, requestId: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${status} - Switchyard</title>
</head>
<body>
<h1>${status}</h1>
<p>${asText(message)}</p>
<p><small>Request ${asText(requestId)}</small></p>
</body>
</html>
`;
}

/** Text as HTML shows it. */
function asText(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
