// /api/alerts/events: what happened that somebody may want to know of. An owner reads those of their account.

import type { FastifyRequest } from "fastify";
import { Type } from "typebox";
import type { AlertEvent } from "../../../core/alerts/events.ts";
import { ALERT_KIND_NAMES, SEVERITIES } from "../../../core/alerts/kinds.ts";
import type { OperatorContext } from "../../context.ts";
import { ownAccountOf } from "../../exchange/identity.ts";
import { query } from "../../openapi/operation.ts";
import { AnyText, byName, listed, named, nullable, page, type Shape, Time } from "../../openapi/schema.ts";
import { accountOf, isoTime, listPage, oneOf, pageOf, paging, queryOf } from "../exchange.ts";
import { type ApiRoute, get } from "../route.ts";

export const AlertEventSchema = named("AlertEvent", {
  id: AnyText,
  kind: listed(ALERT_KIND_NAMES),
  severity: listed(SEVERITIES),
  // Is null for an event of the installation.
  accountId: nullable(AnyText),
  // Tells events of one kind apart, such as the id of a provider.
  subject: AnyText,
  text: AnyText,
  data: byName<string>(AnyText),
  createdAt: Time,
  // Is null while it lasts.
  endedAt: nullable(Time),
});

export const ALERT_EVENT_ROUTES: readonly ApiRoute[] = [
  get("listAlertEvents", "/api/alerts/events", {
    summary: "Events, newest first: balances, failures, providers, prices. Without an account, operators see all",
    access: "readTotals",
    parameters: [query("kind", Type.Enum([...ALERT_KIND_NAMES])), ...paging],
    response: page(AlertEventSchema),
    async handle({ request }, edge) {
      const accountId = await shownAccountOf(request, edge);
      const given = queryOf(request, "kind");
      const kind = given === null ? null : oneOf("kind", given, ALERT_KIND_NAMES);
      return listPage(pageOf(request), (each) => edge.alerts.events.list({ accountId, kind }, each), writeAlertEvent);
    },
  }),
];

/** The account whose alerts are meant; null when an operator means all of them. */
export async function shownAccountOf(request: FastifyRequest, edge: OperatorContext): Promise<string | null> {
  const isForAll = ownAccountOf(request) === null && queryOf(request, "account") === null;
  return isForAll ? null : accountOf(request, edge);
}

function writeAlertEvent(event: AlertEvent): Shape<typeof AlertEventSchema> {
  const { id, kind, severity, accountId, subject, text, data, atMs, endedAtMs } = event;
  return { id, kind, severity, accountId, subject, text, data, createdAt: isoTime(atMs), endedAt: isoTime(endedAtMs) };
}
