// Tokens of Microsoft Entra, by secret, by workload identity and from the machine, against a server that is told apart.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { fetchEntraToken } from "../../../../src/providers/auth/entra.ts";
import { type AskedServer, startAskedServer } from "../../../support/providers/clouds/asked.ts";

let server: AskedServer;
let folder = "";

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "switchyard-entra-"));
  server = await startAskedServer();
});
afterAll(() => {
  server.close();
  rmSync(folder, { recursive: true, force: true });
});
beforeEach(() => {
  server.asked = [];
  server.answer = () => ({ body: { access_token: "entra-token", expires_in: 3600 } });
});

function fetchToken(
  signIn: Record<string, string>,
  apiKey: string | null,
  env: Record<string, string> = {},
  resource: { readonly resource?: string } = {},
) {
  const authority = { AZURE_AUTHORITY_HOST: server.url };
  const auth = { scheme: "azure", ...resource };
  return fetchEntraToken({ apiKey, signIn, auth }, AbortSignal.timeout(10_000), { ...authority, ...env });
}

const formOf = () => Object.fromEntries(new URLSearchParams(server.asked[0]?.body));

test("a client signs in with its secret", async () => {
  const token = await fetchToken({ tenantId: "t-1", clientId: "c-1" }, "s3cret");
  expect(token.text).toBe("entra-token");
  expect(token.expiresAtMs).toBeGreaterThan(Date.now() + 3_000_000);
  expect(server.asked[0]?.path).toBe("/t-1/oauth2/v2.0/token");
  expect(formOf()).toEqual({
    grant_type: "client_credentials",
    client_id: "c-1",
    client_secret: "s3cret",
    scope: "https://cognitiveservices.azure.com/.default",
  });
});

test("a token for Foundry is asked for its own resource", async () => {
  const resource = { resource: "https://ai.azure.com" };
  await fetchToken({ tenantId: "t-1", clientId: "c-1" }, "s3cret", {}, resource);
  expect(formOf()).toMatchObject({ scope: "https://ai.azure.com/.default" });
  await fetchToken({}, null, { IDENTITY_ENDPOINT: `${server.url}/msi`, IDENTITY_HEADER: "h-1" }, resource);
  expect(server.asked[1]?.path).toContain("resource=https%3A%2F%2Fai.azure.com");
});

test("workload identity sends the token of the file, with tenant and client from variables", async () => {
  const path = join(folder, "federated");
  writeFileSync(path, "eyJ.federated\n");
  const env = { AZURE_TENANT_ID: "t-2", AZURE_CLIENT_ID: "c-2", AZURE_FEDERATED_TOKEN_FILE: path };
  await fetchToken({ method: "entra" }, null, env);
  expect(server.asked[0]?.path).toBe("/t-2/oauth2/v2.0/token");
  expect(formOf()).toMatchObject({ client_id: "c-2", client_assertion: "eyJ.federated" });
});

test("a managed identity is asked for at the address that the service names", async () => {
  server.answer = ({ headers }) => ({
    body: { access_token: `for ${headers["x-identity-header"]}`.replace(" ", "-"), expires_in: "86400" },
  });
  const env = { IDENTITY_ENDPOINT: `${server.url}/msi/token`, IDENTITY_HEADER: "h-1" };
  expect((await fetchToken({ clientId: "c-3" }, null, env)).text).toBe("for-h-1");
  const asked = new URL(server.asked[0]?.path ?? "", server.url).searchParams;
  expect(Object.fromEntries(asked)).toEqual({
    "api-version": "2019-08-01",
    resource: "https://cognitiveservices.azure.com",
    client_id: "c-3",
  });
});

test("an answer without a token is an error, and a refusal has Entra's own code and no secret", async () => {
  server.answer = () => ({ body: { access_token: null, expires_in: 3600 } });
  const asked = () => fetchToken({ tenantId: "t", clientId: "c" }, "s3cret");
  await expect(asked()).rejects.toThrow("the answer holds no token");
  server.answer = () => ({ status: 401, body: { error: "invalid_client", error_description: "s3cret is wrong" } });
  await expect(asked()).rejects.toThrow(/^127\.0\.0\.1:\d+ answered 401 \(invalid_client\)$/);
});
