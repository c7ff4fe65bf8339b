// Access tokens of Google Cloud: by a service account, by federation and from the machine. The server verifies the
// signature of a service account.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { exportPKCS8, generateKeyPair, jwtVerify } from "jose";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { fetchGoogleToken } from "../../../../src/providers/auth/google.ts";
import { type AskedServer, startAskedServer } from "../../../support/providers/clouds/asked.ts";

const SCOPE = "https://www.googleapis.com/auth/cloud-platform";
let server: AskedServer;
let folder = "";

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "switchyard-google-"));
  server = await startAskedServer();
});
afterAll(() => {
  server.close();
  rmSync(folder, { recursive: true, force: true });
});
beforeEach(() => {
  server.asked = [];
  server.answer = () => ({ body: { access_token: "ya29.token", expires_in: 3599 } });
});

function fetchToken(
  credentials: object | null,
  more: { readonly env?: Record<string, string>; readonly isKey?: boolean } = {},
) {
  const text = JSON.stringify(credentials);
  const path = join(folder, "credentials.json");
  writeFileSync(path, text);
  const apiKey = more.isKey ? Buffer.from(text).toString("base64") : null;
  const signIn: Record<string, string> = credentials === null || more.isKey ? {} : { credentialsFile: path };
  return fetchGoogleToken({ apiKey, signIn }, AbortSignal.timeout(10_000), more.env ?? {});
}

test.each([true, false])("a service account signs for a token, with its key as apiKey %s", async (isKey) => {
  const { privateKey, publicKey } = await generateKeyPair("RS256", { extractable: true });
  const account = {
    type: "service_account",
    client_email: "bot@project.iam.gserviceaccount.com",
    private_key: await exportPKCS8(privateKey),
    private_key_id: "key-1",
    token_uri: `${server.url}/token`,
  };
  expect((await fetchToken(account, { isKey })).text).toBe("ya29.token");
  const form = new URLSearchParams(server.asked[0]?.body);
  expect(form.get("grant_type")).toBe("urn:ietf:params:oauth:grant-type:jwt-bearer");
  const { payload, protectedHeader } = await jwtVerify(form.get("assertion") ?? "", publicKey, {
    issuer: account.client_email,
    audience: account.token_uri,
  });
  expect(protectedHeader).toMatchObject({ alg: "RS256", kid: "key-1" });
  expect(payload.scope).toBe(SCOPE);
  expect((payload.exp ?? 0) - (payload.iat ?? 0)).toBe(3600);
});

test("federation exchanges the token of another identity, and takes on a service account", async () => {
  const subject = join(folder, "subject.json");
  writeFileSync(subject, JSON.stringify({ id_token: "eyJ.subject" }));
  server.answer = ({ path, headers }) =>
    path === "/sts"
      ? { body: { access_token: "federated", expires_in: 3600 } }
      : { body: { accessToken: `ya29.for-${headers.authorization?.slice(7)}`, expireTime: "2030-01-01T00:00:00Z" } };
  const pool = {
    type: "external_account",
    audience: "//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/x",
    subject_token_type: "urn:ietf:params:oauth:token-type:jwt",
    token_url: `${server.url}/sts`,
    service_account_impersonation_url: `${server.url}/impersonate`,
    credential_source: { file: subject, format: { type: "json", subject_token_field_name: "id_token" } },
  };
  expect(await fetchToken(pool)).toEqual({
    text: "ya29.for-federated",
    expiresAtMs: Date.parse("2030-01-01T00:00:00Z"),
    identity: pool.audience,
  });
  const form = Object.fromEntries(new URLSearchParams(server.asked[0]?.body));
  expect(form).toMatchObject({ subject_token: "eyJ.subject", audience: pool.audience, scope: SCOPE });
  const { service_account_impersonation_url: _, ...plain } = pool;
  server.asked = [];
  const source = { url: `${server.url}/subject`, headers: { "x-own": "1" } };
  server.answer = ({ path }) =>
    path === "/subject" ? { body: "eyJ.from-address\n" } : { body: { access_token: "federated", expires_in: 3600 } };
  expect((await fetchToken({ ...plain, credential_source: source })).text).toBe("federated");
  expect(server.asked[0]?.headers["x-own"]).toBe("1");
  expect(new URLSearchParams(server.asked[1]?.body).get("subject_token")).toBe("eyJ.from-address");
});

test("a machine asks its metadata server", async () => {
  expect((await fetchToken(null, { env: { GCE_METADATA_HOST: new URL(server.url).host } })).text).toBe("ya29.token");
  expect(server.asked[0]).toMatchObject({
    path: "/computeMetadata/v1/instance/service-accounts/default/token",
    headers: { "metadata-flavor": "Google" },
  });
});

test("what cannot be used is named", async () => {
  await expect(fetchToken({ type: "authorized_user" })).rejects.toThrow(
    "credentials of type authorized_user cannot be used",
  );
  const signal = AbortSignal.timeout(10_000);
  const odd = fetchGoogleToken({ apiKey: Buffer.from("no json").toString("base64") }, signal, {});
  await expect(odd).rejects.toThrow("the Google credentials are no JSON");
});

test("an apiKey is a service account of Google's own address, and reads no file", async () => {
  const federation = { type: "external_account", token_url: server.url, credential_source: { file: "/etc/hostname" } };
  await expect(fetchToken(federation, { isKey: true })).rejects.toThrow(/need a file/);
  const account = { type: "service_account", token_uri: "https://evil.example/token" };
  await expect(fetchToken(account, { isKey: true })).rejects.toThrow(/no address of Google/);
  expect(server.asked).toEqual([]);
});
