// A LiteLLM configuration as one of ours. Every setting of the file is either taken over or named with the reason.

import { isMap, isSeq, LineCounter, type Node, parseDocument } from "yaml";
import { readBuiltin } from "../../catalog/builtin.ts";
import { isJsonMap, type Json, type JsonMap } from "../../core/overlay.ts";
import { UsageError } from "../command/usage.ts";
import { commentsOf } from "./comments.ts";
import { readDeployments } from "./deployments.ts";
import { type Imported, setAt, type Unmapped, variable } from "./imported.ts";
import { referenced, textIn } from "./served-address.ts";
import * as TEXT from "./text.ts";

export function fromLitellm(source: string, name: string): Imported {
  const document = parseDocument(source, { lineCounter: new LineCounter() });
  if (document.errors[0] !== undefined) throw new UsageError(TEXT.notYaml(document.errors[0].message));
  const file = document.toJS() as Json;
  if (!isJsonMap(file) || !(Array.isArray(file.model_list) || isJsonMap(file.litellm_settings)))
    throw new UsageError(TEXT.notLitellm);
  const list = Array.isArray(file.model_list) ? (file.model_list as readonly Json[]) : [];
  const deployments = readDeployments(list, credentialsIn(file));
  const config: Record<string, Json> = {};
  const settings = readSettings(file, config);
  if (Object.keys(deployments.providers).length > 0) config.providers = deployments.providers;
  const models = [...deployments.models, ...aliasesOf(file, deployments.models)];
  if (models.length > 0) config.models = models;
  const tiers = tiersOf(file, models);
  if (Object.keys(tiers.chains).length > 0) config.tiers = tiers.chains;
  return {
    config,
    mapped: [...deployments.mapped, ...settings.mapped, ...tiers.mapped],
    unmapped: [...deployments.unmapped, ...settings.unmapped, ...tiers.unmapped],
    notes: [...deployments.notes, ...settings.notes],
    comments: placedComments(source, document.contents, { name, models }),
  };
}

function credentialsIn({ credential_list: list }: JsonMap): ReadonlyMap<string, JsonMap> {
  const entries = Array.isArray(list) ? (list as readonly Json[]).filter(isJsonMap) : [];
  return new Map(
    entries.flatMap(({ credential_name: name, credential_values: values }) =>
      typeof name === "string" && isJsonMap(values) ? [[name, values] as const] : [],
    ),
  );
}

type Write = (config: Record<string, Json>, value: Json) => string | null;

/** An option, with its value made from LiteLLM's. */
const option =
  (path: string, to: (value: Json) => Json = (value) => value): Write =>
  (config, value) => {
    setAt(config, path, to(value));
    return path;
  };

/** Needs no option, because it is so anyway. */
const always =
  (words: string): Write =>
  () =>
    words;

const milliseconds = (value: Json): Json => Math.round(Number(value) * 1000);
const reference = (value: Json): Json => referenced(String(value)) ?? "";

const HOST_ORDERS: Readonly<Record<string, string>> = {
  "cost-based-routing": "cheapest",
  "latency-based-routing": "fastest",
};

/** Settings that are taken over, by their place. A null of a row is a value that nothing of ours has. */
const SETTINGS: Readonly<Record<string, Write>> = {
  "litellm_settings.drop_params": always("fields that a provider refuses are left out by itself"),
  "litellm_settings.request_timeout": option("routing.answerWithinMs", milliseconds),
  "litellm_settings.num_retries": always("another host or model is tried by itself"),
  "litellm_settings.turn_off_message_logging": always("prompts are not stored"),
  "litellm_settings.set_verbose": (config, value) => {
    if (value === true) setAt(config, "logging.level", "debug");
    return "logging.level";
  },
  "litellm_settings.json_logs": always("the log is JSON"),
  "router_settings.num_retries": always("another host or model is tried by itself"),
  "router_settings.enable_pre_call_checks": always("models whose window is too small are left out"),
  "router_settings.timeout": option("routing.answerWithinMs", milliseconds),
  "router_settings.cooldown_time": option("health.openMs", milliseconds),
  "router_settings.allowed_fails": option("health.failuresInRow", (value) => Number(value) + 1),
  "router_settings.routing_strategy": (config, value) => {
    const order = HOST_ORDERS[String(value)];
    if (order !== undefined) setAt(config, "routing.hostOrder", order);
    return order === undefined ? null : `routing.hostOrder ${order}`;
  },
  "router_settings.model_group_alias": always("models of their own"),
  "router_settings.redis_url": option("redis", reference),
  "router_settings.redis_host": always("redis"),
  "router_settings.redis_port": always("redis"),
  "router_settings.redis_password": always("redis"),
  "general_settings.master_key": option("server.adminToken", (value) =>
    String(value).startsWith("os.environ/") ? reference(value) : variable("SWITCHYARD_ADMIN_TOKEN"),
  ),
  "general_settings.store_prompts_in_spend_logs": option("logging.content"),
  "general_settings.maximum_spend_logs_retention_period": (config, value) => {
    const [, days] = /^(\d+)d$/.exec(String(value)) ?? [];
    if (days !== undefined) setAt(config, "logging.retentionDays", Number(days));
    return days === undefined ? null : "logging.retentionDays";
  },
};

