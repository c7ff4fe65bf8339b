// Idempotent requests: the same Idempotency-Key and body sent twice get one response and one charge. Behaviour 7.10.

import { createHash } from "node:crypto";
import { GatewayError } from "../core/errors.ts";
import { IDEMPOTENCY_KEY } from "../core/requests/idempotency.ts";
import { keepsAnswers } from "../formats/bridge.ts";
import type { Answer } from "./answer.ts";
import type { Call } from "./call.ts";
import { complete } from "./complete.ts";
import { NO_FACTS, reportOf } from "./report.ts";
import type { Services } from "./services.ts";
import * as TEXT from "./text.ts";

export async function completeOnce(call: Call, idempotencyKey: string, services: Services): Promise<Answer> {
  if (!keepsAnswers(call.format)) {
    throw new GatewayError("badRequest", TEXT.answerNotKept, { code: "idempotency_not_supported" });
  }
  const idempotencyId = idOf(call, idempotencyKey);
  const begun = await services.idempotency.begin(idempotencyId, requestDigest(call));
  if (begun.state === "answered") {
    call.observer.ended(reportOf(NO_FACTS, { event: "replayed", isCutting: false }));
    return replay(begun.contentType, begun.text);
  }
  if (begun.state === "in-flight") {
    throw new GatewayError("conflict", TEXT.stillRunning, { code: "idempotency_key_in_flight", retryAfterSeconds: 1 });
  }
  if (begun.state === "other-body") {
    throw new GatewayError("unprocessable", TEXT.otherBody, { code: "idempotency_key_reused" });
  }
  if (begun.state === "lost")
    throw new GatewayError("unprocessable", TEXT.answerLost, { code: "idempotency_answer_lost" });
  try {
    return await complete({ ...call, idempotencyId }, services);
  } catch (error) {
    await services.idempotency.forget(idempotencyId);
    throw error;
  }
}

function idOf({ caller, format }: Pick<Call, "caller" | "format">, key: string): string {
  if (!IDEMPOTENCY_KEY.test(key)) {
    throw new GatewayError("badRequest", TEXT.invalidIdempotencyKey, { code: "invalid_idempotency_key" });
  }
  return digest(JSON.stringify([caller.key.accountId, format.idempotencyScope, key]));
}

/** Digests the path's choices with the body: a stream must not be repeated as a whole response. */
function requestDigest({ sentBytes, request: { target } }: Call): string {
  return digest(target === undefined ? sentBytes : Buffer.concat([Buffer.from(JSON.stringify(target)), sentBytes]));
}

function replay(contentType: string, text: string): Answer {
  return { kind: "whole", headers: null, contentType, bytes: Buffer.from(text) };
}

function digest(content: string | Buffer): string {
  return createHash("sha256").update(content).digest("hex");
}
