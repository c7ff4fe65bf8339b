// Metadata services of clouds hand out the identity of the machine. They are called by the credential chain that is
// configured, each by that of its own cloud, and by nothing else in the gateway.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, test, vi } from "vitest";
import { providerKind } from "../../../../src/catalog/provider-kinds.ts";
import type { Provider } from "../../../../src/core/model.ts";
import type { Auth } from "../../../../src/providers/auth/auth.ts";
import { AUTHS, openAuth } from "../../../../src/providers/auth/schemes.ts";

const METADATA = /169\.254\.|metadata\.google|fd00:ec2/;
let called: string[] = [];

beforeEach(() => {
  called = [];
  const refuse = (url: string): Promise<Response> => {
    called.push(new URL(url).hostname);
    return Promise.reject(new Error("nothing is reached"));
  };
  vi.stubGlobal("fetch", vi.fn(refuse));
  for (const name of AMBIENT) vi.stubEnv(name, undefined);
  vi.stubEnv("HOME", "/nowhere");
});

const AMBIENT = [
  ...["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE", "AWS_CONFIG_FILE"],
  ...["AWS_SHARED_CREDENTIALS_FILE", "AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_ROLE_ARN", "AWS_EC2_METADATA_DISABLED"],
  ...["AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_CONTAINER_CREDENTIALS_FULL_URI", "GCE_METADATA_HOST"],
  ...["AWS_EC2_METADATA_SERVICE_ENDPOINT", "GOOGLE_APPLICATION_CREDENTIALS", "AZURE_TENANT_ID", "AZURE_CLIENT_ID"],
  ...["AZURE_FEDERATED_TOKEN_FILE", "IDENTITY_ENDPOINT", "IDENTITY_HEADER"],
];

const ADDRESSES: Readonly<Record<string, string>> = {
  bedrock: "https://bedrock-runtime.eu-central-1.amazonaws.com/openai/v1",
  vertex: "https://aiplatform.googleapis.com/v1/projects/p/locations/global/publishers/google",
  azure: "https://r.openai.azure.com",
  openai: "https://api.openai.com/v1",
  anthropic: "https://api.anthropic.com",
};

async function signIn(kind: string, more: Partial<Provider>): Promise<readonly string[]> {
  const baseUrl = ADDRESSES[kind] ?? "";
  const provider = { id: "p", ...providerKind(kind), baseUrl, apiKey: null, region: "eu-central-1", ...more };
  const auth: Auth = openAuth(provider as Provider, AUTHS);
  const request = { method: "POST", url: `${baseUrl}/x`, headers: {}, body: Buffer.from("{}") };
  if (auth.form === "each") await auth.headersFor(request, null).catch(() => undefined);
  return called;
}

const PUBLIC_SERVICE = {
  ...{ type: "service_account", client_email: "a@b.iam.gserviceaccount.com", private_key: "none" },
};

test.each<[string, Partial<Provider>, Record<string, string>, readonly string[]]>([
  ["bedrock", {}, {}, ["169.254.169.254"]],
  ["bedrock", {}, { AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: "/v2/x" }, ["169.254.170.2"]],
  ["bedrock", {}, { AWS_EC2_METADATA_DISABLED: "true" }, []],
  ["bedrock", {}, { AWS_ACCESS_KEY_ID: "AKIA", AWS_SECRET_ACCESS_KEY: "s" }, []],
  ["bedrock", { signIn: { profile: "other" } }, {}, []],
  ["bedrock", { apiKey: "bedrock-api-key" }, {}, []],
  ["bedrock", { apiKey: "AKIAIOSFODNN7EXAMPLE:wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY" }, {}, []],
  ["vertex", {}, {}, ["metadata.google.internal"]],
  ["vertex", { apiKey: Buffer.from(JSON.stringify(PUBLIC_SERVICE)).toString("base64") }, {}, []],
  ["vertex", { signIn: { credentialsFile: "/nowhere/key.json" } }, {}, []],
  ["vertex", { baseUrl: "https://elsewhere.example" }, {}, []],
  ["azure", { signIn: { method: "entra" } }, {}, ["169.254.169.254"]],
  ["azure", { signIn: { tenantId: "t", clientId: "c" }, apiKey: "s" }, {}, ["login.microsoftonline.com"]],
  ["azure", { signIn: { method: "entra" }, baseUrl: "https://elsewhere.example" }, {}, []],
  ["azure", { apiKey: "resource-key" }, {}, []],
  ["openai", {}, {}, []],
  ["anthropic", { apiKey: "k" }, {}, []],
])("%s with %j and %j asks %j", async (kind, more, env, expected) => {
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
  expect(await signIn(kind, more)).toEqual(expected);
});

test("no other source knows such an address but the list of those that are never called", () => {
  const knowing = readdirSync("src", { recursive: true, encoding: "utf8" }).filter(
    (path) => path.endsWith(".ts") && METADATA.test(readFileSync(join("src", path), "utf8")),
  );
  expect(knowing.sort()).toEqual([
    "config/network.ts",
    "providers/auth/aws-credentials.ts",
    "providers/auth/entra.ts",
    "providers/auth/google.ts",
  ]);
});
