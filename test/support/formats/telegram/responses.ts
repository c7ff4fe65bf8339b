// Responses and errors in the invented format.

import type { ToolCall, Usage } from "../../../../src/core/chat.ts";
import type { GatewayError } from "../../../../src/core/errors.ts";
import type {
  ProviderFault,
  ResponseAdditions,
  ResponseContext,
  ResponseReading,
  WholeResponse,
} from "../../../../src/formats/format.ts";
import { isObject, type JsonObject } from "../../../../src/formats/json/fields.ts";
import { parseObject, parseResponse } from "../../../../src/formats/json/parse.ts";
import { spliceFields } from "../../../../src/formats/json/splice.ts";
import { type Order, TELEGRAM, toCall, toOrder } from "./requests.ts";

/** How a telegram stops, and what chat-completions calls that. */
const STOPS: Readonly<Record<string, string>> = { full: "stop", limit: "length", orders: "tool_calls" };

export function finishOf(stop: unknown): string {
  return STOPS[String(stop)] ?? "stop";
}

export function stopOf(finish: unknown): string {
  return Object.keys(STOPS).find((stop) => STOPS[stop] === finish) ?? "full";
}

export function readBill(bill: unknown): Usage | null {
  if (!isObject(bill) || typeof bill.sent !== "number" || typeof bill.received !== "number") return null;
  const kept = typeof bill.kept === "number" ? bill.kept : 0;
  const buckets = { input: bill.sent - kept, cacheRead: kept, cacheWrite: 0, output: bill.received };
  return { buckets, longCacheWrite: 0, reasoning: 0 };
}

export function writeBill({ buckets }: Usage): JsonObject {
  const { input, cacheRead, cacheWrite, output } = buckets;
  return { sent: input + cacheRead + cacheWrite, kept: cacheRead, received: output };
}

export function readTelegramResponse(bytes: Buffer): ResponseReading {
  const parsed = parseResponse(bytes);
  if (parsed === null || isObject(parsed.body.trouble)) return { ok: false, fault: readTrouble(bytes) };
  const { body, source } = parsed;
  const orders = (body.orders ?? []) as readonly Order[];
  const words = typeof body.words === "string" ? body.words : null;
  const calls = orders.length === 0 ? {} : { tool_calls: orders.map(toCall) };
  const completion = {
    id: body.telegram,
    object: "chat.completion",
    model: body.station,
    choices: [
      { index: 0, message: { role: "assistant", content: words, ...calls }, finish_reason: finishOf(body.stop) },
    ],
  };
  const response: WholeResponse = {
    completion,
    usage: readBill(body.bill),
    outputText: (words ?? "") + JSON.stringify(orders),
    native: { format: TELEGRAM, source },
    toolCallIds: () => orders.map(({ number }) => number),
  };
  return { ok: true, response };
}

export function writeTelegramResponse(
  { completion, usage: counted }: WholeResponse,
  context: ResponseContext,
  { service, usage }: ResponseAdditions,
): Buffer {
  const [choice] = completion.choices as readonly { message: JsonObject; finish_reason: unknown }[];
  const { content, tool_calls: calls } = choice?.message ?? {};
  const telegram = {
    telegram: context.requestId,
    station: context.modelId,
    words: content,
    ...(Array.isArray(calls) ? { orders: (calls as readonly ToolCall[]).map(toOrder) } : {}),
    stop: stopOf(choice?.finish_reason),
    bill: writeBill((usage ?? counted) as Usage),
    service,
  };
  return Buffer.from(JSON.stringify(telegram));
}

export function passTelegramResponse(
  { native }: WholeResponse,
  context: ResponseContext,
  { service, usage }: ResponseAdditions,
): Buffer {
  const changes = new Map([
    ["station", JSON.stringify(context.modelId)],
    ["service", JSON.stringify(service)],
  ]);
  if (usage !== null) changes.set("bill", JSON.stringify(writeBill(usage)));
  return spliceFields(native.source, changes);
}

export function writeTrouble({ message, details }: GatewayError, requestId: string): JsonObject {
  return { trouble: { text: message, sort: details.code ?? "unknown", telegram: requestId } };
}

export function readTrouble(bytes: Buffer): ProviderFault {
  const body = parseObject(bytes);
  const { text = "", sort = "", field = "" } = isObject(body?.trouble) ? body.trouble : {};
  return {
    message: String(text),
    code: String(sort),
    param: String(field),
    isTooLong: sort === "overlong",
    isUnpaid: sort === "unpaid",
    isFieldRefused: sort === "odd_field",
    mentionsBilling: sort === "unpaid",
  };
}
