// A Messages request for a provider that speaks the format: a client's own request as it came but for what must change,
// or one converted from chat-completions.

import type { Outgoing, ProviderRequest } from "../format.ts";
import { isControlField } from "../service/controls.ts";
import { Conversion, unconvertible } from "../wire/conversion.ts";
import type { JsonObject } from "../wire/fields.ts";
import { spliceFields } from "../wire/json-source.ts";
import type { Turn } from "./blocks.ts";
import { THINKING_HISTORY } from "./errors.ts";
import { outputCap, writeFields } from "./from-chat/fields.ts";
import { adaptThinking } from "./from-chat/thinking.ts";
import { writeTurns } from "./from-chat/turns.ts";
import { anthropicHeaders } from "./headers.ts";
import { adaptTurns } from "./history.ts";

const PATH = "/v1/messages";

export function writeAnthropicRequest(outgoing: Outgoing): ProviderRequest {
  const conversion = new Conversion();
  const written = outgoing.request.format === "anthropic" ? writeNative : writeConverted;
  const { body, droppedFields } = written(outgoing, conversion);
  if (conversion.refusals.length > 0) throw unconvertible(conversion.refusals);
  const conversions = conversion.notes;
  return {
    path: PATH,
    body,
    droppedFields,
    headers: anthropicHeaders(outgoing),
    ...(conversions.length === 0 ? {} : { conversions }),
  };
}

type Written = Pick<ProviderRequest, "body" | "droppedFields">;

/** The original bytes; a field is written anew only when this model would refuse it as it is. */
function writeNative(outgoing: Outgoing, conversion: Conversion): Written {
  const { request, model } = outgoing;
  const { body } = request;
  const changes = new Map<string, string | null>([["model", JSON.stringify(model.upstream)]]);
  const refused = [...model.dialect.refuses, ...outgoing.refusedFields].filter((name) => body[name] !== undefined);
  for (const name of Object.keys(body)) if (isControlField(name) || name === "betas") changes.set(name, null);
  for (const name of refused) {
    changes.set(name, null);
    conversion.note(`dropped '${name}': the model refuses it`);
  }
  const maxTokens = outputCap(body.max_tokens, outgoing);
  if (maxTokens !== body.max_tokens) changes.set("max_tokens", String(maxTokens));
  const turns = body.messages as readonly Turn[];
  const adapted = adaptTurns(turns, outgoing, conversion);
  if (adapted !== turns) changes.set("messages", JSON.stringify(adapted));
  const isHistoryStripped = outgoing.refusedFields.includes(THINKING_HISTORY);
  const wish = { body, turns: adapted, model, maxTokens, isHistoryStripped };
  for (const [name, value] of Object.entries(adaptThinking(wish, conversion))) {
    if (!refused.includes(name)) changes.set(name, value === null ? null : JSON.stringify(value));
  }
  return { body: spliceFields(request.source, changes), droppedFields: refused };
}

function writeConverted(outgoing: Outgoing, conversion: Conversion): Written {
  const { request, model, refusedFields } = outgoing;
  const { system, turns } = writeTurns(request.chat.messages, { model, conversion });
  const { fields, instructions, dropped } = writeFields({ ...outgoing, turns }, conversion);
  const blocks = [...system, ...instructions];
  const body: JsonObject = {
    model: model.upstream,
    ...(blocks.length === 0 ? {} : { system: blocks }),
    ...fields,
    messages: adaptTurns(turns, { ...outgoing, request: { ...request, body: fields } }, conversion),
  };
  const names = [...model.dialect.refuses, ...refusedFields].filter((name) => body[name] !== undefined);
  for (const name of names) conversion.note(`dropped '${name}': the model refuses it`);
  const sent = Object.fromEntries(Object.entries(body).filter(([name]) => !names.includes(name)));
  return { body: Buffer.from(JSON.stringify(sent)), droppedFields: [...dropped, ...names] };
}
