// The one table of routing controls: what a request asks of the router with a `service_*` field, and what a profile asks
// of it for all requests of its keys. Reading, checks, OpenAPI, command line, dashboard and reference pages come from it.

import { CAPABILITIES, type Capability } from "../model.ts";
import { ASKED_SERVICE_TIERS } from "../money.ts";
import { ESCALATIONS } from "../session.ts";
import { TIERS } from "../tiers.ts";
import type { CascadeControl } from "./cascade.ts";

export const ROUTING_PROFILES = ["auto", "tier", "direct"] as const;

export type Quality = 0 | 1 | 2;

export const HOST_ORDERS = ["cheapest", "fastest", "balanced"] as const;
/** In which order the hosts of a model are tried. */
export type HostOrder = (typeof HOST_ORDERS)[number];

/** A row has a `field` where a request may set the control, and a `rule` where a profile may. */
type Control =
  | (ControlRow & { readonly field: string; readonly takes: AskedTakes })
  | (ControlRow & { readonly rule: string; readonly takes: Takes });

interface ControlRow {
  /** The field of a request. */
  readonly field?: string;
  /** The name in /api/profiles. */
  readonly rule?: string;
  /** The flag of `switchyard route` and `switchyard profiles set`. */
  readonly flag?: string;
  /** The only `service_profile` that the field counts with, and that cannot do without the field. */
  readonly onlyWith?: (typeof ROUTING_PROFILES)[number];
  /** The value is the client's own text, which the request log does not keep. */
  readonly isPrivate?: true;
  /** Hosts that do not meet it are never used, at any endpoint. */
  readonly isRequirement?: true;
  /** Name of the control in the forms of the dashboard, which leave out controls without one. */
  readonly label?: string;
  /** A rule in a few words, with `{}` for its value; the label and the value where this is left out. */
  readonly chip?: string;
  /** Value that counts where nobody sets the control; without a default, nothing is asked for. */
  readonly default?: string;
  /** Explains the control in one sentence. */
  readonly help: string;
}

/** Values that a control takes. `unset` is the value of a control that nobody set. */
export type Takes = AskedTakes | ListTaken<unknown>;
type AskedTakes =
  | (ChoiceTaken<unknown> | QualityTaken | AmountTaken | NumberTaken | TextTaken)
  | (CascadeTaken | SwitchTaken | NamesTaken);

interface ChoiceTaken<Value> {
  readonly kind: "choice";
  readonly words: readonly string[];
  readonly unset: Value;
}

interface QualityTaken {
  readonly kind: "quality";
  readonly unset: Quality | null;
}

/** USD. A profile states it as decimal text, which keeps its digits. */
interface AmountTaken {
  readonly kind: "amount";
  readonly max: number;
  readonly unset: number | null;
}

export interface NumberTaken {
  readonly kind: "number";
  readonly min: number;
  readonly max: number;
  /** The bound in a profile and on the command line, where that is lower. */
  readonly profileMax?: number;
  readonly isWhole: boolean;
  readonly unset: number | null;
}

interface TextTaken {
  readonly kind: "text";
  readonly charsMax: number;
  readonly unset: string | null;
}

interface SwitchTaken {
  readonly kind: "switch";
  readonly unset: boolean | null;
}

/** On, off, or in a request an object of checks. */
interface CascadeTaken {
  readonly kind: "cascade";
  readonly unset: CascadeControl | null;
}

/** Takes names of things outside the catalogue, in any case. */
interface NamesTaken {
  readonly kind: "names";
  readonly what: "regions" | "providers";
  readonly unset: readonly string[] | null;
}

/** The form of a region or of a provider's name. */
export const LISTED_NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;
export const LISTED_NAMES_MAX = 50;

/** Takes some of `words`, or ids of models where that is null. */
interface ListTaken<Value> {
  readonly kind: "list";
  readonly words: readonly string[] | null;
  readonly unset: Value;
}

function choice<Word extends string, Unset extends Word | null>(
  words: readonly Word[],
  unset: Unset,
): ChoiceTaken<Word | Unset> {
  return { kind: "choice", words, unset };
}

const number = (bounds: Omit<NumberTaken, "kind" | "unset">): NumberTaken => ({
  kind: "number",
  ...bounds,
  unset: null,
});
const tier = choice(TIERS, null);
const quality: QualityTaken = { kind: "quality", unset: null };
/** No request costs more; a larger number is a mistake. */
const amount: AmountTaken = { kind: "amount", max: 1e9, unset: null };
/** A name of a session is short; a prompt is not one. */
const sessionName: TextTaken = { kind: "text", charsMax: 256, unset: null };
const off: SwitchTaken & { readonly unset: boolean } = { kind: "switch", unset: false };
const names = (what: NamesTaken["what"]): NamesTaken => ({ kind: "names", what, unset: null });
const cascade: CascadeTaken = { kind: "cascade", unset: null };