const WHY: Readonly<Record<string, string>> = {
  "general_settings.database_url": TEXT.ownDatabase,
  "litellm_settings.cache": "responses are not cached; providers' own prompt caches are used",
  "litellm_settings.cache_params": "responses are not cached; providers' own prompt caches are used",
  "litellm_settings.callbacks": "metrics are at /metrics, traces go by OTLP: OTEL_EXPORTER_OTLP_ENDPOINT",
  "litellm_settings.success_callback": "metrics are at /metrics, traces go by OTLP: OTEL_EXPORTER_OTLP_ENDPOINT",
  "litellm_settings.failure_callback": "metrics are at /metrics, traces go by OTLP: OTEL_EXPORTER_OTLP_ENDPOINT",
  "general_settings.alerting": "events go to webhooks, Slack and mail that you set on the Alerts page",
  "router_settings.routing_strategy": "routing.hostOrder is cheapest, fastest or balanced",
  guardrails: "there are no guardrails",
  mcp_servers: "there is no MCP gateway",
  environment_variables: "set them in the environment of the process",
  include: "one file is read; import the others too",
};

/** Read elsewhere. */
const ELSEWHERE =
  /^(?:model_list|credential_list)$|\.(?:default_|context_window_|content_policy_)?fallbacks$|max_budget$|budget_duration$/;
const SECTIONS = ["litellm_settings", "router_settings", "general_settings"];

function readSettings(file: JsonMap, config: Record<string, Json>) {
  const mapped: string[] = [];
  const unmapped: Unmapped[] = [];
  const settings = Object.entries(file).flatMap(([name, value]) =>
    SECTIONS.includes(name) && isJsonMap(value)
      ? Object.entries(value).map(([key, each]) => [`${name}.${key}`, each] as const)
      : [[name, value] as const],
  );
  for (const [place, value] of settings.filter(([name]) => !ELSEWHERE.test(name))) {
    const became = SETTINGS[place]?.(config, value) ?? null;
    if (became === null) unmapped.push({ what: place, why: WHY[place] ?? TEXT.notKnown });
    else mapped.push(TEXT.option(place, became));
  }
  writeRedis(file, config);
  return { mapped, unmapped: [...unmapped, ...budgetsOf(file)], notes: notesOf(file) };
}

function notesOf({ general_settings: general }: JsonMap): readonly string[] {
  if (!isJsonMap(general) || general.master_key === undefined) return [];
  const isLiteral = !String(general.master_key).startsWith("os.environ/");
  const literal = TEXT.literalKey("general_settings.master_key", "SWITCHYARD_ADMIN_TOKEN");
  return isLiteral ? [TEXT.masterKey, literal] : [TEXT.masterKey];
}

function writeRedis({ router_settings: router }: JsonMap, config: Record<string, Json>): void {
  if (!isJsonMap(router) || router.redis_host === undefined || config.redis !== undefined) return;
  const { redis_host: host, redis_port: port = 6379, redis_password: password } = router;
  const login = password === undefined ? "" : `:${referenced(String(password))}@`;
  config.redis = `redis://${login}${referenced(String(host))}:${referenced(String(port))}`;
}

const PERIODS: readonly (readonly [RegExp, string])[] = [
  [/^(?:1d|24h)$/, "day"],
  [/^7d$/, "week"],
  [/^(?:30d|1mo)$/, "month"],
];

function budgetsOf({ litellm_settings: settings }: JsonMap): readonly Unmapped[] {
  if (!isJsonMap(settings) || settings.max_budget === undefined) return [];
  const duration = String(settings.budget_duration ?? "30d");
  const period = PERIODS.find(([written]) => written.test(duration))?.[1] ?? "month";
  return [{ what: "litellm_settings.max_budget", why: TEXT.budget(String(settings.max_budget), period) }];
}

