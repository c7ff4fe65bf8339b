// A request in the internal shape, written for Converse. No client speaks the format, so there is nothing to pass on.

import type { AskedServiceTier } from "../../core/money.ts";
import { Conversion, ESSENTIAL_FIELDS, unconvertible } from "../convert/conversion.ts";
import type { Outgoing, ProviderRequest, SentRequest } from "../format.ts";
import { isObject, type JsonObject } from "../json/fields.ts";
import { CACHE_POINT, type ConverseBlock, type ConverseTurn } from "./blocks.ts";
import { CACHE_POINTS, SYSTEM } from "./errors.ts";
import { writeFields } from "./fields.ts";
import { writeTurns } from "./turns.ts";

/** Bytes per token of JSON in English; a mark on less than the host keeps would be in vain. */
const BYTES_PER_TOKEN = 4;

export function writeConverseRequest(outgoing: Outgoing): ProviderRequest {
  const { request, model, refusedFields, added } = outgoing;
  const conversion = new Conversion();
  const refused = [...model.dialect.refuses, ...refusedFields];
  const fieldsRefused = refused.filter((name) => (request.body[name] ?? null) !== null);
  conversion.leaveOut(refused.filter((name) => fieldsRefused.includes(name) || REFUSABLE.test(name)));
  const body = Object.fromEntries(Object.entries(request.body).filter(([name]) => !fieldsRefused.includes(name)));
  const marksCache = model.cache?.isExplicit === true && !refused.includes(CACHE_POINTS);
  const terms = { model, conversion, marksCache, dropsThinking: outgoing.dropsThinking === true };
  const { system, turns } = writeTurns(request.chat.messages, terms);
  const { choiceCount } = request.chat;
  const outputCap = outgoing.outputCap ?? null;
  const { fields, instructions, dropped } = writeFields(
    { body, model, outputCap, added, choiceCount, turns },
    conversion,
  );
  if (conversion.refusals.length > 0) throw unconvertible(conversion.refusals);
  const placed = placeSystem([...system, ...instructions], turns, refused.includes(SYSTEM));
  const said = marksCache ? withCachePoints(placed, outgoing) : placed;
  const sent: JsonObject = {
    ...(said.system.length === 0 ? {} : { system: said.system }),
    messages: said.turns,
    ...refused.reduce(withoutPart, fields),
    ...outgoing.tierFields,
  };
  const action = request.chat.isStream ? "converse-stream" : "converse";
  return {
    path: pathOf(model.upstream, action),
    body: Buffer.from(JSON.stringify(sent)),
    droppedFields: [...fieldsRefused, ...dropped],
    ...(conversion.notes.length === 0 ? {} : { conversions: conversion.notes }),
  };
}

/** Names of models hold colons, and those of profiles slashes: each is one part of the path. */
export function pathOf(upstream: string, action: string): string {
  return `/model/${encodeURIComponent(upstream)}/${action}`;
}

interface PlacedSystem {
  readonly system: readonly ConverseBlock[];
  readonly turns: readonly ConverseTurn[];
}

/** Some small models take instructions only as a part of the first turn. */
function placeSystem(
  system: readonly ConverseBlock[],
  turns: readonly ConverseTurn[],
  isRefused: boolean,
): PlacedSystem {
  if (!isRefused || system.length === 0) return { system, turns };
  const [first, ...others] = turns as readonly [ConverseTurn, ...ConverseTurn[]];
  return { system: [], turns: [{ ...first, content: [...system, ...first.content] }, ...others] };
}

/** A client that sets one point sets all of them. Tools stand before the instructions, so a point there covers both. */
function withCachePoints({ system, turns }: PlacedSystem, { cacheHelp, request }: Outgoing): PlacedSystem {
  const marks = cacheHelp?.marks ?? null;
  const isMarked = [...system, ...turns.flatMap(({ content }) => content)].some(({ cachePoint }) => cachePoint);
  if (marks === null || isMarked) return { system, turns };
  const bytes = JSON.stringify(system).length + JSON.stringify(request.body.tools ?? []).length;
  const isLong = system.length > 0 && bytes >= (cacheHelp?.tokensMin ?? 0) * BYTES_PER_TOKEN;
  const last = turns.at(-1);
  const marksLast = marks === "conversation" && last !== undefined;
  return {
    system: isLong ? [...system, CACHE_POINT] : system,
    turns: marksLast ? [...turns.slice(0, -1), { ...last, content: [...last.content, CACHE_POINT] }] : turns,
  };
}

// Parts of a request that a model may refuse, by their place in it.

const CHOICE = "toolConfig.toolChoice";
const REFUSABLE = /^(?:inferenceConfig|additionalModelRequestFields)\b|^toolConfig\.toolChoice\b/;

/** The fields without what was refused. Of a choice of tools, all goes: the model chooses. */
function withoutPart(fields: JsonObject, refused: string): JsonObject {
  if (!REFUSABLE.test(refused)) return fields;
  const [name = "", part] = (refused.startsWith(CHOICE) ? CHOICE : refused).split(".");
  const value = fields[name];
  const { [name]: _, ...others } = fields;
  if (part === undefined || !isObject(value)) return others;
  const { [part]: __, ...rest } = value;
  return Object.keys(rest).length === 0 ? others : { ...others, [name]: rest };
}

export function mayLeaveOut(field: string, { body }: SentRequest): boolean {
  if (field === CACHE_POINTS || field === SYSTEM || REFUSABLE.test(field)) return true;
  return body[field] !== undefined && !ESSENTIAL_FIELDS.has(field);
}

export function tierFields(tier: AskedServiceTier): JsonObject {
  return { serviceTier: { type: tier } };
}
