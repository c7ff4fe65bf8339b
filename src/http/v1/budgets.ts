// GET /v1/budgets: what the budgets leave for the caller's key, so that a program can stop before it is refused. Free.

import type { FastifyInstance, FastifyRequest } from "fastify";
import { Type } from "typebox";
import type { BudgetStanding, BudgetValue } from "../../accounts/budgets/standings.ts";
import { findModel } from "../../catalog/model-names.ts";
import { BUDGET_PERIODS, BUDGET_SCOPES, type Budget, type BudgetScope, isForEach } from "../../core/budgets/budget.ts";
import { formatUsd } from "../../core/money.ts";
import { shownName } from "../../core/names.ts";
import type { ClientHeaders } from "../../formats/format.ts";
import type { JsonObject } from "../../formats/json/fields.ts";
import { countedValues } from "../../gateway/budgets.ts";
import { labelsOf } from "../../gateway/labels.ts";
import type { CallContext } from "../context.ts";
import { AnyText, Flag, Integer, listed, nullable } from "../openapi/schema.ts";
import { callerOf } from "./key-admission.ts";

export const OwnBudgetsSchema = Type.Object({
  object: Type.Literal("list"),
  data: Type.Array(
    Type.Object({
      id: AnyText,
      object: Type.Literal("budget"),
      name: AnyText,
      scope: listed(BUDGET_SCOPES),
      value: nullable(AnyText),
      hard: Flag,
      requests_per_minute: nullable(Integer),
      tokens_per_minute: nullable(Integer),
      amount_usd: AnyText,
      spent_usd: AnyText,
      reserved_usd: AnyText,
      left_usd: AnyText,
      period: listed(BUDGET_PERIODS),
      rolling: Flag,
      time_zone: AnyText,
      from: Integer,
      renews_at: Integer,
    }),
  ),
});

/** A program may ask while its other requests run. */
const NO_SLOT = { config: { needsNoSlot: true } };

export function registerBudgets(server: FastifyInstance, context: Pick<CallContext, "budgets" | "services">): void {
  server.get("/v1/budgets", NO_SLOT, async (request): Promise<JsonObject> => {
    const { key } = callerOf(request);
    const wanted = context.budgets.of(key.accountId).flatMap((budget) => valueFor(budget, request, context));
    const standings = await context.budgets.standings(wanted);
    return {
      object: "list",
      data: wanted.map(({ budget }, index) => writeBudget(budget, standings[index] as BudgetStanding)),
    };
  });
}

const OWN_SCOPES: ReadonlySet<BudgetScope> = new Set(["team", "member", "key"]);

/** The request stands for those that the caller will send: with its headers, and with `user`, `model` and `tier`. */
function valueFor(
  budget: Budget,
  request: FastifyRequest,
  { services }: Pick<CallContext, "services">,
): readonly BudgetValue[] {
  const { catalog, endUserHeaders } = services();
  const query = request.query as Readonly<Record<string, unknown>>;
  // A name that is there twice has a list as its value.
  const [user, asked, tier = ""] = [query.user, query.model, query.tier].map((value) =>
    typeof value === "string" ? value : undefined,
  );
  const model = asked === undefined ? null : (findModel(catalog, asked)?.id ?? asked);
  const labels = labelsOf(request.headers as ClientHeaders, { user }, endUserHeaders);
  const { scope } = budget;
  const facts = { caller: callerOf(request), tier: tier.toUpperCase(), labels };
  const given = scope === "model" ? [model ?? ""] : countedValues(budget, facts);
  if (scope === "account") return [{ budget, value: "" }];
  if (isForEach(budget)) return given.filter((value) => value !== "").map((value) => ({ budget, value }));
  const value = budget.value as string;
  // A program learns nothing of other keys, people and teams. Models, tiers, tags and end users may still be its own.
  return OWN_SCOPES.has(scope) && !given.includes(value) ? [] : [{ budget, value }];
}

function writeBudget(budget: Budget, { value, spent, held, left, fromMs, renewsAtMs }: BudgetStanding): JsonObject {
  return {
    id: budget.id,
    object: "budget",
    name: shownName(budget.name),
    scope: budget.scope,
    value: value === "" ? null : value,
    hard: budget.isHard,
    requests_per_minute: budget.requestsPerMinute,
    tokens_per_minute: budget.tokensPerMinute,
    amount_usd: formatUsd(budget.amount),
    spent_usd: formatUsd(spent),
    reserved_usd: formatUsd(held),
    left_usd: formatUsd(left > 0n ? left : 0n),
    period: budget.period,
    rolling: budget.isRolling,
    time_zone: budget.timeZone,
    from: Math.floor(fromMs / 1000),
    renews_at: Math.floor(renewsAtMs / 1000),
  };
}