/** Other names of a group are models with the same hosts. */
function aliasesOf({ router_settings: router }: JsonMap, models: readonly JsonMap[]): readonly JsonMap[] {
  const aliases = isJsonMap(router) && isJsonMap(router.model_group_alias) ? router.model_group_alias : {};
  return Object.entries(aliases).flatMap(([alias, value]) => {
    const group = isJsonMap(value) ? textIn(value, "model") : value;
    const model = models.find(({ id }) => id === group) ?? catalogueModel(group);
    return model === null ? [] : [{ ...model, id: alias }];
  });
}

/** A model of the catalogue under another name is written out, with its first host. */
function catalogueModel(id: Json | undefined): JsonMap | null {
  const row = readBuiltin().models.find((each) => each.id === id);
  if (row?.provider === undefined) return null;
  const { provider, price, context, maxOutput, capabilities, formats } = row;
  const dialect = typeof row.dialect === "string" ? readBuiltin().dialects[row.dialect] : row.dialect;
  const fields = {
    provider,
    upstream: row.upstream ?? row.id,
    price,
    context,
    maxOutput: maxOutput === 0 ? undefined : maxOutput,
    capabilities,
    dialect,
    formats,
  };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as unknown as JsonMap;
}

interface Tiers {
  readonly chains: JsonMap;
  readonly mapped: readonly string[];
  readonly unmapped: readonly Unmapped[];
}

const FALLBACKS = ["fallbacks", "context_window_fallbacks", "content_policy_fallbacks", "default_fallbacks"];

/** Fallbacks of a model that the catalogue knows are the chain of its tier. Models without a price are in no chain. */
function tiersOf(file: JsonMap, models: readonly JsonMap[]): Tiers {
  const chains: Record<string, Json> = {};
  const mapped: string[] = [];
  const unmapped: Unmapped[] = [];
  const priced = (id: string): boolean => {
    const own = models.find((model) => model.id === id);
    if (own === undefined) return readBuiltin().models.some((row) => row.id === id);
    return (
      own.price !== undefined ||
      (Array.isArray(own.hosts) && own.hosts.some((host) => isJsonMap(host) && host.price !== undefined))
    );
  };
  for (const section of ["litellm_settings", "router_settings"])
    for (const kind of FALLBACKS) {
      const settings = file[section];
      const list = isJsonMap(settings) ? settings[kind] : undefined;
      if (!Array.isArray(list)) continue;
      const rows = (list as readonly Json[]).filter(isJsonMap).flatMap((row) => Object.entries(row));
      for (const [id, others] of kind === "fallbacks" ? rows : []) {
        const chain = [id, ...(Array.isArray(others) ? others.map(String) : [])].filter(priced);
        const tier = readBuiltin().models.find((row) => row.id === id)?.tier;
        if (tier === undefined || chains[tier] !== undefined || chain.length < 2) continue;
        chains[tier] = chain;
        mapped.push(TEXT.fallbackChain(tier, chain.join(", ")));
      }
      unmapped.push({ what: `${section}.${kind}`, why: TEXT.fallbackNamed });
    }
  return { chains, mapped, unmapped };
}

interface CommentPlace {
  readonly name: string;
  readonly models: readonly JsonMap[];
}

/** Comments before and within an entry of model_list go to its model. */
function placedComments(source: string, contents: unknown, { name, models }: CommentPlace): Imported["comments"] {
  const pair = isMap<Node, Node>(contents) ? contents.items.find(({ key }) => String(key) === "model_list") : undefined;
  const items = isSeq<Node>(pair?.value) ? pair.value.items : [];
  const start = pair?.key.range?.[0] ?? 0;
  const ids = new Set(models.map(({ id }) => id));
  const head: string[] = [];
  const byModel = new Map<string, string[]>();
  for (const { offset, text } of commentsOf(source)) {
    const isAtEndOf = (end: number): boolean => offset >= end && !source.slice(end, offset).includes("\n");
    const isOf = ({ range }: Node): boolean => range != null && (offset <= range[1] || isAtEndOf(range[1]));
    const item = offset < start ? undefined : items.find(isOf);
    const group = isMap(item) ? item.get("model_name") : undefined;
    if (typeof group === "string" && ids.has(group)) byModel.set(group, [...(byModel.get(group) ?? []), text]);
    else head.push(text);
  }
  return { head: head.length === 0 ? [] : ["", TEXT.commentsOf(name), ...head], models: byModel };
}