const capabilities: ListTaken<readonly Capability[]> = { kind: "list", words: CAPABILITIES, unset: [] };
const anyModels: ListTaken<readonly string[] | null> = { kind: "list", words: null, unset: null };
const noModels: ListTaken<readonly string[]> = { kind: "list", words: null, unset: [] };

/** In the order of the reference page. Names of rows stand in stored profiles and decisions, so they stay as they are. */
const CONTROLS = {
  profile: {
    field: "service_profile",
    takes: choice(ROUTING_PROFILES, "auto"),
    default: "`auto`",
    help: "Who chooses: `auto` the router, `tier` the field `service_tier`, `direct` the field `model`.",
  },
  forcedTier: {
    field: "service_tier",
    flag: "tier",
    takes: tier,
    onlyWith: "tier",
    help: "Exactly this tier, with `service_profile: tier`.",
  },
  tierFloor: {
    field: "service_tier_floor",
    rule: "tierFloor",
    flag: "floor",
    takes: tier,
    label: "Lowest tier",
    chip: "{} or higher",
    help: "No model below this tier.",
  },
  tierCeiling: {
    field: "service_tier_ceiling",
    rule: "tierCeiling",
    flag: "ceiling",
    takes: tier,
    label: "Highest tier",
    chip: "Up to {}",
    help: "No model above this tier; beats a floor.",
  },
  capabilities: {
    rule: "capabilities",
    flag: "needs",
    takes: capabilities,
    label: "Required capabilities",
    chip: "Needs {}",
    help: "What every model must be able to do.",
  },
  maxCostUsd: {
    field: "service_max_cost",
    rule: "maxCostUsd",
    flag: "max-cost",
    takes: amount,
    label: "Max cost, USD",
    chip: "Max {}",
    help: "USD that the request may cost, by `costEstimate`, which counts no cache.",
  },
  toolScoreMin: {
    field: "service_bfcl_min",
    rule: "bfclMin",
    flag: "bfcl-min",
    // Above 100 no model qualifies, and the filter is set aside like any other that leaves none.
    takes: number({ min: 0, max: 1_000_000, profileMax: 100, isWhole: false }),
    label: "Min BFCL score",
    chip: "BFCL ≥ {}",
    help: "Function-calling score that a model needs; counts only if the request has tools.",
  },
  maxLatencyMs: {
    field: "service_max_latency_ms",
    rule: "maxLatencyMs",
    flag: "max-latency-ms",
    takes: number({ min: 1, max: Number.MAX_SAFE_INTEGER, isWhole: true }),
    label: "Max time to first token, ms",
    chip: "First token ≤ {} ms",
    help: "Leaves out hosts whose first token was observed to take longer, in milliseconds, if others remain.",
  },
  codeQuality: {
    field: "service_code_quality",
    rule: "codeQuality",
    flag: "code-quality",
    takes: quality,
    label: "Code",
    help: "Floor for coding: 0 is fast, 1 balanced (STANDARD), 2 best (COMPLEX).",
  },
  chatQuality: {
    field: "service_chat_quality",
    rule: "chatQuality",
    flag: "chat-quality",
    takes: quality,
    label: "Chat",
    help: "Floor for everything else: 0 is fast, 1 balanced (LIGHT), 2 best (STANDARD).",
  },
  allowedModels: {
    rule: "allowedModels",
    flag: "allow",
    takes: anyModels,
    label: "Allowed models",
    chip: "{} allowed",
    help: "Only these models.",
  },
  blockedModels: {
    rule: "blockedModels",
    flag: "block",
    takes: noModels,
    label: "Blocked models",
    chip: "{} blocked",
    help: "None of these models.",
  },
  honoursModel: {
    rule: "honourModel",
    flag: "honour-model",
    takes: off,
    label: "Use the model that a client names",
    chip: "Named models used",
    help: "A model that the client names is used as with `direct`. `auto` is routed, and listed first by /v1/models.",
  },
  hostOrder: {
    field: "service_host_order",
    rule: "hostOrder",
    flag: "host-order",
    takes: choice(HOST_ORDERS, null),
    label: "Host order",
    chip: "Hosts: {}",
    default: "the profile's, else `routing.hostOrder`",
    help: "In which order the hosts of a model are tried.",
  },
  serviceTier: {
    rule: "serviceTier",
    flag: "service-tier",
    takes: choice(ASKED_SERVICE_TIERS, null),
    label: "Service tier of providers",
    chip: "Service tier: {}",
    default: "`routing.serviceTier`",
    help: "The tier that hosts with a price for it are asked for, where the request names none.",
  },
  regions: {
    field: "service_regions",
    rule: "regions",
    isRequirement: true,
    flag: "regions",
    takes: names("regions"),
    label: "Regions",
    chip: "Only in {}",
    help: "Only hosts that answer in these places alone: `eu`, a country such as `de`, or a cloud region.",
  },
  zeroRetention: {
    field: "service_zero_retention",
    rule: "zeroRetention",
    isRequirement: true,
    flag: "zero-retention",
    takes: off,
    label: "Zero retention",
    chip: "Zero retention",
    help: "Only hosts that keep no content. A request cannot undo it for its profile.",
  },
  providers: {
    field: "service_providers",
    rule: "providers",
    isRequirement: true,
    flag: "providers",
    takes: names("providers"),
    label: "Only these providers",
    chip: "Only at {}",
    help: "Only hosts of these providers.",
  },
  excludedProviders: {
    field: "service_excluded_providers",
    rule: "excludedProviders",
    isRequirement: true,
    flag: "exclude-providers",
    takes: names("providers"),
    label: "Not these providers",
    chip: "Not at {}",
    help: "No host of these providers.",
  },
  session: {
    field: "service_session",
    takes: sessionName,
    isPrivate: true,
    default: "found in the request",
    help: "Names the session, so that its requests stay with one model, key and host.",
  },
  escalate: {
    field: "service_escalate",
    rule: "escalate",
    flag: "escalate",
    takes: choice(ESCALATIONS, null),
    label: "Escalation",
    default: "the profile's, else `normal`",
    help: "How much evidence of failure in the messages it takes to raise the tier.",
  },
  cascade: {
    field: "service_cascade",
    rule: "cascade",
    flag: "cascade",
    takes: cascade,
    label: "Cascade",
    default: "the profile's, else off",
    help: "A cheaper model answers first, and its answer is checked. One that fails goes to the next tier.",
  },
} as const satisfies Readonly<Record<string, Control>>;

