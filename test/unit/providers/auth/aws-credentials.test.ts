// Where credentials of AWS come from: variables, shared files, roles, web identity, containers and instances, each
// against a server that checks what it is asked.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { askIdentity, findCredentials } from "../../../../src/providers/auth/aws-credentials.ts";
import { FORM } from "../../../../src/providers/auth/token-fetch.ts";
import { type AskedServer, startAskedServer } from "../../../support/providers/clouds/asked.ts";

let server: AskedServer;
let folder = "";

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "switchyard-aws-"));
  server = await startAskedServer();
});
afterAll(() => {
  server.close();
  rmSync(folder, { recursive: true, force: true });
});
beforeEach(() => {
  server.asked = [];
  server.answer = () => ({ status: 500, body: {} });
});

const END = "2030-01-01T00:00:00Z";
const FOUND = {
  AccessKeyId: "ASIAFOUND",
  SecretAccessKey: "found-secret",
  SessionToken: "found-token",
  Expiration: END,
};
const EXPECTED = {
  accessKeyId: "ASIAFOUND",
  secretAccessKey: "found-secret",
  sessionToken: "found-token",
  expiresAtMs: Date.parse(END),
};

function find(env: Record<string, string>, more: object = {}) {
  return findCredentials({
    region: "eu-central-1",
    env: { HOME: folder, AWS_EC2_METADATA_DISABLED: "true", AWS_ENDPOINT_URL_STS: server.url, ...env },
    signal: AbortSignal.timeout(10_000),
    sign: (_url, _body, { accessKeyId }) => ({ ...FORM, authorization: `signed by ${accessKeyId}` }),
    ...more,
  });
}

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

const OWN = { AWS_ACCESS_KEY_ID: "AKIAOWN", AWS_SECRET_ACCESS_KEY: "own" };

test("variables come first, with the token of a session", async () => {
  const found = await find({ ...OWN, AWS_SESSION_TOKEN: "t" });
  expect(found).toEqual({
    accessKeyId: "AKIAOWN",
    secretAccessKey: "own",
    sessionToken: "t",
    expiresAtMs: Number.POSITIVE_INFINITY,
  });
  expect(server.asked).toEqual([]);
  const ending = await find({ ...OWN, AWS_CREDENTIAL_EXPIRATION: "2026-11-20T06:00:00+00:00" });
  expect(ending).toMatchObject({ expiresAtMs: Date.UTC(2026, 10, 20, 6), isFixed: true });
});

test("a profile of the shared files, also one that takes on a role with another's credentials", async () => {
  const env = {
    AWS_SHARED_CREDENTIALS_FILE: file(
      "credentials",
      "# keys\n[default]\naws_access_key_id = AKIADEFAULT\naws_secret_access_key=default # mine\n\n[base]\naws_access_key_id=AKIABASE\naws_secret_access_key=base\n",
    ),
    AWS_CONFIG_FILE: file(
      "config",
      "[profile team]\nrole_arn = arn:aws:iam::1:role/team\nsource_profile = base\nexternal_id = x-1\n[profile round]\nrole_arn = a\nsource_profile = round\n",
    ),
  };
  expect(await find(env)).toMatchObject({ accessKeyId: "AKIADEFAULT", secretAccessKey: "default" });
  server.answer = () => ({ body: { AssumeRoleResponse: { AssumeRoleResult: { Credentials: FOUND } } } });
  expect(await find(env, { profile: "team" })).toEqual(EXPECTED);
  expect(server.asked[0]?.headers.authorization).toBe("signed by AKIABASE");
  const form = Object.fromEntries(new URLSearchParams(server.asked[0]?.body));
  expect(form).toMatchObject({ Action: "AssumeRole", RoleArn: "arn:aws:iam::1:role/team", ExternalId: "x-1" });
  await expect(find(env, { profile: "nobody" })).rejects.toThrow("the shared AWS files have no profile nobody");
  await expect(find(env, { profile: "round" })).rejects.toThrow("in a circle");
});

