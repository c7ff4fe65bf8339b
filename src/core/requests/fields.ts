// The request log as one table: a row for each field. The type of a line, the columns of both databases, API, CSV, filters,
// dashboard and docs derive from it. A new field goes to the end, because spreadsheets count columns.

import { CATEGORIES, effortOf } from "../decision.ts";
import { TOOL_SCENARIOS } from "../model.ts";
import { type NanoUsd, SERVICE_TIERS, type TokenBuckets } from "../money.ts";
import { SESSION_STATES } from "../session.ts";
import { TIERS } from "../tiers.ts";
import { ROUTING_PROFILES } from "./controls.ts";
import { EFFORTS } from "./effort.ts";
import { failedProvidersOf, isAdjusted, isFailed, type RequestRecord, type Tags } from "./records.ts";

/** The values of each kind of field. The kind decides how a value is stored, sent, exported and shown. */
interface Kinds {
  readonly text: string;
  readonly optionalText: string | null;
  /** Text that people wrote, which may hold characters that a database rejects. */
  readonly freeText: string | null;
  /** A name that ends with `Ms` is a duration. */
  readonly integer: number;
  readonly optionalInteger: number | null;
  readonly flag: boolean;
  /** Milliseconds since 1970; ISO 8601 in the API. */
  readonly time: number;
  /** Amount of money; null for a request that was not charged. The API writes USD. */
  readonly amount: NanoUsd | null;
  readonly texts: readonly string[];
  readonly tags: Tags;
  /** Stored as four columns. */
  readonly tokens: TokenBuckets | null;
}
export type FieldKind = keyof Kinds;

interface FieldOf<Kind extends FieldKind> {
  readonly kind: Kind;
  readonly of: (record: RequestRecord) => Kinds[Kind];
  /** Column of the database, where that is not the field's name in snake case. */
  readonly column?: string;
  /** Name of the field in API, CSV and filters, where that differs. */
  readonly api?: string;
  /** The values of this version. Rows of older versions may hold others. */
  readonly values?: readonly string[];
  /** For the API's contract and the docs. */
  readonly about: string;
  /** The API filters by it. `counted`: the counters of request_counts know it; `logged`: only the requests do. */
  readonly filter?: "counted" | "logged";
  /** Title of the field as a column of the dashboard, which shows fields without a title in other ways. */
  readonly title?: string;
  readonly isInCsv?: false;
}
export type LogField = { readonly [Kind in FieldKind]: FieldOf<Kind> }[FieldKind];