type ControlTable = typeof CONTROLS;
type ControlName = keyof ControlTable;

/** Values that a request asked for, by the name of the control. */
export type AskedValues = {
  readonly [Name in ControlName as ControlTable[Name] extends { field: string }
    ? Name
    : never]: ControlTable[Name]["takes"]["unset"];
};

/** Values that a profile asks for, by the name of the control. */
export type RuleValues = {
  readonly [Name in ControlName as ControlTable[Name] extends { rule: string }
    ? Name
    : never]: ControlTable[Name]["takes"]["unset"];
};

/** A profile's values as /api/profiles shows them. */
export type ProfileRules = {
  readonly [Name in keyof RuleValues as ControlTable[Name]["rule"]]: ControlTable[Name]["takes"] extends AmountTaken
    ? string | null
    : RuleValues[Name];
};

export type NamedControl = Control & { readonly name: ControlName };
export type RequestControl = ControlRow & {
  readonly name: keyof AskedValues;
  readonly field: string;
  readonly takes: AskedTakes;
};
export type ProfileControl = ControlRow & {
  readonly name: keyof RuleValues;
  readonly rule: string;
  readonly takes: Takes;
};

const ALL: readonly NamedControl[] = (Object.keys(CONTROLS) as ControlName[]).map((name) => ({
  name,
  ...CONTROLS[name],
}));
export const REQUEST_CONTROLS = ALL.filter((row): row is RequestControl => row.field !== undefined);
export const PROFILE_CONTROLS = ALL.filter((row): row is ProfileControl => row.rule !== undefined);

/** Controls that say where a request may go. Keys and teams require the same. */
export const REQUIREMENTS = PROFILE_CONTROLS.filter(({ isRequirement }) => isRequirement);

/** Requirements of one scope, such as a profile, a key or a request. Older requests in the log lack some values. */
export type Residency = Partial<Pick<RuleValues, "regions" | "zeroRetention" | "providers" | "excludedProviders">>;

/** Returns the values that a profile and the command line take, with bounds that may be narrower than a request's. */
export function takesInProfile({ takes }: Pick<NamedControl, "takes">): Takes {
  if (takes.kind === "cascade") return { kind: "switch", unset: null };
  return takes.kind === "number" ? { ...takes, max: takes.profileMax ?? takes.max } : takes;
}

/** The values of rows that nobody set. */
export function unsetValues(rows: readonly NamedControl[]): Readonly<Record<string, unknown>> {
  return Object.fromEntries(rows.map(({ name, takes }) => [name, takes.unset]));
}
