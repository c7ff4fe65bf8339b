// A test of a cloud, as the form that connects one makes it: whom the cloud sees, until when, and which models that account
// may use, in the cloud's own words. Behaviour 8.31.

import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { startGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { ENABLED, IDENTITY, startAccount } from "../../support/providers/clouds/account.ts";
import { type AskedServer, startAskedServer } from "../../support/providers/clouds/asked.ts";
import { SECRET } from "../../support/providers/clouds/bedrock-gateway.ts";
import { writeFederation } from "../../support/providers/clouds/fake-vertex.ts";
import { type FakeProvider, sends, startFakeProvider } from "../../support/providers/fake-provider.ts";

let gateway: TestGateway;
let aws: FakeProvider;
let google: FakeProvider;
let tokens: AskedServer;
let federation: ReturnType<typeof writeFederation>;

beforeAll(async () => {
  aws = await startAccount([SECRET]);
  google = await startFakeProvider();
  tokens = await startAskedServer();
  federation = writeFederation(`${tokens.url}/google`);
  tokens.answer = () => ({ body: { access_token: "ya29", expires_in: 3600 } });
  gateway = await startGateway();
});
afterAll(async () => {
  await gateway.stop();
  await Promise.all([aws.close(), google.close()]);
  tokens.close();
  federation.remove();
});

beforeEach(() => void vi.stubEnv("AWS_ENDPOINT_URL_STS", originOf(aws)));

const originOf = ({ url }: FakeProvider): string => new URL(url).origin;

async function tested(id: string, draft: object) {
  const answer = await gateway.api("POST", `/api/providers/${id}/test`, { draft });
  expect(answer.status).toBe(200);
  return (await answer.json()) as {
    readonly ok: boolean;
    readonly problem: string | null;
    readonly region: string | null;
    readonly signIn: { readonly identity: string | null; readonly expiresAt: string | null; readonly problem: string };
    readonly enabled: readonly { readonly model: string; readonly upstream: string; readonly isEnabled: boolean }[];
  };
}

const bedrock = (apiKey: string) => ({
  kind: "bedrock-converse",
  baseUrl: originOf(aws),
  region: "eu-central-1",
  apiKey,
});
const { accessKeyId, secretAccessKey, sessionToken } = SECRET;

test("Bedrock: the account, the region, and the profiles that it may use", async () => {
  const found = await tested("cloud", bedrock(`${accessKeyId}:${secretAccessKey}:${sessionToken}`));
  expect(found).toMatchObject({ ok: true, region: "eu-central-1" });
  expect(found.signIn).toEqual({ identity: IDENTITY, expiresAt: null, problem: null });
  expect(found.enabled.filter(({ isEnabled }) => isEnabled).map(({ upstream }) => upstream)).toEqual([ENABLED]);
  expect(found.enabled.length).toBeGreaterThan(5);
  expect(JSON.stringify(found)).not.toContain(secretAccessKey);
});

test("Bedrock: keys that are refused say so in AWS's words, for each model", async () => {
  const found = await tested("cloud", bedrock(`${accessKeyId}:${"x".repeat(40)}:${sessionToken}`));
  expect(found.ok).toBe(false);
  expect(found.problem).toContain("the signature does not match");
  expect(found.enabled).toContainEqual(
    expect.objectContaining({ isEnabled: false, problem: "the signature does not match" }),
  );
});

const vertex = () => ({
  ...{ kind: "vertex", region: "global", signIn: { credentialsFile: federation.file } },
  baseUrl: `${originOf(google)}/v1/projects/p/locations/global/publishers/google`,
});

test("Vertex: the end of the token, and what Google says of each model", async () => {
  const refusal = { error: { code: 403, message: "Permission denied on model.", status: "PERMISSION_DENIED" } };
  google.on("*", sends(403, refusal));
  google.on("gemini-3.8-flash", sends(200, { totalTokens: 1 }));
  const found = await tested("vertex", vertex());
  expect(Date.parse(found.signIn.expiresAt ?? "")).toBeGreaterThan(Date.now() + 3_000_000);
  expect(found.signIn.identity).toContain("workloadIdentityPools/p");
  const shown = new Map(found.enabled.map((each) => [each.model, each]));
  expect(shown.get("gemini-3.8-flash")).toMatchObject({ isEnabled: true, problem: null });
  expect(shown.get("gemini-4-argon")).toMatchObject({ isEnabled: false, problem: "Permission denied on model." });
  // Tokens are counted free of charge; one model was asked for an answer.
  const paths = google.requests.map(({ path }) => path.split(":").at(-1));
  expect(paths.filter((method) => method !== "countTokens")).toHaveLength(1);
});

test("a sign-in that fails is told on the provider, and counts no model", async () => {
  tokens.answer = () => ({ status: 400, body: { error: "invalid_grant" } });
  const found = await tested("vertex", vertex());
  expect(found).toMatchObject({ ok: false, enabled: null });
  expect(found.signIn.problem).toContain("(invalid_grant)");
  expect((await gateway.api("POST", "/api/providers", { id: "vertex", ...vertex() })).status).toBe(201);
  const signIn = async () => {
    const { data } = await (await gateway.api("GET", "/api/providers")).json();
    return data.find(({ id }: { readonly id: string }) => id === "vertex").signIn;
  };
  expect(await signIn()).toBeNull();
  await gateway.api("POST", "/api/providers/vertex/test", {});
  expect(await signIn()).toMatchObject({ identity: null, problem: expect.stringContaining("invalid_grant") });
  tokens.answer = () => ({ body: { access_token: "ya29", expires_in: 3600 } });
  await gateway.api("POST", "/api/providers/vertex/test", {});
  expect(await signIn()).toMatchObject({ problem: null, expiresAt: expect.stringMatching(/Z$/) });
});
