// Every operation of the contract that needs a key checks it in the same way: without one, or with the other kind, it is
// 401, with the same response everywhere.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { operationsOf } from "../../../src/http/pages/openapi.ts";
import { ADMIN_TOKEN, labYaml, startGateway, type TestGateway } from "../../support/gateway/gateway.ts";

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

const guarded = operationsOf().filter(({ security }) => security !== null);

function knock(operation: (typeof guarded)[number], headers: Record<string, string>): Promise<Response> {
  const path = operation.path.replace(/\{\w+\}/g, "anything");
  const isWrite = operation.body !== null;
  return fetch(`${gateway.url}${path}`, {
    method: operation.method.toUpperCase(),
    headers: { "x-request-id": "same", ...(isWrite ? { "content-type": "application/json" } : {}), ...headers },
    ...(isWrite ? { body: "{not even JSON" } : {}),
  });
}

/** What may differ: the shape of the two formats. */
async function messageOf(answer: Response): Promise<string> {
  return ((await answer.json()) as { error: { message: string } }).error.message;
}

describe("an operation that needs a key", () => {
  it("there are many of", () => {
    expect(guarded.length).toBeGreaterThan(30);
  });

  it.each(["apiKey", "adminToken"] as const)("rejects every other caller: %s", async (kind) => {
    const messages = new Set<string>();
    const others: Record<string, string>[] = [
      {},
      { authorization: "" },
      { authorization: "Basic eDp5" },
      { authorization: "Bearer x" },
      { authorization: `Bearer ${kind === "apiKey" ? ADMIN_TOKEN : gateway.key}` },
      { cookie: "switchyard_session=x" },
    ];
    for (const operation of guarded.filter(({ security }) => security === kind)) {
      for (const headers of others) {
        const answer = await knock(operation, headers);
        expect([operation.id, headers, answer.status]).toEqual([operation.id, headers, 401]);
        messages.add(await messageOf(answer));
      }
    }
    // On /v1, a missing key is told from a wrong one.
    expect(messages.size).toBe(kind === "apiKey" ? 2 : 1);
  });
});

describe("an operation without a key", () => {
  let configured: TestGateway;
  beforeAll(async () => {
    configured = await startGateway({ yaml: labYaml("http://127.0.0.1:9/v1").replaceAll("lab", "unheard-of") });
  });
  afterAll(() => configured.stop());

  it.each(["/v1", "/healthz", "/livez", "/readyz", "/readyz?verbose", "/llms.txt", "/openapi.json", "/docs"])(
    "%s names no provider that is configured",
    async (path) => {
      const answer = await fetch(`${configured.url}${path}`);
      expect(answer.status).toBe(200);
      const text = await answer.text();
      expect(text).not.toContain("unheard-of");
      expect(text).not.toContain("127.0.0.1:9/");
    },
  );
});
