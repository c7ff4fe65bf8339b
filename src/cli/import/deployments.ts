// LiteLLM's model_list as providers and models. Deployments under one name become the hosts of one model.

import { readBuiltin } from "../../catalog/builtin.ts";
import { command } from "../../config/package.ts";
import type { Json, JsonMap } from "../../core/overlay.ts";
import { isJsonMap } from "../../core/overlay.ts";
import { factsOf, priceIn } from "./facts.ts";
import { type Unmapped, variable } from "./imported.ts";
import { partsOf, type ServedAs, servedAs } from "./litellm-providers.ts";
import { isOwnAddress, keyOf, providerIds, referenced, textIn } from "./served-address.ts";
import * as TEXT from "./text.ts";

export interface Deployments {
  readonly providers: JsonMap;
  readonly models: readonly JsonMap[];
  readonly mapped: readonly string[];
  readonly unmapped: readonly Unmapped[];
  readonly notes: readonly string[];
}

/** One entry of model_list that can be served. */
interface LitellmDeployment {
  readonly group: string;
  readonly served: ServedAs;
  readonly upstream: string;
  /** The entry of the provider but for its keys. */
  readonly provider: Readonly<Record<string, Json>>;
  readonly key: string | null;
  readonly weight: number;
  readonly params: JsonMap;
  readonly info: JsonMap;
  readonly isOwn: boolean;
}

/** Fields of litellm_params that are read here; all others are reported. */
const READ = new Set(
  "model api_key api_base base_url api_version custom_llm_provider weight aws_region_name vertex_project vertex_location extra_headers organization timeout stream_timeout litellm_credential_name input_cost_per_token output_cost_per_token cache_read_input_token_cost cache_creation_input_token_cost".split(
    " ",
  ),
);

const WHY: Readonly<Record<string, string>> = {
  rpm: `limits belong to keys: ${command("keys set KEY --rpm")}`,
  tpm: `limits belong to keys: ${command("keys set KEY --tpm")}`,
  max_parallel_requests: "limits.inFlightPerKey is for every key",
  max_budget: "budgets belong to accounts, teams, keys and models: POST /api/budgets",
  budget_duration: "budgets belong to accounts, teams, keys and models: POST /api/budgets",
  max_retries: "another host or model is tried by itself",
  drop_params: "fields that a provider refuses are left out by itself",
  order: "routing.hostOrder orders hosts",
  tags: "a profile allows or blocks models",
  vertex_credentials: "set signIn.credentialsFile, or GOOGLE_APPLICATION_CREDENTIALS",
};
const AWS = "AWS credentials come from the environment, the machine or signIn";

export function readDeployments(list: readonly Json[], credentials: ReadonlyMap<string, JsonMap>): Deployments {
  const unmapped: Unmapped[] = [];
  const notes: string[] = [];
  const mapped: string[] = [];
  const groups = new Map<string, LitellmDeployment[]>();
  const ids = providerIds();
  for (const [index, item] of list.entries()) {
    const read = deploymentOf(item, credentials, `model_list[${index}]`);
    unmapped.push(...read.unmapped);
    notes.push(...read.notes);
    if (read.deployment === null) continue;
    const { group } = read.deployment;
    groups.set(group, [...(groups.get(group) ?? []), read.deployment]);
  }
  const models: JsonMap[] = [];
  for (const [group, deployments] of groups) {
    const hosts = hostsOf(deployments, ids);
    if (group.includes("*")) {
      const id = [...new Set(hosts.map(({ provider }) => provider))].join(", ");
      mapped.push(TEXT.wholeProvider(group, id));
    } else if (isBuiltin(group, hosts)) mapped.push(TEXT.inCatalogue(group));
    else {
      models.push(modelOf(group, hosts));
      mapped.push(TEXT.group(group, hosts.map(({ provider, upstream }) => `${upstream} at ${provider}`).join(", ")));
      notes.push(...hosts.flatMap((host) => priceNotes(group, host)));
      if (hosts.length > 1) notes.push(TEXT.severalHosts(group));
    }
  }
  return { providers: ids.entries(), models, mapped, unmapped, notes: [...new Set(notes)] };
}

