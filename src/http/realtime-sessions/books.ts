// The accounts of one realtime session: reserves and charges its responses, and records each of them like a request.

import type { CallEnding, CallReport } from "../../core/call-report.ts";
import { promptTokens, type Usage } from "../../core/chat.ts";
import type { HostedModel } from "../../core/model.ts";
import { formatUsd } from "../../core/money.ts";
import type { ClientHeaders } from "../../formats/format.ts";
import { REALTIME_PATH } from "../../formats/realtime/format.ts";
import { admitAgain } from "../../gateway/admit.ts";
import type { Caller } from "../../gateway/call.ts";
import {
  beginTranscription,
  beginTurn,
  type Ran,
  type ResponseTurn,
  requireTranscriber,
} from "../../gateway/realtime/turn.ts";
import type { PublicContext } from "../context.ts";
import { newRequestId } from "../exchange/request-head.ts";
import { failedAttempts, passOf } from "../v1/request-metric.ts";
import { toRecord } from "../v1/request-record.ts";

export type BooksContext = Pick<
  PublicContext,
  "services" | "keys" | "limiter" | "live" | "records" | "metrics" | "log" | "now"
>;

interface SessionBooksTerms {
  readonly sessionId: string;
  readonly caller: Caller;
  readonly model: string;
  readonly host: HostedModel;
  readonly headers: ClientHeaders;
}

type RanResponse = Omit<Ran, "durationMs"> & {
  readonly firstContentMs: number | null;
  /** Messages that the response consisted of. */
  readonly messages: number;
};

/** With usage, null where the provider counted nothing; or the reason why nothing is charged. */
export type ResponseEnd = { readonly usage: Usage | null } | { readonly ending: CallEnding };

export interface SessionBooks {
  /** The hold of the next response. Throws where key, limits, credits or budgets do not allow one. */
  reserve(): Promise<ResponseTurn>;
  requireTranscriber(model: string): void;
  chargeTranscription(model: string, usage: Usage): Promise<void>;
  /** A response has begun. */
  begun(): void;
  close(turn: ResponseTurn, ran: RanResponse, end: ResponseEnd): Promise<void>;
  newEventId(): string;
  now(): number;
}

const OK = 200;
const WEB_SOCKET = "GET";

export function createBooks(terms: SessionBooksTerms, edge: BooksContext): SessionBooks {
  const { model, host, sessionId } = terms;
  const { metrics, now } = edge;
  let { caller } = terms;
  return {
    async reserve() {
      const requestsPerMinute = (): number => edge.live().limits.requestsPerMinute;
      caller = await admitAgain(caller.key.hash, { ...edge, requestsPerMinute });
      return beginTurn({ requestId: newRequestId(), caller, model, host: host.host }, edge.services());
    },
    requireTranscriber: (id) => requireTranscriber({ caller, model: id }, edge.services()),
    async chargeTranscription(id, usage) {
      const services = edge.services();
      const startedAtMs = now();
      const beganAt = performance.now();
      const asked = { requestId: newRequestId(), caller, model: id, usage };
      const turn = await beginTranscription(asked, services);
      const { models } = turn.reservation;
      const heard = models.find(({ provider }) => provider === host.provider) ?? models[0];
      if (heard === undefined) throw new Error("a reservation has a model");
      metrics.begin();
      const ran = { model: heard, keyId: undefined, startedAtMs, durationMs: 0, beganAt, endedAt: performance.now() };
      const report = await turn.settle({ ...ran, usage, outputTokens: 0 });
      write({ turn, report, ran, firstContentMs: null, sessionId, headers: terms.headers }, edge);
    },
    begun: metrics.begin,
    async close(turn, { firstContentMs, messages, ...times }, end) {
      const ran = { ...times, durationMs: Math.round(times.endedAt - times.beganAt) };
      const isUsed = "usage" in end;
      const report = isUsed
        ? await turn.settle({ ...ran, usage: end.usage, outputTokens: messages })
        : await turn.void(ran, end.ending);
      write({ turn, report, ran, firstContentMs, sessionId, headers: terms.headers }, edge);
    },
    newEventId: () => newRequestId().replace("req", "event"),
    now,
  };
}

interface WrittenResponse {
  readonly turn: ResponseTurn;
  readonly report: CallReport;
  readonly ran: Ran;
  readonly firstContentMs: number | null;
  readonly sessionId: string;
  readonly headers: ClientHeaders;
}

/** One row of the request log, one log line, and the metrics. */
function write({ turn, report, ran, firstContentMs, sessionId, headers }: WrittenResponse, edge: BooksContext): void {
  const { records, metrics, log, services } = edge;
  const { startedAtMs, durationMs } = ran;
  const { requestId, caller, request } = turn;
  const errorCode = report.ending === "provider-broke" ? "provider_disconnected" : null;
  const times = { status: OK, durationMs, firstContentMs };
  const record = toRecord({
    ...{ route: REALTIME_PATH, isCompletion: true, requestId, caller, clientRequest: request, headers },
    ...{ endUserHeaders: services().endUserHeaders, report, errorCode, errorMessage: null },
    ...{ operatorMessage: undefined, ownWords: null, keepsContent: false, startedAtMs, ...times },
    newId: () => records.recorder.newId(startedAtMs),
  });
  if (record !== null) records.recorder.add({ ...record, session: sessionId });
  const { usage, cost, ending, answeredBy } = report;
  metrics.end({
    ...{ route: REALTIME_PATH, tier: "none", model: answeredBy ?? "none", ...times },
    ...{ overheadMs: null, decisionMs: null, pass: passOf(report, NO_TIMES), fallback: null },
    ...{ failedAttempts: failedAttempts(report), cost, isStoreAway: false },
  });
  log.info(
    {
      event: "request.completed",
      ...{ requestId, method: WEB_SOCKET, path: REALTIME_PATH, status: OK, durationMs, keyId: caller.key.id },
      ...{ session: sessionId, model: answeredBy, ending, errorCode: errorCode ?? undefined },
      usage: usage === null ? null : [promptTokens(usage.buckets), usage.buckets.output],
      chargedUsd: cost === null ? null : formatUsd(cost.charge),
    },
    "request",
  );
}

const NO_TIMES = {
  beganAt: 0,
  bodyReadAt: 0,
  routingAt: 0,
  routedAt: 0,
  readyAt: 0,
  begunAt: 0,
  streamEndedAt: 0,
  sentAt: 0,
};
