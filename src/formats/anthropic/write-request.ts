// A Messages request for a provider that speaks the format: a client's own request as it came but for what must change,
// or one converted from chat-completions.

import type { ClientRequest, Outgoing, ProviderRequest } from "../format.ts";
import { isControlField } from "../service/controls.ts";
import { Conversion, unconvertible } from "../wire/conversion.ts";
import type { JsonObject } from "../wire/fields.ts";
import { spliceFields } from "../wire/json-source.ts";
import type { Turn } from "./blocks.ts";
import { BETA_HEADER, THINKING_HISTORY } from "./errors.ts";
import { outputCap, writeFields } from "./from-chat/fields.ts";
import { adaptThinking } from "./from-chat/thinking.ts";
import { writeTurns } from "./from-chat/turns.ts";
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

// The headers of the Messages format that go to a provider: the version, and the betas a client asked for.

const VERSIONS: ReadonlySet<unknown> = new Set(["2023-06-01", "2026-10-21"]);
/** The one that knows every field conversion may write. */
const USUAL_VERSION = "2023-06-01";
const BETA = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;
/** Goes with the client's own sign-in, which is not what the provider sees. */
const SIGN_IN_BETA = /^oauth-/;

export function anthropicHeaders({ request, refusedFields }: Outgoing): Readonly<Record<string, string>> {
  if (request.format !== "anthropic") return { "anthropic-version": USUAL_VERSION };
  const version = request.headers?.["anthropic-version"]?.trim();
  const betas = refusedFields.includes(BETA_HEADER) ? [] : readBetas(request);
  return {
    "anthropic-version": VERSIONS.has(version) ? (version as string) : USUAL_VERSION,
    ...(betas.length === 0 ? {} : { [BETA_HEADER]: betas.join(",") }),
  };
}

/** From the header, and from the body, where some clients put them. */
function readBetas({ headers, body }: ClientRequest): readonly string[] {
  const named = (headers?.[BETA_HEADER] ?? "").split(",").map((beta) => beta.trim());
  const listed: readonly unknown[] = Array.isArray(body.betas) ? body.betas : [];
  const betas = [...named, ...listed.filter((beta) => typeof beta === "string")];
  return [...new Set(betas)].filter((beta) => BETA.test(beta) && !SIGN_IN_BETA.test(beta));
}
