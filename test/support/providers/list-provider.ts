// A provider that only has a list of models, as the doctor and `models check` ask for it.

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

export interface ListProvider {
  readonly url: string;
  /** `METHOD path` of every request, with its credentials. */
  readonly asked: { readonly line: string; readonly key: string | undefined }[];
}

export type ListAnswer = (request: IncomingMessage, response: ServerResponse) => void;

export async function startListProvider(answer: ListAnswer): Promise<ListProvider> {
  const asked: ListProvider["asked"] = [];
  const server = createServer((request, response) => {
    const { authorization, "x-api-key": key } = request.headers;
    asked.push({ line: `${request.method} ${request.url}`, key: authorization ?? (key as string | undefined) });
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

export function lists(...models: readonly (string | object)[]): ListAnswer {
  const data = models.map((model) => (typeof model === "string" ? { id: model } : model));
  return answers(200, { object: "list", data });
}

export function answers(status: number, body: object | string, headers: Record<string, string> = {}): ListAnswer {
  return (_, response) => {
    const type = typeof body === "string" ? "text/html" : "application/json";
    const text = typeof body === "string" ? body : JSON.stringify(body);
    response.writeHead(status, { "content-type": type, ...headers }).end(text);
  };
}