export const LOG_FIELDS = {
  id: { kind: "text", of: ({ id }) => id, about: "The id of the record, unique." },
  requestId: {
    kind: "text",
    of: ({ requestId }) => requestId,
    about: "As in `X-Request-Id`. A caller may use one twice.",
  },
  atMs: { kind: "time", column: "created_at", api: "createdAt", of: ({ atMs }) => atMs, about: "When it began." },
  route: { kind: "text", of: ({ route }) => route, about: "The path." },
  status: { kind: "integer", of: ({ status }) => status, about: "The HTTP status." },
  isError: { kind: "flag", api: "error", of: isFailed, about: "Whether it counts as failed." },
  errorCode: { kind: "optionalText", of: ({ errorCode }) => errorCode, about: "The code of the error that was sent." },
  isStream: { kind: "flag", api: "stream", of: ({ isStream }) => isStream, about: "Whether it asked for a stream." },
  keyId: { kind: "text", api: "key", of: ({ keyId }) => keyId, filter: "counted", about: "The id of its key." },
  tier: {
    kind: "optionalText",
    values: TIERS,
    of: ({ decision }) => decision?.tier ?? null,
    filter: "counted",
    about: "The tier it was routed to. Requests that were refused before have none.",
  },
  classifiedTier: {
    kind: "optionalText",
    values: TIERS,
    of: ({ decision }) => decision?.classifiedTier ?? null,
    about: "What the classifier said, before rules and history moved the tier.",
  },
  category: {
    kind: "optionalText",
    values: CATEGORIES,
    of: ({ decision }) => decision?.category ?? null,
    filter: "counted",
    about: "What kind of request it was.",
  },
  profile: {
    kind: "optionalText",
    values: ROUTING_PROFILES,
    of: ({ decision }) => decision?.profile ?? null,
    filter: "counted",
    about: "How it asked to be routed.",
  },
  profileId: {
    kind: "optionalText",
    api: "keyProfile",
    of: ({ profileId }) => profileId,
    filter: "counted",
    about: "The id of the saved profile that its key had then.",
  },
  toolScenario: {
    kind: "optionalText",
    values: TOOL_SCENARIOS,
    of: ({ decision }) => decision?.toolScenario ?? null,
    about: "How it uses tools.",
  },
  model: {
    kind: "optionalText",
    of: ({ answeredBy }) => answeredBy?.model ?? null,
    filter: "counted",
    about: "The model that answered.",
  },
  provider: {
    kind: "optionalText",
    of: ({ answeredBy }) => answeredBy?.provider ?? null,
    filter: "counted",
    about: "The provider whose model answered.",
  },
  isFallback: {
    kind: "flag",
    api: "fallback",
    of: ({ isFallback }) => isFallback,
    filter: "counted",
    about: "Whether another model than the one selected answered.",
  },
  isAdjusted: {
    kind: "flag",
    api: "adjusted",
    of: isAdjusted,
    filter: "counted",
    about:
      "Whether more than the prompt decided: a floor, a ceiling, a missing capability, credits, an open tool call, a model that was cooling down, or a fallback.",
  },
  attempts: { kind: "integer", of: ({ attempts }) => attempts.length, about: "How many attempts were made." },
  buckets: { kind: "tokens", api: "tokens", of: ({ cost }) => cost?.buckets ?? null, about: "Tokens as charged." },
  isEstimated: {
    kind: "flag",
    api: "usageEstimated",
    of: ({ cost }) => cost?.isEstimated ?? false,
    about: "Whether the provider sent no usage, so that tokens were estimated.",
  },
  charge: { kind: "amount", api: "chargeUsd", of: ({ cost }) => cost?.charge ?? null, about: "What was charged." },
  baseline: {
    kind: "amount",
    api: "baselineUsd",
    of: ({ cost }) => cost?.baseline ?? null,
    about: "The same tokens at the price of the baseline model.",
  },
  latencyMs: {
    kind: "integer",
    of: ({ latencyMs }) => latencyMs,
    about: "From its first byte to the end of the response.",
  },
  firstContentMs: {
    kind: "optionalInteger",
    of: ({ firstContentMs }) => firstContentMs,
    about: "From its first byte to the first content, or to a whole response.",
  },
  ending: {
    kind: "optionalText",
    values: ["complete", "client-gone", "provider-broke", "gateway-broke", "replayed"],
    of: ({ ending }) => ending,
    about: "How the response ended; null for an error.",
  },
  user: {
    kind: "freeText",
    column: "end_user",
    of: ({ user }) => user,
    filter: "logged",
    title: "User",
    about: "The end user that the caller named.",
  },
  session: {
    kind: "optionalText",
    of: ({ session }) => session,
    filter: "logged",
    title: "Session",
    about: "The conversation it is part of: an opaque id.",
  },
  sessionState: {
    kind: "optionalText",
    values: SESSION_STATES,
    of: ({ sessionState }) => sessionState,
    about: "What it did in its conversation.",
  },
  tags: { kind: "tags", of: ({ tags }) => tags, about: "What the caller labels it with." },
  failedProviders: {
    kind: "texts",
    of: failedProvidersOf,
    about: "Providers that failed before another attempt answered, or none did.",
    isInCsv: false,
  },
  preview: {
    kind: "freeText",
    of: ({ content }) => content?.preview ?? null,
    about: "The beginning of what was asked, only while `logging.content` is on.",
    isInCsv: false,
  },
  overheadMs: {
    kind: "optionalInteger",
    of: ({ overheadMs }) => overheadMs,
    title: "Gateway overhead",
    about: "Time that the gateway itself took. Providers, pauses between attempts and slow uploads are not counted.",
  },
  effort: {
    kind: "optionalText",
    values: EFFORTS,
    of: ({ decision, answeredBy }) =>
      decision === null ? null : effortOf(decision, answeredBy?.model ?? decision.model),
    title: "Effort",
    about: "The effort that the model was asked for, by the request or by its chain.",
  },
  serviceTier: {
    kind: "optionalText",
    values: SERVICE_TIERS,
    of: ({ cost }) => cost?.serviceTier ?? null,
    title: "Service tier",
    about: "The provider's service tier that was charged. None for the usual one.",
  },
  teamId: {
    kind: "optionalText",
    api: "team",
    of: ({ teamId }) => teamId,
    filter: "logged",
    title: "Team",
    about: "The id of the team that its key was in then.",
  },
  memberId: {
    kind: "optionalText",
    api: "member",
    of: ({ memberId }) => memberId,
    filter: "logged",
    title: "Member",
    about: "The id of the person that its key belonged to then. None for the key of a service.",
  },
} as const satisfies Readonly<Record<string, LogField>>;

type Fields = typeof LOG_FIELDS;
export type FieldName = keyof Fields;

/** A line of the request log. */
export type RequestSummary = { readonly [Name in FieldName]: Kinds[Fields[Name]["kind"]] };
export type FieldValue<Kind extends FieldKind> = Kinds[Kind];

/** A field with its names. */
export type LoggedField = LogField & { readonly name: FieldName; readonly column: string; readonly api: string };

/** In the order of the table. */
export const FIELDS: readonly LoggedField[] = Object.entries<LogField>(LOG_FIELDS).map(([name, field]) => ({
  column: name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
  api: name,
  ...field,
  name: name as FieldName,
}));

export type FilterName = {
  [Name in FieldName]: Fields[Name] extends { readonly filter: string } ? Name : never;
}[FieldName];

/** A field that is absent does not filter; null asks for requests that have no such thing. */
export type FieldFilter = { readonly [Name in FilterName]?: RequestSummary[Name] };
type FilterField = LoggedField & { readonly name: FilterName };

export const FILTER_FIELDS = FIELDS.filter((field): field is FilterField => field.filter !== undefined);

const READERS = FIELDS.map(({ name, of }) => [name, of] as const);
const EMPTY = Object.fromEntries(FIELDS.map(({ name }) => [name, null]));

/** The line of the log that the record becomes. Every request pays for it: an object that grows would cost more. */
export function summaryOf(record: RequestRecord): RequestSummary {
  const line: Record<string, unknown> = { ...EMPTY };
  for (const [name, of] of READERS) line[name] = of(record);
  return line as RequestSummary;
}
