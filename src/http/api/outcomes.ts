// /api/outcomes: what shadow samples and feedback say about the cheaper answers, by category and tier.

import { Type } from "typebox";
import { formatUsd } from "../../core/money.ts";
import { type MarkedSample, VERDICTS } from "../../core/requests/outcomes.ts";
import { invalid } from "../../formats/json/fields.ts";
import {
  groupOutcomes,
  OUTCOME_STATES,
  type OutcomeGroup,
  outcomeSentence,
  type SampleSummary,
  summarize,
} from "../../gateway/operate/outcomes.ts";
import { query } from "../openapi/operation.ts";
import { AnyText, Fraction, Integer, listed, named, nullable, type Shape, Time } from "../openapi/schema.ts";
import * as TEXT from "../text.ts";
import { accountOf, isoTime, queryOf } from "./exchange.ts";
import { ShadowRuleSchema, writeShadow } from "./profiles.ts";
import { type ApiRoute, get } from "./route.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
const DAYS_DEFAULT = 30;
const DAYS_MAX = 366;
const BAR_DEFAULT = 0.9;
const BAR_MIN = 0.5;
const BAR_MAX = 0.99;
/** Enough for any verdict. */
const SAMPLES_MAX = 10_000;
/** To look at by hand. */
const DIFFERING_SHOWN = 10;
/** Profiles are few. */
const PROFILES_MAX = 500;

const Side = Type.Object({
  costUsd: Type.String({ description: "At the provider's price, without markup." }),
  latencyMs: Type.Integer({ description: "The median." }),
});
const outcomeFields = {
  samples: Integer,
  judged: Type.Integer({ description: "Tool calls, JSON and short answers, and what was marked." }),
  agreed: Integer,
  agreement: nullable(
    Type.Object(
      { rate: Fraction, low: Fraction, high: Fraction },
      { description: "`low` and `high` are Wilson's bounds with 95% confidence." },
    ),
  ),
  marked: Type.Integer({ description: "Judged by the feedback of a person or an application." }),
  sameTool: Type.Integer({ description: "The same tools with other arguments, which counts as not agreed." }),
  similarity: nullable(Type.Number({ description: "Words in common, of texts that could not be judged. No verdict." })),
  live: Side,
  second: Side,
  state: listed(OUTCOME_STATES),
};
const Differing = Type.Object({
  id: AnyText,
  requestId: AnyText,
  createdAt: Time,
  category: AnyText,
  tier: AnyText,
  model: AnyText,
  verdict: listed(VERDICTS),
});
const Sampling = Type.Object({
  profile: AnyText,
  name: AnyText,
  ...ShadowRuleSchema.properties,
  spentTodayUsd: AnyText,
});

export const OutcomesSchema = named("Outcomes", {
  model: nullable(Type.String({ description: "The model whose second answers are compared." })),
  models: Type.Array(AnyText),
  from: Time,
  bar: Fraction,
  sentence: Type.String({ description: "Whether the cheaper side holds up, in words." }),
  total: Type.Object(outcomeFields),
  data: Type.Array(Type.Object({ category: AnyText, tier: AnyText, ...outcomeFields })),
  differing: Type.Array(Differing, { description: "The newest that do not agree." }),
  sampling: Type.Array(Sampling, { description: "Profiles that take samples now." }),
});

const days = query("days", Type.Integer({ minimum: 1, maximum: DAYS_MAX, default: DAYS_DEFAULT }));
const bar = query(
  "bar",
  Type.Number({ minimum: BAR_MIN, maximum: BAR_MAX, default: BAR_DEFAULT }),
  "The share that must agree for the cheaper side to hold up.",
);
const model = query("model", AnyText, "One of `models`; left out, the one of the newest sample.");

export const OUTCOME_ROUTES: readonly ApiRoute[] = [
  get("getOutcomes", "/api/outcomes", {
    summary: "Whether cheaper answers hold up: agreement with a second model, cost and latency by category and tier",
    access: "readRules",
    parameters: [days, model, bar],
    response: OutcomesSchema,
    async handle({ request }, edge) {
      const { outcomes } = edge.records;
      const accountId = await accountOf(request, edge);
      const read = (name: string, range: { min: number; max: number; usual: number }): number =>
        readNumber(name, queryOf(request, name), range);
      const wantedBar = read("bar", { min: BAR_MIN, max: BAR_MAX, usual: BAR_DEFAULT });
      const fromMs = edge.now() - read("days", { min: 1, max: DAYS_MAX, usual: DAYS_DEFAULT }) * DAY_MS;
      const all = await outcomes.samples(accountId, fromMs, SAMPLES_MAX);
      const chosen = queryOf(request, "model") ?? all[0]?.second.model ?? null;
      const samples = all.filter(({ second }) => second.model === chosen);
      const spent = await outcomes.spentOn(isoTime(edge.now()).slice(0, 10));
      const profiles = await edge.profiles.list(accountId, { limit: PROFILES_MAX, after: null });
      return {
        model: chosen,
        models: [...new Set(all.map(({ second }) => second.model))],
        from: isoTime(fromMs),
        bar: wantedBar,
        sentence: chosen === null ? TEXT.noSamples : outcomeSentence(samples, chosen, wantedBar),
        total: writeOutcome(summarize(samples, wantedBar)),
        data: groupOutcomes(samples, wantedBar).map(writeGroup),
        differing: samples.filter(isDiffering).slice(0, DIFFERING_SHOWN).map(writeDiffering),
        sampling: profiles.flatMap(({ id, name, shadow }) =>
          shadow === null
            ? []
            : [{ profile: id, name, ...writeShadow(shadow), spentTodayUsd: formatUsd(spent.get(id) ?? 0n) }],
        ),
      };
    },
  }),
];

function readNumber(
  name: string,
  text: string | null,
  { min, max, usual }: { min: number; max: number; usual: number },
): number {
  const value = text === null ? usual : Number(text);
  if (text?.trim() !== "" && value >= min && value <= max && (min < 1 || Number.isInteger(value))) return value;
  throw invalid(name, `'${name}' must be a ${min < 1 ? "" : "whole "}number from ${min} to ${max}.`);
}

function isDiffering({ verdict }: MarkedSample): boolean {
  return verdict === "different" || verdict === "same_tool";
}

function writeDiffering({ id, requestId, atMs, category, tier, live, verdict }: MarkedSample) {
  return { id, requestId, createdAt: isoTime(atMs), category, tier, model: live.model, verdict };
}

function writeGroup({ category, tier, ...outcome }: OutcomeGroup) {
  return { category, tier, ...writeOutcome(outcome) };
}

function writeOutcome({ live, second, ...figures }: SampleSummary): Shape<typeof OutcomesSchema>["total"] {
  return { ...figures, live: writeSide(live), second: writeSide(second) };
}

function writeSide({ cost, latencyMs }: SampleSummary["live"]): Shape<typeof Side> {
  return { costUsd: formatUsd(cost), latencyMs };
}
