// /api/alerts: where events are sent. An owner manages the targets of their account, operators those of the installation
// and of all accounts.

import type { FastifyRequest } from "fastify";
import { Type } from "typebox";
import type { MadeTarget } from "../../../alerting/targets.ts";
import { ALERT_KIND_NAMES } from "../../../core/alerts/kinds.ts";
import { type AlertTarget, CHANNELS, type SentMessage } from "../../../core/alerts/targets.ts";
import { GatewayError } from "../../../core/errors.ts";
import type { OperatorContext } from "../../context.ts";
import { ownAccountOf } from "../../exchange/identity.ts";
import {
  AnyText,
  Flag,
  Integer,
  listed,
  Name,
  named,
  nullable,
  optional,
  type Shape,
  strict,
  Time,
} from "../../openapi/schema.ts";
import * as TEXT from "../../text.ts";
import { idOf, isoTime, missing, PLAIN_ID } from "../exchange.ts";
import { type ApiRoute, del, get, patch, post } from "../route.ts";
import { shownAccountOf } from "./events.ts";

const Clock = Type.String({ pattern: "^([01][0-9]|2[0-3]):[0-5][0-9]$" });
const Quiet = strict("QuietTime", { from: Clock, to: Clock, timeZone: Type.String({ maxLength: 60 }) });

const targetFields = {
  id: AnyText,
  // Is null for the installation, whose targets get the events of all accounts.
  accountId: nullable(AnyText),
  channel: listed(CHANNELS),
  name: AnyText,
  // Is null for all kinds.
  kinds: nullable(Type.Array(listed(ALERT_KIND_NAMES))),
  quiet: nullable(Quiet),
  isPaused: Flag,
  // Without what may be secret in it.
  address: AnyText,
  createdAt: Time,
};
export const AlertTargetSchema = named("AlertTarget", targetFields);
/** The secret is in this response only. */
export const MadeAlertTargetSchema = named("MadeAlertTarget", { ...targetFields, secret: nullable(AnyText) });

const settable = {
  kinds: optional(Type.Array(Type.Enum([...ALERT_KIND_NAMES]), { minItems: 1, uniqueItems: true })),
  quiet: optional(Quiet),
  isPaused: Type.Optional(Flag),
};
const Url = Type.String({ maxLength: 2_000 });
const NewAlertTargetSchema = strict("NewAlertTarget", {
  channel: Type.Enum([...CHANNELS]),
  name: Name,
  url: Url,
  accountId: optional(Type.String({ pattern: PLAIN_ID.source })),
  ...settable,
});
const AlertTargetChangeSchema = strict("AlertTargetChange", {
  name: Type.Optional(Name),
  url: Type.Optional(Url),
  ...settable,
});

export const AlertTestSchema = named("AlertTest", {
  isTaken: Flag,
  status: nullable(Integer),
  // The receiver's own answer, or the reason why there is none.
  answer: AnyText,
});

export const AlertMessageSchema = named("AlertMessage", {
  id: AnyText,
  kind: AnyText,
  text: AnyText,
  state: listed(["waiting", "sent", "failed"]),
  attempts: Integer,
  // The last answer or error.
  result: AnyText,
  createdAt: Time,
  doneAt: nullable(Time),
});

const TESTS_PER_MINUTE = 6;
const MESSAGES_SHOWN = 50;