interface ReadDeployment {
  readonly deployment: LitellmDeployment | null;
  readonly unmapped: readonly Unmapped[];
  readonly notes: readonly string[];
}

function deploymentOf(item: Json, credentials: ReadonlyMap<string, JsonMap>, place: string): ReadDeployment {
  const entry = isJsonMap(item) ? item : {};
  const written = isJsonMap(entry.litellm_params) ? entry.litellm_params : {};
  const params = { ...credentials.get(String(written.litellm_credential_name)), ...written };
  const info = isJsonMap(entry.model_info) ? entry.model_info : {};
  const group = textIn(entry, "model_name");
  const model = textIn(params, "model");
  const refused = (why: string): ReadDeployment => ({
    deployment: null,
    unmapped: [{ what: group === null ? place : `${place} ${group}`, why }],
    notes: [],
  });
  if (group === null || model === null) return refused(TEXT.noName);
  if (model === "*") return refused(TEXT.everyModel);
  const named = partsOf(model);
  const prefix = textIn(params, "custom_llm_provider") ?? named.prefix;
  const served = servedAs(prefix);
  if (served === null) return refused(TEXT.noProvider(prefix));
  const upstream = named.upstream.replace(/^(?:converse|invoke|responses|chat)\//, "");
  const address = addressOf(served, upstream, params);
  if (typeof address === "string") return refused(address);
  const { key, note } = keyOf(params, served, `${place} api_key`);
  const isOwn = served.isOwn || (address.isMoved && isOwnAddress(String(address.provider.baseUrl)));
  const deployment: LitellmDeployment = {
    ...{ group, served, upstream, provider: address.provider, key, params, info, isOwn },
    weight: typeof params.weight === "number" ? params.weight : 1,
  };
  return { deployment, unmapped: unread(params, place), notes: note === null ? [] : [note] };
}

function unread(params: JsonMap, place: string): readonly Unmapped[] {
  const names = Object.keys(params).filter((name) => !READ.has(name));
  return names.map((name) => ({
    what: `${place} ${name}`,
    why: WHY[name] ?? (name.startsWith("aws_") ? AWS : TEXT.notKnown),
  }));
}

interface Address {
  readonly provider: Readonly<Record<string, Json>>;
  /** Says that the address is not the usual one. */
  readonly isMoved: boolean;
}

/** A sentence where there is none. */
function addressOf(served: ServedAs, upstream: string, params: JsonMap): Address | string {
  const written = referenced(textIn(params, "api_base") ?? textIn(params, "base_url"))?.replace(/\/+$/, "") ?? null;
  const isMoved = written !== null && written !== served.baseUrl && `${written}/v1` !== served.baseUrl;
  const baseUrl = isMoved ? written : served.baseUrl;
  const further = { ...headersOf(params), ...timeoutsOf(params) };
  if (served.kind === "bedrock") {
    const region = referenced(textIn(params, "aws_region_name")) ?? variable("AWS_REGION");
    return { provider: { kind: bedrockKind(upstream), region, ...further }, isMoved: false };
  }
  if (served.kind === "vertex") {
    const [region, project] = [textIn(params, "vertex_location"), textIn(params, "vertex_project")].map(referenced);
    if (region === null || region === undefined || project === null || project === undefined) return TEXT.noRegion;
    const kind = upstream.startsWith("claude") ? "vertex-anthropic" : "vertex";
    return { provider: { kind, region, signIn: { project }, ...further }, isMoved: false };
  }
  if (baseUrl === null) return TEXT.noAddress;
  if (served.isBuiltin && !isMoved) return { provider: further, isMoved };
  const version = served.kind === "azure" ? referenced(textIn(params, "api_version")) : null;
  const azure = version === null || version === "v1" ? {} : { apiVersion: version };
  const address = served.kind === "azure" ? baseUrl.replace(/\/openai(?:\/v1)?$/, "") : baseUrl;
  return { provider: { kind: served.kind, baseUrl: address, ...azure, ...further }, isMoved };
}

/** Profiles and versions such as `us.` and `-v1:0` are names of Converse alone. */
function bedrockKind(upstream: string): string {
  if (/^openai\./.test(upstream)) return "bedrock";
  return /^anthropic\.[a-z0-9-]+$/.test(upstream) ? "bedrock-anthropic" : "bedrock-converse";
}

function headersOf({ extra_headers: extra, organization }: JsonMap): JsonMap {
  const own = isJsonMap(extra)
    ? Object.entries(extra).map(([name, text]) => [name, referenced(String(text)) ?? ""])
    : [];
  const headers = Object.fromEntries([
    ...own,
    ...(typeof organization === "string" ? [["OpenAI-Organization", referenced(organization) ?? ""]] : []),
  ]);
  return Object.keys(headers).length === 0 ? {} : { headers };
}

function timeoutsOf({ timeout, stream_timeout: first }: JsonMap): JsonMap {
  const timeouts = {
    ...(typeof first === "number" ? { firstByteMs: first * 1000 } : {}),
    ...(typeof timeout === "number" ? { totalMs: timeout * 1000 } : {}),
  };
  return Object.keys(timeouts).length === 0 ? {} : { timeouts };
}

interface Host {
  /** The id of the provider. */
  readonly provider: string;
  readonly upstream: string;
  readonly fields: JsonMap;
  readonly deployment: LitellmDeployment;
}

/** Keys of one address that serve the same model are one host with several keys. */
function hostsOf(deployments: readonly LitellmDeployment[], ids: ReturnType<typeof providerIds>): readonly Host[] {
  const alike = new Map<string, LitellmDeployment[]>();
  for (const each of deployments) {
    const place = JSON.stringify([each.served.id, each.provider, each.upstream]);
    alike.set(place, [...(alike.get(place) ?? []), each]);
  }
  return [...alike.values()].flatMap((same) => {
    const [deployment] = same;
    if (deployment === undefined) return [];
    const { served, upstream, provider } = deployment;
    const keys = same.flatMap(({ key, weight }) => (key === null ? [] : [{ key, weight }]));
    const facts = factsOf(deployment);
    const id = ids.idOf({ served, provider: { ...provider, ...facts.provider }, keys });
    return [{ provider: id, upstream, fields: facts.host, deployment }];
  });
}

function modelOf(id: string, hosts: readonly Host[]): JsonMap {
  const rows = hosts.map(({ provider, upstream, fields }) => ({
    provider,
    ...(upstream === id ? {} : { upstream }),
    ...fields,
  }));
  const [first] = rows;
  if (rows.length === 1) return { id, ...first };
  const { capabilities, context, maxOutput } = (first ?? {}) as JsonMap;
  const shared = Object.entries({ capabilities, context, maxOutput }).filter(([, value]) => value !== undefined);
  return { id, ...(Object.fromEntries(shared) as JsonMap), hosts: rows as unknown as Json };
}

/** True where the catalogue says the same already. */
function isBuiltin(id: string, hosts: readonly Host[]): boolean {
  const row = readBuiltin().models.find((each) => each.id === id);
  if (row === undefined) return false;
  const known = [{ provider: row.provider, upstream: row.upstream }, ...(row.hosts ?? [])];
  return hosts.every(
    ({ provider, upstream, deployment: { params, info } }) =>
      priceIn(params, info) === null &&
      known.some((host) => host.provider === provider && (host.upstream ?? id) === upstream),
  );
}

function priceNotes(id: string, { fields, deployment }: Host): readonly string[] {
  if (fields.price === undefined) return [TEXT.noPrice(id)];
  const isGiven = priceIn(deployment.params, deployment.info) !== null;
  return deployment.isOwn && !isGiven ? [TEXT.ownPrice(id)] : [];
}
