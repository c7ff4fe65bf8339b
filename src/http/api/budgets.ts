// /api/budgets: what the requests of an account may cost in a period, and what is spent of it.

import type { FastifyRequest } from "fastify";
import { type Static, Type } from "typebox";
import type { BudgetAuthor, BudgetContent } from "../../accounts/budgets/budgets.ts";
import type { BudgetStanding } from "../../accounts/budgets/standings.ts";
import { findModel } from "../../catalog/model-names.ts";
import { BUDGET_PERIODS, BUDGET_SCOPES, type Budget, isForEach } from "../../core/budgets/budget.ts";
import { formatUsd } from "../../core/money.ts";
import { shownName } from "../../core/names.ts";
import { invalid } from "../../formats/json/fields.ts";
import type { OperatorContext } from "../context.ts";
import { ownAccountOf } from "../exchange/identity.ts";
import {
  AnyText,
  listed,
  Name,
  named,
  nullable,
  optional,
  page,
  plainText,
  type Shape,
  strict,
  Time,
  Usd,
} from "../openapi/schema.ts";
import * as TEXT from "../text.ts";
import { accountOf, idOf, isoTime, listPage, missing, pageOf, paging } from "./exchange.ts";
import { readAmount } from "./keys.ts";
import { type ApiRoute, del, get, post, put } from "./route.ts";

const VALUE =
  "The id of a team, user or key; a tag (`team=search`), an end user, a model or a tier. Null, or a tag without a value: each has the amount for itself.";
const ROLLING = "The last 24 hours, 7 days or 30 days, in place of a day, week or month of the calendar.";
const HARD = "True: requests get 402 when it is spent. False: `service.notes` says so.";
const ZONE = "IANA name. Calendar periods begin at midnight there, weeks on Monday.";
const REQUESTS = "Requests per minute that may begin; more get 429. Each value has them for itself, like the amount.";
const TOKENS = "Tokens per minute, of prompts and answers; once they are used, requests get 429.";
const PER_MINUTE_MAX = 1_000_000_000;
const LABEL = "The name of the team or key, or the e-mail address of the member; null in other scopes.";
const VALUE_MAX = 330;

const NewBudgetSchema = strict("NewBudget", {
  name: Name,
  scope: Type.Enum([...BUDGET_SCOPES]),
  value: optional(plainText(VALUE_MAX, { description: VALUE })),
  amountUsd: Usd,
  period: Type.Enum([...BUDGET_PERIODS]),
  rolling: Type.Optional(Type.Boolean({ description: ROLLING, default: false })),
  timeZone: Type.Optional(Type.String({ description: ZONE, default: "UTC" })),
  hard: Type.Optional(Type.Boolean({ description: HARD, default: true })),
  requestsPerMinute: optional(Type.Integer({ minimum: 1, maximum: PER_MINUTE_MAX, description: REQUESTS })),
  tokensPerMinute: optional(Type.Integer({ minimum: 1, maximum: PER_MINUTE_MAX, description: TOKENS })),
});

const standingFields = {
  spentUsd: AnyText,
  reservedUsd: Type.String({ description: "What running requests have on hold." }),
  leftUsd: Type.String({ description: "Below zero where the budget was lowered." }),
  from: Time,
  renewsAt: Time,
};
const StandingSchema = Type.Object(standingFields);

export const BudgetSchema = named("Budget", {
  id: AnyText,
  name: AnyText,
  scope: listed(BUDGET_SCOPES),
  value: nullable(Type.String({ description: VALUE })),
  label: nullable(Type.String({ description: LABEL })),
  amountUsd: AnyText,
  period: listed(BUDGET_PERIODS),
  rolling: Type.Boolean({ description: ROLLING }),
  timeZone: Type.String({ description: ZONE }),
  hard: Type.Boolean({ description: HARD }),
  requestsPerMinute: nullable(Type.Integer({ description: REQUESTS })),
  tokensPerMinute: nullable(Type.Integer({ description: TOKENS })),
  setByOperator: Type.Boolean({ description: "Owners of the account cannot change it." }),
  each: Type.Boolean({
    description: "Each team, member, key, tag value, end user, model or tier has the amount for itself.",
  }),
  // Is null where each value has its own.
  standing: nullable(StandingSchema),
  values: Type.Array(
    Type.Object({ value: AnyText, label: nullable(Type.String({ description: LABEL })), ...standingFields }),
    {
      description: "Where each value has its own: those that have spent most.",
    },
  ),
  createdAt: Time,
  updatedAt: Time,
});

