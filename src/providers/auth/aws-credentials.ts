// Credentials of AWS, from where AWS's own tools look for them: variables, the shared files, web identity, and the
// metadata of a container or an instance. Nothing else in the gateway calls a metadata address.

import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { type IniSection, readIni } from "./ini.ts";
import type { AwsCredentials } from "./sigv4.ts";
import { FORM, fetchJson, type JsonAnswer } from "./token-fetch.ts";

/** Credentials, and when they end; those without an end are kept for ever. */
export interface EndingCredentials extends AwsCredentials {
  readonly expiresAtMs: number;
  /** The role that they are of, where their source names it. */
  readonly identity?: string;
  /** Says that the source will have no later ones. */
  readonly isFixed?: boolean;
}

export interface AwsSource {
  readonly region: string;
  /** A profile of the shared files; left out, the usual chain. */
  readonly profile?: string | undefined;
  /** A role that is taken on with what was found. */
  readonly roleArn?: string | undefined;
  readonly externalId?: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
  /** Signs a call to the token service. */
  sign(url: string, body: string, credentials: AwsCredentials): Readonly<Record<string, string>>;
}

const NO_END = Number.POSITIVE_INFINITY;
const SESSION_NAME = "switchyard";
/** Profiles may name one another. */
const PROFILES_MAX = 5;

export async function findCredentials(source: AwsSource): Promise<EndingCredentials> {
  const found = await baseCredentials(source);
  if (source.roleArn === undefined) return found;
  return assumeRole({ roleArn: source.roleArn, externalId: source.externalId, by: found }, source);
}

async function baseCredentials(source: AwsSource): Promise<EndingCredentials> {
  const { env, profile } = source;
  if (profile !== undefined) {
    const found = await fromProfile(profile, source);
    if (found === null) throw new Error(`the shared AWS files have no profile ${profile}`);
    return found;
  }
  const found =
    fromVariables(env) ??
    (await fromWebIdentityVariables(source)) ??
    (await fromProfile(env.AWS_PROFILE ?? "default", source)) ??
    (await fromContainer(source)) ??
    (await fromInstance(source));
  if (found !== null) return found;
  throw new Error("no AWS credentials were found in variables, shared files, container or instance");
}

function fromVariables(env: AwsSource["env"]): EndingCredentials | null {
  const { AWS_ACCESS_KEY_ID: id, AWS_SECRET_ACCESS_KEY: secret, AWS_SESSION_TOKEN: token } = env;
  // Written by `aws configure export-credentials` beside the others.
  const endsAtMs = Date.parse(env.AWS_CREDENTIAL_EXPIRATION ?? "");
  if (!id || !secret) return null;
  return Number.isNaN(endsAtMs) ? made(id, secret, token) : { ...made(id, secret, token, endsAtMs), isFixed: true };
}

function made(accessKeyId: string, secretAccessKey: string, token?: string, expiresAtMs = NO_END): EndingCredentials {
  return { accessKeyId, secretAccessKey, ...(token ? { sessionToken: token } : {}), expiresAtMs };
}

function fromWebIdentityVariables(source: AwsSource): Promise<EndingCredentials> | null {
  const { AWS_WEB_IDENTITY_TOKEN_FILE: file, AWS_ROLE_ARN: roleArn } = source.env;
  return file && roleArn ? assumeByToken({ file, roleArn }, source) : null;
}

async function fromProfile(name: string, source: AwsSource, depth = 0): Promise<EndingCredentials | null> {
  if (depth > PROFILES_MAX) throw new Error("the profiles of the shared AWS files name one another in a circle");
  const own = await readProfile(name, source.env);
  if (own === null) return null;
  const { role_arn: roleArn, web_identity_token_file: file, source_profile: other, external_id: externalId } = own;
  const { aws_access_key_id: id, aws_secret_access_key: secret, aws_session_token: token } = own;
  if (roleArn !== undefined) {
    if (file !== undefined) return assumeByToken({ file, roleArn }, source);
    const by =
      other === undefined ? await byName(own.credential_source, source) : await fromProfile(other, source, depth + 1);
    if (by === null) throw new Error(`profile ${name} has no credentials to take on its role with`);
    return assumeRole({ roleArn, externalId, by }, source);
  }
  return id && secret ? made(id, secret, token) : null;
}

async function byName(name: string | undefined, source: AwsSource): Promise<EndingCredentials | null> {
  if (name === "Environment") return fromVariables(source.env);
  if (name === "EcsContainer") return fromContainer(source);
  return name === "Ec2InstanceMetadata" ? fromInstance(source) : null;
}

/** Both files may speak of a profile; that of the credentials wins. */
async function readProfile(name: string, env: AwsSource["env"]): Promise<IniSection | null> {
  const folder = join(env.HOME ?? homedir(), ".aws");
  const config = await readSections(env.AWS_CONFIG_FILE ?? join(folder, "config"));
  const credentials = await readSections(env.AWS_SHARED_CREDENTIALS_FILE ?? join(folder, "credentials"));
  const inConfig = config.get(name === "default" ? name : `profile ${name}`);
  const inCredentials = credentials.get(name);
  return inConfig === undefined && inCredentials === undefined ? null : { ...inConfig, ...inCredentials };
}

async function readSections(path: string): Promise<ReadonlyMap<string, IniSection>> {
  try {
    return readIni(await readFile(path, "utf8"));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return new Map();
    throw error;
  }
}

interface AssumedRole {
  readonly roleArn: string;
  readonly externalId?: string | undefined;
  readonly by: AwsCredentials;
}

