// Writes a Responses stream for a client from chat chunks. The last event carries the whole response, so it is sent only
// when usage is known and settled. Behaviour 6.

import { callDeltas, firstDelta, splitContent } from "../content.ts";
import { detailsIn, sealDetail } from "../convert/reasoning-details.ts";
import type { ChatChunk, ResponseContext, StreamOptions, StreamWriter } from "../format.ts";
import { isObject, type JsonObject } from "../json/fields.ts";
import { normalFinish } from "../openai-chat/read-response.ts";
import { stepOf } from "../tools/searches.ts";
import { errorText, streamErrorCode } from "./errors.ts";
import { callNaming, givenCitations } from "./item-text.ts";
import { keepsEncrypted, sealsTexts } from "./items.ts";
import { incompleteReason, itemNamer, responseWriter } from "./response-object.ts";
import { EventWriter, ItemQueue } from "./stream-items.ts";
import { logprobsOf } from "./write-response.ts";

/** Clients skip comments. */
const PING = ": keep-alive\n\n";

function itemTerms(context: ResponseContext) {
  return { nameItem: itemNamer(context), naming: callNaming(context), sealsTexts: sealsTexts(context) };
}

/** Items are opened and closed in order, whatever order the deltas have. */
export function createResponsesStreamWriter(context: ResponseContext, { service }: StreamOptions): StreamWriter {
  const events = new EventWriter();
  const items = new ItemQueue(events, itemTerms(context));
  const writeResponse = responseWriter(context);
  const keepsDetails = keepsEncrypted(context);
  let hasStarted = false;
  let finish: unknown = null;

  function start(): string {
    if (hasStarted) return "";
    hasStarted = true;
    const response = `"response":${writeResponse({ status: "in_progress", service })}`;
    return events.write("response.created", response) + events.write("response.in_progress", response);
  }

  function read(choice: JsonObject): void {
    const delta = isObject(choice.delta) ? choice.delta : {};
    const { reasoning, text, refusal } = splitContent(delta);
    if (reasoning !== "") items.addText("reasoning", reasoning);
    if (keepsDetails && delta.reasoning_details !== undefined)
      for (const detail of detailsIn(delta)) items.addSeal(sealDetail(detail));
    if (text !== "") items.addText("message", text, logprobsOf(choice));
    items.addCitations(givenCitations(delta));
    if (refusal !== "") items.addText("refusal", refusal);
    for (const call of callDeltas(delta)) items.addCall(call);
    items.addStep(stepOf(delta));
    finish = choice.finish_reason ?? finish;
  }

  return {
    ping: PING,
    write(chunks: readonly ChatChunk[]) {
      if (chunks.length === 0) return "";
      let text = start();
      for (const { json } of chunks) {
        const choice = firstDelta(json);
        if (choice === null) continue;
        read(choice);
        text += items.take();
      }
      return text;
    },
    end(service, usage) {
      const because = incompleteReason(normalFinish(finish, false));
      const status = because === null ? "completed" : "incomplete";
      const text = start() + items.finish(status);
      const state = { status, service, usage, items: items.written } as const;
      const response = writeResponse(because === null ? state : { ...state, incompleteBecause: because });
      return text + events.write(`response.${status}`, `"response":${response}`);
    },
    fail(error) {
      const failed = { code: streamErrorCode(error), message: error.message };
      const response = writeResponse({ status: "failed", error: failed, service, items: items.written });
      // The vendor sends both: client libraries throw at the first, and agents read the code in the second.
      return (
        start() + events.write("error", errorText(error)) + events.write("response.failed", `"response":${response}`)
      );
    },
  };
}