export const BUDGET_ROUTES: readonly ApiRoute[] = [
  post("createBudget", "/api/budgets", {
    summary: "Set a budget",
    access: "manage",
    body: NewBudgetSchema,
    example: { name: "Everything", scope: "account", amountUsd: "100", period: "month", timeZone: "Europe/Berlin" },
    status: 201,
    response: BudgetSchema,
    errors: [409],
    async handle({ request, body }, edge) {
      const content = toContent(body(), edge);
      return writeBudget(await edge.budgets.create(await authorOf(request, edge), content), edge);
    },
  }),
  get("listBudgets", "/api/budgets", {
    summary: "The budgets of an account, with what is spent of each",
    access: "readMoney",
    parameters: paging,
    response: page(BudgetSchema),
    async handle({ request }, edge) {
      const accountId = await accountOf(request, edge);
      const { data, next } = await listPage(
        pageOf(request),
        (each) => edge.budgets.list(accountId, each),
        (budget) => budget,
      );
      return { data: await Promise.all(data.map((budget) => writeBudget(budget, edge))), next };
    },
  }),
  get("getBudget", "/api/budgets/:id", {
    summary: "One budget",
    access: "readMoney",
    response: BudgetSchema,
    async handle({ request }, edge) {
      const id = idOf(request, "budget");
      return writeBudget(found(await edge.budgets.get(await accountOf(request, edge), id), id), edge);
    },
  }),
  // What was spent stays. A budget that is lowered below it blocks at once.
  put("replaceBudget", "/api/budgets/:id", {
    summary: "Replace a budget; what was spent of it stays",
    access: "manage",
    body: NewBudgetSchema,
    response: BudgetSchema,
    async handle({ request, body }, edge) {
      const id = idOf(request, "budget");
      const content = toContent(body(), edge);
      return writeBudget(found(await edge.budgets.replace(await authorOf(request, edge), id, content), id), edge);
    },
  }),
  del("deleteBudget", "/api/budgets/:id", {
    summary: "Delete a budget",
    access: "manage",
    async handle({ request }, edge) {
      const id = idOf(request, "budget");
      if (!(await edge.budgets.delete(await authorOf(request, edge), id))) throw missing("budget", id);
    },
  }),
];

async function authorOf(request: FastifyRequest, edge: OperatorContext): Promise<BudgetAuthor> {
  return { accountId: await accountOf(request, edge), isOperator: ownAccountOf(request) === null };
}

function found(budget: Budget | null, id: string): Budget {
  if (budget === null) throw missing("budget", id);
  return budget;
}

function toContent(body: Static<typeof NewBudgetSchema>, edge: OperatorContext): BudgetContent {
  const { name, scope, period, rolling = false, timeZone = "UTC", hard = true } = body;
  const { requestsPerMinute = null, tokensPerMinute = null } = body;
  const value = body.value ?? null;
  const amount = readAmount(body.amountUsd, "amountUsd") ?? 0n;
  const content = { name, scope, amount, period, isRolling: rolling, timeZone, isHard: hard };
  const rates = { requestsPerMinute, tokensPerMinute };
  return { ...content, ...rates, value: scope === "model" && value !== null ? modelOf(value, edge) : value };
}

/** A misspelt model would never match. */
function modelOf(given: string, edge: OperatorContext): string {
  const model = findModel(edge.services().catalog, given);
  if (model === undefined) throw invalid("value", TEXT.unknownModel(given));
  return model.id;
}

async function writeBudget(budget: Budget, { budgets }: OperatorContext): Promise<Shape<typeof BudgetSchema>> {
  const { id, name, scope, value, amount, period, isRolling, timeZone, isHard, isByOperator } = budget;
  const isEach = isForEach(budget);
  const [standing] = isEach ? [] : await budgets.standings([{ budget, value: value ?? "" }]);
  const values = isEach ? await budgets.topStandings(budget) : [];
  const labels = await budgets.labels(budget, isEach ? values.map((one) => one.value) : [value ?? ""]);
  return {
    id,
    name: shownName(name),
    scope,
    value,
    label: labels.get(value ?? "") ?? null,
    amountUsd: formatUsd(amount),
    period,
    rolling: isRolling,
    timeZone,
    hard: isHard,
    requestsPerMinute: budget.requestsPerMinute,
    tokensPerMinute: budget.tokensPerMinute,
    setByOperator: isByOperator,
    each: isEach,
    standing: standing === undefined ? null : writeStanding(standing),
    values: values.map((one) => ({ value: one.value, label: labels.get(one.value) ?? null, ...writeStanding(one) })),
    createdAt: isoTime(budget.createdAtMs),
    updatedAt: isoTime(budget.updatedAtMs),
  };
}

function writeStanding({ spent, held, left, fromMs, renewsAtMs }: BudgetStanding): Shape<typeof StandingSchema> {
  return {
    spentUsd: formatUsd(spent),
    reservedUsd: formatUsd(held),
    leftUsd: formatUsd(left),
    from: isoTime(fromMs),
    renewsAt: isoTime(renewsAtMs),
  };
}