test("a role is taken on with whatever was found, and its end may be a number of seconds", async () => {
  const ending = { ...FOUND, Expiration: Date.parse(END) / 1_000 };
  server.answer = () => ({ body: { AssumeRoleResponse: { AssumeRoleResult: { Credentials: ending } } } });
  expect(await find(OWN, { roleArn: "arn:aws:iam::1:role/r" })).toEqual(EXPECTED);
  expect(server.asked[0]?.headers.authorization).toBe("signed by AKIAOWN");
});

test("web identity sends the token of the file, unsigned", async () => {
  server.answer = () => ({
    body: { AssumeRoleWithWebIdentityResponse: { AssumeRoleWithWebIdentityResult: { Credentials: FOUND } } },
  });
  const env = { AWS_WEB_IDENTITY_TOKEN_FILE: file("token", "eyJ.web.token\n"), AWS_ROLE_ARN: "arn:role" };
  expect(await find(env)).toEqual(EXPECTED);
  expect(new URLSearchParams(server.asked[0]?.body).get("WebIdentityToken")).toBe("eyJ.web.token");
  expect(server.asked[0]?.headers.authorization).toBeUndefined();
});

test("a container's address is asked with its token, and no other address is", async () => {
  server.answer = ({ headers }) =>
    headers.authorization === "container-token"
      ? { body: { ...FOUND, Token: "found-token" } }
      : { status: 401, body: {} };
  const env = {
    AWS_CONTAINER_CREDENTIALS_FULL_URI: `${server.url}/v1/credentials`,
    AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: file("container", "container-token"),
  };
  expect(await find(env)).toEqual(EXPECTED);
  const elsewhere = { AWS_CONTAINER_CREDENTIALS_FULL_URI: "http://10.0.0.9/credentials" };
  await expect(find(elsewhere)).rejects.toThrow("10.0.0.9 is no address of container credentials");
});

test("an instance is asked for a session first", async () => {
  server.answer = ({ method, path = "", headers }) => {
    if (method === "PUT" && path === "/latest/api/token") return { body: "imds-session" };
    if (headers["x-aws-ec2-metadata-token"] !== "imds-session") return { status: 401, body: {} };
    return { body: path.endsWith("/security-credentials/") ? "my-role\n" : path.endsWith("/my-role") ? FOUND : {} };
  };
  const env = { AWS_EC2_METADATA_DISABLED: "false", AWS_EC2_METADATA_SERVICE_ENDPOINT: server.url };
  expect(await find(env)).toEqual(EXPECTED);
  expect(server.asked.map(({ method }) => method)).toEqual(["PUT", "GET", "GET"]);
});

test("an error has the cloud's own code and no secret, and nothing found says where was looked", async () => {
  server.answer = () => ({
    status: 403,
    body: "<Error><Code>AccessDenied</Code><Message>own-secret</Message></Error>",
  });
  const failed = find({ ...OWN, AWS_SECRET_ACCESS_KEY: "own-secret" }, { roleArn: "r" });
  await expect(failed).rejects.toThrow(/^127\.0\.0\.1:\d+ answered 403 \(AccessDenied\)$/);
  await expect(find({})).rejects.toThrow("no AWS credentials were found");
  server.answer = () => ({ body: { AssumeRoleResponse: {} } });
  await expect(find(OWN, { roleArn: "r" })).rejects.toThrow("the answer holds no AWS credentials");
});

test("the identity behind credentials is asked for with a signature", async () => {
  const identity = "arn:aws:iam::123456789012:user/gateway";
  server.answer = () => ({ body: { GetCallerIdentityResponse: { GetCallerIdentityResult: { Arn: identity } } } });
  const source = {
    ...{ region: "eu-central-1", env: { AWS_ENDPOINT_URL_STS: server.url }, signal: AbortSignal.timeout(10_000) },
    sign: (_url: string, _body: string, { accessKeyId }: { readonly accessKeyId: string }) => ({
      ...{ ...FORM, authorization: `signed by ${accessKeyId}` },
    }),
  };
  expect(await askIdentity(source, { accessKeyId: "AKIAOWN", secretAccessKey: "own" })).toBe(identity);
  expect(server.asked[0]).toMatchObject({
    headers: { authorization: "signed by AKIAOWN" },
    body: "Version=2011-06-15&Action=GetCallerIdentity",
  });
});
