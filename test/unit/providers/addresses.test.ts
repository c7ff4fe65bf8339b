// Where requests go, for base URLs as people write them.

import { expect, it } from "vitest";
import { PROVIDER_KINDS } from "../../../src/catalog/provider-kinds.ts";
import { pathsOf } from "../../../src/providers/addresses.ts";
import { AUTHS } from "../../../src/providers/auth/schemes.ts";
import { FRAMINGS } from "../../../src/providers/framing.ts";

const HOST = "https://lab.example.com";
const V = "2024-10-21";

it.each([
  [`${HOST}/v1`, undefined, undefined, "/chat/completions", "/v1/chat/completions"],
  [`${HOST}/v1/?tenant=a`, undefined, undefined, "/chat/completions", "/v1/chat/completions?tenant=a"],
  [`${HOST}/?tenant=a`, undefined, undefined, "/m:s?alt=sse", "/m:s?alt=sse&tenant=a"],
  [HOST, "ollama", undefined, "/chat/completions", "/v1/chat/completions"],
  [`${HOST}/v1/`, "ollama", undefined, "/models", "/v1/models"],
  [HOST, "azure", undefined, "/chat/completions", "/openai/v1/chat/completions"],
  [`${HOST}/openai`, "azure", undefined, "/responses", "/openai/v1/responses"],
  [`${HOST}/openai/v1`, "azure", undefined, "/embeddings", "/openai/v1/embeddings"],
  [`${HOST}/openai/v1`, "azure", "preview", "/responses", "/openai/v1/responses?api-version=preview"],
  [`${HOST}/team`, "azure", undefined, "/models", "/team/openai/v1/models"],
  [HOST, "azure", V, "/realtime?model=my%20gpt", `/openai/realtime?api-version=${V}&deployment=my%20gpt`],
  [HOST, "azure", undefined, "/realtime?model=my%20gpt", "/openai/v1/realtime?model=my%20gpt"],
  [HOST, "azure", V, "/chat/completions", `/openai/deployments/my%20gpt/chat/completions?api-version=${V}`],
  [`${HOST}/openai/`, "azure", V, "/embeddings", `/openai/deployments/my%20gpt/embeddings?api-version=${V}`],
  [HOST, "azure", V, "/responses", `/openai/responses?api-version=${V}`],
  [HOST, "azure", V, "/models", `/openai/models?api-version=${V}`],
] as const)("%s as %s, version %s: %s", (baseUrl, addressing, apiVersion, path, expected) => {
  const provider = { baseUrl, ...(addressing && { addressing }), ...(apiVersion && { apiVersion }) };
  expect(pathsOf(provider)(path, "my gpt")).toBe(expected);
});

it("every kind names a scheme and a framing of the tables", () => {
  for (const { kind, auth, framing } of PROVIDER_KINDS) {
    expect([kind, auth.scheme in AUTHS, framing in FRAMINGS]).toEqual([kind, true, true]);
  }
});
