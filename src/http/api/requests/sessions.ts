// /api/sessions: conversations of the request log, and the turns of one.

import { Type } from "typebox";
import { baselineNamed, type Catalog } from "../../../catalog/catalog.ts";
import { formatUsd } from "../../../core/money.ts";
import type { LoggedTurn } from "../../../core/requests/log.ts";
import type { LoggedSession } from "../../../core/requests/logged-sessions.ts";
import { SESSION_STATES } from "../../../core/session.ts";
import { query } from "../../openapi/operation.ts";
import {
  AnyText,
  baselineFields,
  Integer,
  named,
  nullable,
  page,
  type Shape,
  Texts,
  Time,
} from "../../openapi/schema.ts";
import { caughtUp } from "../../v1/record.ts";
import { accountOf, isoTime, listPage, missing, oneOf, pageOf, paging, queryOf } from "../exchange.ts";
import { type ApiRoute, get } from "../route.ts";
import { range, sessionFilterOf, sessionFilters } from "./filter.ts";
import { lineFields, type Names, namesOf, type WrittenLine, writeSummary } from "./line.ts";

const sessionFields = {
  // The newest request of it.
  id: AnyText,
  session: AnyText,
  startedAt: Time,
  lastAt: Time,
  turns: Integer,
  errors: Integer,
  switches: Integer,
  escalations: Integer,
  // The models that answered, in the order of their first turn.
  models: Texts,
  hosts: Texts,
  users: Texts,
  keys: Texts,
  keyNames: Texts,
  tokens: Integer,
  // Input that came from a provider's cache, and the turns that had some.
  cachedTokens: Integer,
  cacheHits: Integer,
  chargeUsd: AnyText,
  savedUsd: AnyText,
  ...baselineFields,
};
export const RequestSessionSchema = named("RequestSession", sessionFields);

/** The newest turns, oldest first. */
const TURNS_MAX = 200;
const SessionTurnSchema = named("SessionTurn", {
  ...lineFields,
  // The reason for this model, from the decision.
  reasoning: nullable(AnyText),
  // The turn before in the same conversation, which need not be the one before in the list.
  before: nullable(Type.Object({ model: lineFields.model, provider: lineFields.provider, tier: lineFields.tier })),
});
export const RequestSessionDetailSchema = named("RequestSessionDetail", {
  ...sessionFields,
  turnList: Type.Array(SessionTurnSchema),
});

/** The sign-in of people has the other sessions, in ../session.ts. */
export const CONVERSATION_ROUTES: readonly ApiRoute[] = [
  get("listSessions", "/api/sessions", {
    summary: "Conversations with a turn in the range, the newest activity first",
    access: "readRules",
    parameters: [
      ...range,
      ...sessionFilters,
      query("state", Type.Enum([...SESSION_STATES]), "With a turn that did this."),
      ...paging,
    ],
    response: page(RequestSessionSchema),
    async handle({ request }, edge) {
      const accountId = await accountOf(request, edge);
      const state = queryOf(request, "state");
      const states = state === null ? {} : { states: [oneOf("state", state, SESSION_STATES)] };
      const wanted = { ...sessionFilterOf(request), ...states, accountId };
      const names = namesOf(edge, accountId);
      const { catalog } = edge.services();
      const asked = pageOf(request);
      await caughtUp(edge.records);
      return listPage(
        asked,
        (each) => edge.records.loggedSessions.list(wanted, each),
        (line) => writeSession(line, names, catalog),
      );
    },
  }),
  get("getSessionTurns", "/api/sessions/:id", {
    access: "readRules",
    summary: `One conversation with its newest ${TURNS_MAX} turns, oldest first`,
    response: RequestSessionDetailSchema,
    async handle({ request }, edge) {
      const { id } = request.params as { id: string };
      const accountId = await accountOf(request, edge);
      await caughtUp(edge.records);
      const found = id.includes("\u0000") ? null : await edge.records.loggedSessions.find(accountId, id);
      if (found === null) throw missing("session", id);
      const names = namesOf(edge, accountId);
      const turns = await edge.records.requests.turns(accountId, id, TURNS_MAX);
      return { ...writeSession(found, names, edge.services().catalog), turnList: writeTurns(turns, names) };
    },
  }),
];

/** Conversations that begin alike are one session. From the first answer on each has turns of its own. */
function writeTurns(turns: readonly LoggedTurn[], names: Names): Shape<typeof SessionTurnSchema>[] {
  const newest = new Map<number | null, WrittenLine>();
  return turns.map(({ summary, reasoning, thread }) => {
    const line = writeSummary(summary, names);
    const last = newest.get(thread) ?? newest.get(null);
    newest.set(thread, line);
    const before = last === undefined ? null : { model: last.model, provider: last.provider, tier: last.tier };
    return { ...line, reasoning, before };
  });
}

function writeSession(found: LoggedSession, names: Names, catalog: Catalog): Shape<typeof RequestSessionSchema> {
  const { firstMs, lastMs, keyIds, charge, baseline, ...rest } = found;
  return {
    ...rest,
    startedAt: isoTime(firstMs),
    lastAt: isoTime(lastMs),
    keys: keyIds,
    keyNames: keyIds.map((id) => names.key(id) ?? id),
    chargeUsd: formatUsd(charge),
    savedUsd: formatUsd(baseline - charge),
    ...baselineNamed(catalog),
  };
}