export const ALERT_TARGET_ROUTES: readonly ApiRoute[] = [
  get("listAlertTargets", "/api/alerts", {
    summary: "Where events are sent. Without an account, operators see all targets",
    response: Type.Object({ data: Type.Array(AlertTargetSchema) }),
    async handle({ request }, edge) {
      const targets = await edge.alerts.targets.list(await shownAccountOf(request, edge));
      return { data: targets.map(writeTarget) };
    },
  }),
  post("createAlertTarget", "/api/alerts", {
    spansAccounts: true,
    summary:
      "Add a target: a signed webhook, one in Slack's form, or mailto: with a mail address. The secret is shown once",
    body: NewAlertTargetSchema,
    example: {
      channel: "webhook",
      name: "On call",
      url: "https://hooks.example.com/switchyard",
      kinds: ["balance.low"],
    },
    status: 201,
    response: MadeAlertTargetSchema,
    errors: [409],
    async handle({ request, body }, edge) {
      const { accountId = null, ...given } = body();
      const own = ownAccountOf(request);
      const named = accountId ?? own;
      const isUnknown =
        named !== null && ((own !== null && named !== own) || (await edge.accounts.get(named)) === null);
      if (isUnknown) throw new GatewayError("badRequest", TEXT.noAccount(named), { param: "accountId" });
      return writeMade(await edge.alerts.targets.create({ ...given, accountId: named }));
    },
  }),
  get("readAlertTarget", "/api/alerts/:id", {
    summary: "One target",
    response: AlertTargetSchema,
    handle: async ({ request }, edge) => writeTarget(await targetOf(request, edge)),
  }),
  patch("changeAlertTarget", "/api/alerts/:id", {
    spansAccounts: true,
    summary: "Change a target; a field that is left out stays",
    body: AlertTargetChangeSchema,
    example: { quiet: { from: "22:00", to: "07:00", timeZone: "Europe/Berlin" } },
    response: AlertTargetSchema,
    async handle({ request, body }, edge) {
      const target = await targetOf(request, edge);
      return writeTarget(found(await edge.alerts.targets.change(target, body()), target.id));
    },
  }),
  del("deleteAlertTarget", "/api/alerts/:id", {
    spansAccounts: true,
    summary: "Delete a target and its messages",
    async handle({ request }, edge) {
      const { id } = await targetOf(request, edge);
      if (!(await edge.alerts.targets.delete(id))) throw missing("alert target", id);
    },
  }),
  post("rotateAlertSecret", "/api/alerts/:id/rotate", {
    spansAccounts: true,
    summary: "Give a webhook another signing secret, shown once; the old one ends at once",
    response: MadeAlertTargetSchema,
    errors: [409],
    async handle({ request }, edge) {
      const target = await targetOf(request, edge);
      return writeMade(found(await edge.alerts.targets.rotate(target), target.id));
    },
  }),
  post("testAlertTarget", "/api/alerts/:id/test", {
    spansAccounts: true,
    summary: "Send a test message now and tell what the receiver answers",
    response: AlertTestSchema,
    async handle({ request }, edge) {
      const target = await targetOf(request, edge);
      const { id, accountId } = target;
      const scope = `alert test ${accountId ?? "installation"}`;
      const { allowed, retryAfterSeconds } = await edge.limiter.admit(scope, TESTS_PER_MINUTE, edge.now());
      if (!allowed) throw tooManyTests(id, retryAfterSeconds);
      const receipt = await edge.alerts.targets.test(target);
      return { isTaken: receipt.isTaken, status: receipt.status, answer: receipt.answer };
    },
  }),
  get("listAlertMessages", "/api/alerts/:id/messages", {
    summary: "The newest messages to a target, with what the receiver answered",
    response: Type.Object({ data: Type.Array(AlertMessageSchema) }),
    async handle({ request }, edge) {
      const { id } = await targetOf(request, edge);
      return { data: (await edge.alerts.outbox.list(id, MESSAGES_SHOWN)).map(writeMessage) };
    },
  }),
];

/** An owner gets the error for a target that does not exist also for one of others. */
async function targetOf(request: FastifyRequest, { alerts }: OperatorContext): Promise<AlertTarget> {
  const id = idOf(request, "alert target");
  const target = found(await alerts.targets.get(id), id);
  const own = ownAccountOf(request);
  if (own !== null && target.accountId !== own) throw missing("alert target", id);
  return target;
}

function found<Value>(value: Value | null, id: string): Value {
  if (value === null) throw missing("alert target", id);
  return value;
}

function tooManyTests(id: string, retryAfterSeconds: number): GatewayError {
  const message = TEXT.testedTooOften(id, TESTS_PER_MINUTE, retryAfterSeconds);
  return new GatewayError("rateLimited", message, { code: "too_many_tests", retryAfterSeconds });
}

function writeTarget(target: AlertTarget): Shape<typeof AlertTargetSchema> {
  const { id, accountId, channel, name, kinds, quiet, isPaused, addressShown, createdAtMs } = target;
  const shown = { id, accountId, channel, name, kinds, quiet, isPaused };
  return { ...shown, address: addressShown, createdAt: isoTime(createdAtMs) };
}

function writeMade({ target, secret }: MadeTarget): Shape<typeof MadeAlertTargetSchema> {
  return { ...writeTarget(target), secret };
}

function writeMessage(message: SentMessage): Shape<typeof AlertMessageSchema> {
  const { id, kind, text, state, attempts, result, createdAtMs, doneAtMs } = message;
  return { id, kind, text, state, attempts, result, createdAt: isoTime(createdAtMs), doneAt: isoTime(doneAtMs) };
}
