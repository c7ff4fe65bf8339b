// Requests in the invented format: lines instead of messages, machines instead of tools, orders instead of tool calls.

import type { ChatMessage, ChatRequest, Role, ToolCall } from "../../../../src/core/chat.ts";
import { GatewayError } from "../../../../src/core/errors.ts";
import { Conversion } from "../../../../src/formats/convert/conversion.ts";
import type {
  ChatBody,
  ClientRequest,
  Outgoing,
  ProviderRequest,
  SentRequest,
} from "../../../../src/formats/format.ts";
import { isObject, type JsonObject, readBoolean, readInteger } from "../../../../src/formats/json/fields.ts";
import { sourceOf, spliceFields } from "../../../../src/formats/json/splice.ts";
import type { JsonSource } from "../../../../src/formats/scan/scan.ts";
import { isControlField, readControls } from "../../../../src/formats/service/controls.ts";

export const TELEGRAM = "telegram";

export interface Order {
  readonly number: string;
  readonly machine: string;
  readonly notes: JsonObject;
}

interface Line {
  readonly from: string;
  readonly words?: string;
  readonly orders?: readonly Order[];
  readonly answering?: string;
}

const ROLES: Readonly<Record<string, Role>> = {
  sender: "user",
  office: "system",
  clerk: "assistant",
  machine: "tool",
};

export function readTelegram(source: JsonSource, body: JsonObject): ClientRequest {
  if (!Array.isArray(body.lines) || body.lines.length === 0) {
    throw new GatewayError("unprocessable", "'lines' is missing.", { code: "no_lines", param: "lines" });
  }
  const isStream = readBoolean(body, "live");
  const chat: ChatRequest = {
    messages: (body.lines as readonly Line[]).map(toMessage),
    tools: machinesOf(body).map(({ label, about, settings }) => ({
      name: String(label),
      description: String(about ?? ""),
      parameters: isObject(settings) ? settings : null,
    })),
    toolChoice: null,
    isStream,
    wantsUsage: isStream,
    maxOutputTokens: readInteger(body, "word_limit", { min: 1, max: 1e6 }),
    choiceCount: 1,
  };
  return { format: TELEGRAM, source, body, chat, controls: readControls({ ...body, model: body.station }) };
}

export function telegramToChat({ body, chat }: ClientRequest): ChatBody {
  const tools = machinesOf(body).map(({ label, about, settings }) => ({
    type: "function",
    function: { name: label, description: about, parameters: settings },
  }));
  const converted: JsonObject = {
    model: body.station,
    messages: chat.messages,
    ...(chat.isStream ? { stream: true } : {}),
    ...(chat.maxOutputTokens === null ? {} : { max_tokens: chat.maxOutputTokens }),
    ...(tools.length === 0 ? {} : { tools }),
  };
  const conversion = new Conversion();
  if (body.mood !== undefined) conversion.note("option_dropped", "dropped 'mood': only telegraphs have it");
  return { body: converted, source: sourceOf(converted), chat, conversions: conversion.notes };
}

/** The client's own bytes, with the station and what was refused changed. */
export function passTelegram({ request, model, refusedFields }: Outgoing): ProviderRequest {
  const changes = new Map<string, string | null>([["station", JSON.stringify(model.upstream)]]);
  for (const name of Object.keys(request.body)) if (isControlField(name)) changes.set(name, null);
  const droppedFields = refusedFields.filter((name) => request.body[name] !== undefined);
  for (const name of droppedFields) changes.set(name, null);
  return { path: "/wire", body: spliceFields(request.source, changes), droppedFields };
}

export function writeTelegram({ request, model, outputCap }: Outgoing): ProviderRequest {
  const { chat } = request;
  const limit = chat.maxOutputTokens ?? outputCap ?? null;
  const body = {
    station: model.upstream,
    lines: chat.messages.map(toLine),
    ...(chat.tools.length === 0
      ? {}
      : {
          machines: chat.tools.map(({ name, description, parameters }) => ({
            label: name,
            about: description,
            settings: parameters,
          })),
        }),
    ...(chat.isStream ? { live: true } : {}),
    ...(limit === null ? {} : { word_limit: limit }),
  };
  return { path: "/wire", body: Buffer.from(JSON.stringify(body)), droppedFields: [] };
}

/** Only the mood can be done without. */
export function mayLeaveOut(field: string, { body }: SentRequest): boolean {
  return field === "mood" && body.mood !== undefined;
}

function machinesOf({ machines }: JsonObject): readonly JsonObject[] {
  return Array.isArray(machines) ? machines.filter(isObject) : [];
}

function toMessage({ from, words, orders, answering }: Line): ChatMessage {
  const role = ROLES[from];
  if (role === undefined) throw new GatewayError("unprocessable", `Nobody is called '${from}'.`, { param: "lines" });
  return {
    role,
    content: words ?? null,
    ...(orders === undefined ? {} : { tool_calls: orders.map(toCall) }),
    ...(answering === undefined ? {} : { tool_call_id: answering }),
  };
}

function toLine({ role, content, tool_calls: calls, tool_call_id: answering }: ChatMessage): Line {
  const from = Object.keys(ROLES).find((name) => ROLES[name] === role) ?? "sender";
  return {
    from,
    ...(typeof content === "string" ? { words: content } : {}),
    ...(calls === undefined ? {} : { orders: calls.map(toOrder) }),
    ...(answering === undefined ? {} : { answering }),
  };
}

export function toCall({ number, machine, notes }: Order): ToolCall {
  return { id: number, type: "function", function: { name: machine, arguments: JSON.stringify(notes) } };
}

export function toOrder({ id, function: called }: ToolCall): Order {
  return { number: id ?? "", machine: called?.name ?? "", notes: JSON.parse(called?.arguments ?? "{}") as JsonObject };
}
