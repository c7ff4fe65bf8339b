// Routing rules in OpenRouter's words: the object `provider` and the list `models` of a request. They become the rules that
// `service_*` fields set, and hold beside those. Like those, they are for the gateway alone.

import type { Controls } from "../../core/decision.ts";
import { type HostOrder, LISTED_NAME, LISTED_NAMES_MAX, type Residency } from "../../core/requests/controls.ts";
import { invalid, isObject, type JsonObject } from "../json/fields.ts";

type ProviderRules = Pick<Controls, "required" | "unknown" | "providersFirst" | "isOneHost"> & {
  readonly hostOrder?: HostOrder;
};

/** Tells whether a field of a request is one of these. Other values of such a name are left alone. */
export function isRoutingRule(name: string, value: unknown): boolean {
  return (name === "provider" && isObject(value)) || (name === "models" && Array.isArray(value));
}

/** The models in the order in which they are to be tried; empty where the request has no such list. */
export function readModels({ models: given }: JsonObject): readonly string[] {
  if (!Array.isArray(given)) return [];
  const isName = (name: unknown): name is string =>
    typeof name === "string" && name !== "" && name.length <= NAME_CHARS_MAX;
  if (given.length <= LISTED_NAMES_MAX && given.every(isName)) return [...new Set(given)];
  throw invalid("models", `'models' must be a list of up to ${LISTED_NAMES_MAX} names of models.`);
}

const NAME_CHARS_MAX = 200;

/** Returns null where the request has no such object. */
export function readProviderRules({ provider: given }: JsonObject): ProviderRules | null {
  if (!isObject(given)) return null;
  const [only, ignored, ordered] = ["only", "ignore", "order"].map((name) => readNames(given, name));
  const isStrict = given.zdr === true || given.data_collection === "deny";
  const required: Residency[] = [];
  if (only) required.push({ providers: only });
  if (ignored) required.push({ excludedProviders: ignored });
  if (isStrict) required.push({ zeroRetention: true });
  // Without fallbacks, only those in the list are ever asked.
  const isClosed = given.allow_fallbacks === false && ordered !== undefined;
  if (isClosed) required.push({ providers: ordered });
  const hostOrder = orderOf(given.sort);
  const unknown = Object.keys(given).filter((name) => !READ.has(name) && NAME.test(name));
  return {
    ...(required.length === 0 ? {} : { required }),
    ...(hostOrder === undefined ? {} : { hostOrder }),
    ...(ordered === undefined ? {} : { providersFirst: ordered }),
    ...(given.allow_fallbacks === false && ordered === undefined ? { isOneHost: true as const } : {}),
    ...(unknown.length === 0 ? {} : { unknown: unknown.slice(0, UNKNOWN_MAX).map((name) => `provider.${name}`) }),
  };
}

/** Models that lack what a request needs are always left out. */
const READ: ReadonlySet<string> = new Set([
  ...["only", "ignore", "order", "zdr", "data_collection", "allow_fallbacks", "sort", "require_parameters"],
]);
const NAME = /^\w{1,40}$/;
const UNKNOWN_MAX = 5;

/** A name may have a variant behind it, such as `deepinfra/fp8`: rules are about the provider. */
function readNames(given: JsonObject, field: string): readonly string[] | undefined {
  const value = given[field] ?? null;
  if (value === null || (Array.isArray(value) && value.length === 0)) return undefined;
  const texts: readonly unknown[] = Array.isArray(value) ? value : [];
  const names = texts.map((each) => (typeof each === "string" ? each.replace(/\/.*$/, "").replaceAll(" ", "-") : ""));
  if (names.length > 0 && names.length <= LISTED_NAMES_MAX && names.every((name) => LISTED_NAME.test(name)))
    return names;
  throw invalid(
    `provider.${field}`,
    `'provider.${field}' must be a list of up to ${LISTED_NAMES_MAX} names of providers.`,
  );
}

const ORDERS: Readonly<Record<string, HostOrder>> = { price: "cheapest", throughput: "fastest", latency: "fastest" };

function orderOf(sort: unknown): HostOrder | undefined {
  const by = isObject(sort) ? sort.by : sort;
  return typeof by === "string" && Object.hasOwn(ORDERS, by) ? ORDERS[by] : undefined;
}
