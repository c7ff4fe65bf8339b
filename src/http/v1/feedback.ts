// POST /v1/feedback: what an application says of an answer it got. It is kept beside the mark that people set in the
// dashboard, and costs nothing. Behaviour 2.19.

import { setTimeout as wait } from "node:timers/promises";
import type { FastifyInstance } from "fastify";
import { GatewayError } from "../../core/errors.ts";
import type { AppFeedback, StoredRequest } from "../../core/requests/log.ts";
import { TIERS } from "../../core/tiers.ts";
import { invalid, type JsonObject, readChoice, readNumber, readString } from "../../formats/json/fields.ts";
import type { CallContext, Records } from "../context.ts";
import { parsedBodyOf } from "../exchange/body.ts";
import { REQUEST_ID } from "../exchange/request-head.ts";
import * as TEXT from "../text.ts";
import { callerOf } from "./key-admission.ts";
import { caughtUp } from "./record.ts";
import { COMMENT_MAX } from "./request-schemas.ts";

/** Another process may have answered the request, and writes its records in batches. */
const OTHERS_WRITE_WITHIN_MS = 500;
/** Answers are rated while other requests of the key run. */
const NO_SLOT = { config: { needsNoSlot: true } };

export function registerFeedback(server: FastifyInstance, { records, now }: Pick<CallContext, "records" | "now">) {
  server.post("/v1/feedback", NO_SLOT, async (request) => {
    const { body } = await parsedBodyOf(request);
    const { requestId, ...said } = readFeedback(body);
    const { id: keyId, accountId } = callerOf(request).key;
    const { summary } = await findRecorded(accountId, requestId, records);
    const feedback: AppFeedback = { ...said, keyId, atMs: now() };
    await records.requests.rate(accountId, summary.id, feedback);
    return writeFeedback(summary.requestId, feedback);
  });
}

function readFeedback(body: JsonObject): Omit<AppFeedback, "keyId" | "atMs"> & { readonly requestId: string } {
  const requestId = readString(body, "request_id");
  if (requestId === null || requestId === "") {
    throw invalid("request_id", TEXT.requestIdRequired);
  }
  const score = readNumber(body, "score", { min: 0, max: 1 });
  const tier = readChoice(body, "tier", TIERS);
  const comment = readString(body, "comment");
  if (score === null && tier === null) {
    throw invalid("score", TEXT.feedbackRequired);
  }
  // PostgreSQL cannot store a NUL.
  if (comment !== null && (comment.length > COMMENT_MAX || comment.includes("\u0000"))) {
    throw invalid("comment", TEXT.invalidComment(COMMENT_MAX));
  }
  return { requestId, score, tier, comment };
}

/** A request of another account gets the error for one that does not exist. */
async function findRecorded(accountId: string, id: string, records: Records): Promise<StoredRequest> {
  if (!REQUEST_ID.test(id)) throw unknownRequest(id);
  await caughtUp(records);
  const find = () => records.requests.find(accountId, id);
  const found = (await find()) ?? (await wait(OTHERS_WRITE_WITHIN_MS).then(find));
  if (found === null) throw unknownRequest(id);
  return found;
}

function unknownRequest(id: string): GatewayError {
  const message = TEXT.noRequest(id);
  return new GatewayError("notFound", message, { code: "request_not_found", param: "request_id" });
}

function writeFeedback(requestId: string, { score, tier, comment, atMs }: AppFeedback): JsonObject {
  return { object: "feedback", request_id: requestId, score, tier, comment, created_at: Math.floor(atMs / 1000) };
}