function assumeRole({ roleArn, externalId, by }: AssumedRole, source: AwsSource): Promise<EndingCredentials> {
  const asked = {
    Action: "AssumeRole",
    RoleArn: roleArn,
    ...(externalId === undefined ? {} : { ExternalId: externalId }),
  };
  return callSts(asked, by, source);
}

async function assumeByToken(
  { file, roleArn }: { readonly file: string; readonly roleArn: string },
  source: AwsSource,
): Promise<EndingCredentials> {
  const token = (await readFile(file, "utf8")).trim();
  const asked = { Action: "AssumeRoleWithWebIdentity", RoleArn: roleArn, WebIdentityToken: token };
  return callSts(asked, null, source);
}

async function callSts(
  asked: Readonly<Record<string, string>>,
  by: AwsCredentials | null,
  source: AwsSource,
): Promise<EndingCredentials> {
  const session = source.env.AWS_ROLE_SESSION_NAME ?? SESSION_NAME;
  const result = await askSts({ RoleSessionName: session, ...asked }, by, source);
  const found = readCredentials((result.Credentials ?? {}) as JsonAnswer);
  const { Arn: identity } = (result.AssumedRoleUser ?? {}) as JsonAnswer;
  return typeof identity === "string" ? { ...found, identity } : found;
}

type StsSource = Pick<AwsSource, "region" | "env" | "signal" | "sign">;

/** The identity that AWS sees behind these credentials, with its account. */
export async function askIdentity(source: StsSource, by: AwsCredentials): Promise<string> {
  const { Arn: identity } = await askSts({ Action: "GetCallerIdentity" }, by, source);
  if (typeof identity !== "string") throw new Error("the answer names no identity");
  return identity;
}

async function askSts(
  asked: Readonly<Record<string, string>>,
  by: AwsCredentials | null,
  source: StsSource,
): Promise<JsonAnswer> {
  const { env, region, signal } = source;
  const url = new URL("/", env.AWS_ENDPOINT_URL_STS ?? `https://sts.${region}.amazonaws.com`).href;
  const body = new URLSearchParams({ Version: "2011-06-15", ...asked }).toString();
  const headers = by === null ? FORM : source.sign(url, body, by);
  const answer = await fetchJson(url, { method: "POST", headers, body, signal });
  const response = answer[`${asked.Action}Response`] as JsonAnswer | undefined;
  return (response?.[`${asked.Action}Result`] ?? {}) as JsonAnswer;
}

const CONTAINER_HOST = "http://169.254.170.2";
/** The hosts that may be asked without TLS: this machine, and those of ECS and EKS. */
const CONTAINER_HOSTS: ReadonlySet<string> = new Set([
  "127.0.0.1",
  "localhost",
  "[::1]",
  "169.254.170.2",
  "169.254.170.23",
  "[fd00:ec2::23]",
]);

async function fromContainer({ env, signal }: AwsSource): Promise<EndingCredentials | null> {
  const { AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: path, AWS_CONTAINER_CREDENTIALS_FULL_URI: full } = env;
  if (!path && !full) return null;
  const url = new URL(path ? `${CONTAINER_HOST}${path}` : (full as string));
  if (url.protocol !== "https:" && !CONTAINER_HOSTS.has(url.hostname)) {
    throw new Error(`${url.hostname} is no address of container credentials`);
  }
  const file = env.AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE;
  const token = file ? (await readFile(file, "utf8")).trim() : env.AWS_CONTAINER_AUTHORIZATION_TOKEN;
  const headers: Record<string, string> = token ? { authorization: token } : {};
  return readCredentials(await fetchJson(url.href, { headers, signal }));
}

const INSTANCE = "http://169.254.169.254";
const SESSION_SECONDS = "21600";

/** By version 2 of the metadata service alone, which asks for a session first. */
async function fromInstance({ env, signal }: AwsSource): Promise<EndingCredentials | null> {
  if (env.AWS_EC2_METADATA_DISABLED === "true") return null;
  const base = env.AWS_EC2_METADATA_SERVICE_ENDPOINT ?? INSTANCE;
  const asked = { method: "PUT", headers: { "x-aws-ec2-metadata-token-ttl-seconds": SESSION_SECONDS }, signal };
  const session = await fetchText(new URL("/latest/api/token", base), asked);
  const headers = { "x-aws-ec2-metadata-token": session };
  const place = "/latest/meta-data/iam/security-credentials/";
  const role = (await fetchText(new URL(place, base), { headers, signal })).trim().split("\n")[0] ?? "";
  return readCredentials(
    await fetchJson(new URL(`${place}${encodeURIComponent(role)}`, base).href, { headers, signal }),
  );
}

async function fetchText(url: URL, init: RequestInit): Promise<string> {
  const { text } = await fetchJson(url.href, { ...init, isText: true });
  return String(text);
}

/** The services agree but for a name and the form of a time. */
function readCredentials(found: JsonAnswer): EndingCredentials {
  const { AccessKeyId: id, SecretAccessKey: secret, SessionToken, Token, Expiration: end } = found;
  if (typeof id !== "string" || typeof secret !== "string") throw new Error("the answer holds no AWS credentials");
  const expiresAtMs = typeof end === "number" ? end * 1_000 : Date.parse(String(end));
  return made(
    id,
    secret,
    (SessionToken ?? Token) as string | undefined,
    Number.isNaN(expiresAtMs) ? NO_END : expiresAtMs,
  );
}
