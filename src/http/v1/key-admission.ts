// Admission of a /v1 request by its key: the caller, the rate-limit headers, and how many requests of one key may run
// at once. Everything here happens before the body is read.

import type { FastifyReply, FastifyRequest, onRequestHookHandler } from "fastify";
import { GatewayError } from "../../core/errors.ts";
import { type AdmissionServices, type Admitted, admit, tooManyRequests } from "../../gateway/admit.ts";
import type { Caller } from "../../gateway/call.ts";
import { hasCredits, requireCredits } from "../../gateway/reserve.ts";
import type { PublicContext } from "../context.ts";
import { declaredLength } from "../exchange/body.ts";
import { whenDone } from "../exchange/disconnect.ts";
import { keyHashOf, noteKey } from "../exchange/inner-socket.ts";
import { routeOf } from "../exchange/request-format.ts";
import { isLarge } from "../overload/body-budget.ts";
import * as TEXT from "../text.ts";

type KeyAdmissionContext = Pick<
  PublicContext,
  "keys" | "tokens" | "limiter" | "wrongKeys" | "semaphores" | "live" | "metrics" | "now"
>;

/** Resolves once the caller is known and counted; rejects when the request may not go on. */
export type AdmitRequest = (request: FastifyRequest, reply: FastifyReply) => Promise<void>;

/** For requests to an endpoint: a valid key within its rate limit, and a free slot among the key's running requests. */
export function createKeyAdmission(context: KeyAdmissionContext): AdmitRequest {
  const countCall = createCallCounter(context);
  const { requestsPerKey } = context.semaphores;
  return async (request, reply) => {
    await countCall(request, reply);
    if (request.routeOptions.config.needsNoSlot === true && !isFollowing(request)) return;
    // Lines of batches have a limit of their own, and take no slots of live requests.
    if (keyHashOf(request.raw) !== null) return;
    const { id } = callerOf(request).key;
    const known = requestsPerKey.tryAcquire(id);
    const release = known === undefined ? await requestsPerKey.acquire(id) : known;
    if (release === null) {
      context.metrics.shed("key_in_flight");
      throw tooManyInFlight(requestsPerKey.limit());
    }
    whenDone(request, reply, release);
  };
}

/** A stream stays open as long as the response that it follows runs. */
function isFollowing({ query }: FastifyRequest): boolean {
  return (query as { readonly stream?: unknown }).stream === "true";
}

/** Verifies the key and counts the call against its rate limit. */
function createCallCounter(context: KeyAdmissionContext): AdmitRequest {
  const { keys, tokens, limiter, wrongKeys, live, now } = context;
  const requestsPerMinute = () => live().limits.requestsPerMinute;
  const services: AdmissionServices = { keys, tokens, limiter, wrongKeys, requestsPerMinute, now };
  return async (request, reply) => {
    const { authorization } = request.headers;
    const keyHeader = request.clientFormat?.habits.keyHeader ?? null;
    const apiKey = keyHeader === null ? undefined : [request.headers[keyHeader]].flat()[0];
    const hash = keyHashOf(request.raw);
    noteAdmitted(request, reply, await admit({ authorization, apiKey, hash, address: () => request.ip }, services));
  };
}

function noteAdmitted(request: FastifyRequest, reply: FastifyReply, { caller, admission }: Admitted): void {
  request.caller = caller;
  noteKey(request.raw, caller.key);
  reply.headers({
    "x-ratelimit-limit-requests": String(admission.limit),
    "x-ratelimit-remaining-requests": String(admission.remaining),
    "x-ratelimit-reset-requests": `${admission.resetSeconds}s`,
  });
  if (!admission.allowed) throw tooManyRequests(admission);
}

/**
 * Refuses a caller without credits before its large body is read. A repeated request may have a stored response, which
 * costs nothing, so one with an Idempotency-Key is read first.
 */
export function createCreditCheck({
  formats,
  services,
}: Pick<PublicContext, "formats" | "services">): onRequestHookHandler {
  return (request, _reply, done) => {
    if (!isLarge(declaredLength(request) ?? Number.POSITIVE_INFINITY)) return done();
    const isRepeatable = request.headers["idempotency-key"] !== undefined;
    if (isRepeatable || !formats.isCompletion(routeOf(request) ?? "")) return done();
    const { accountId } = callerOf(request).key;
    if (hasCredits(accountId, services())) return done();
    requireCredits(accountId, services()).then(() => done(), done);
  };
}

/** The caller of a request that was admitted. */
export function callerOf({ caller }: FastifyRequest): Caller {
  if (caller === null) throw new Error("the request was not admitted");
  return caller;
}

/** Counts a call to an unknown path or method where a valid key comes with it. Callers without one are not told anything. */
export function createUnmatchedCounter(
  context: KeyAdmissionContext,
): (request: FastifyRequest, reply: FastifyReply) => Promise<void> {
  const countCall = createCallCounter(context);
  return async (request, reply) => {
    try {
      await countCall(request, reply);
    } catch (error) {
      if (!(error instanceof GatewayError && error.status === 401)) throw error;
    }
  };
}

function tooManyInFlight(limit: number): GatewayError {
  const message = TEXT.keyBusy(limit);
  return new GatewayError("rateLimited", message, { code: "too_many_in_flight", retryAfterSeconds: 1 });
}
