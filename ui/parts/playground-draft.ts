// The request being drafted in the playground, and how it travels: behind the `#` of the address, which no server sees.
// The request log and the models open the playground with it.

import type { RequestDetail } from "../types.ts";
import { type ControlTexts, FORM_CONTROLS, fieldsOf, ruleValue, textsOf } from "./control-values.ts";

/** An earlier message of the conversation. */
interface Turn {
  readonly role: "user" | "assistant";
  readonly content: string;
}

/** Everything that can be set in the playground. Numbers are kept as typed. */
export interface Draft {
  readonly prompt: string;
  readonly system: string;
  readonly turns: readonly Turn[];
  /** JSON as typed; empty for none. */
  readonly tools: string;
  /** The output cap in tokens. */
  readonly cap: string;
  /** Choice of the model: by the router, by a tier that is asked for, or by a model that is asked for. */
  readonly mode: "auto" | "tier" | "direct";
  readonly tier: string;
  readonly model: string;
  readonly controls: ControlTexts;
  readonly profileId: string;
  /** Entries to compare with: `profile:ID` (none when empty), `tier:NAME` or `model:ID`. */
  readonly others: readonly string[];
  /** The recorded request that it was opened from. */
  readonly from: string | null;
}

/** An empty playground. Fields equal to it are not written into links. */
export const EMPTY_DRAFT: Draft = {
  prompt: "",
  system: "",
  turns: [],
  tools: "",
  cap: "",
  mode: "auto",
  tier: "LIGHT",
  model: "",
  controls: {},
  profileId: "",
  others: [],
  from: null,
};

type Json = Record<string, unknown>;

/** Base64 of UTF-8, in the alphabet that needs no escaping in an address. */
export function writeFragment(value: object): string {
  const text = JSON.stringify(value);
  const bytes = Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join("");
  return `#s=${btoa(bytes).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")}`;
}

/** Reads a fragment that `writeFragment` wrote; null for anything else. */
export function readFragment(hash: string): Json | null {
  const match = /^#s=([\w-]+)$/.exec(hash);
  if (match === null) return null;
  try {
    const bytes = atob((match[1] ?? "").replaceAll("-", "+").replaceAll("_", "/"));
    const value: unknown = JSON.parse(new TextDecoder().decode(Uint8Array.from(bytes, (c) => c.charCodeAt(0))));
    return typeof value === "object" && value !== null ? (value as Json) : null;
  } catch {
    return null;
  }
}

/** Writes only what differs from an empty draft, so that links stay short. */
export function draftFragment(draft: Draft): string {
  const isEmpty = (value: unknown, empty: unknown): boolean => JSON.stringify(value) === JSON.stringify(empty);
  const changed = Object.entries(draft).filter(([name, value]) => !isEmpty(value, EMPTY_DRAFT[name as keyof Draft]));
  return changed.length === 0 ? "" : writeFragment(Object.fromEntries(changed));
}

/** A link may come from anywhere: fields of another type are ignored. */
export function draftFrom(hash: string): Draft {
  const given = readFragment(hash) ?? {};
  const fits = Object.entries(EMPTY_DRAFT).filter(([name, empty]) => isLike(given[name], empty));
  const draft = { ...EMPTY_DRAFT, ...Object.fromEntries(fits.map(([name]) => [name, given[name]])) };
  const isMode = draft.mode === "auto" || draft.mode === "tier" || draft.mode === "direct";
  return {
    ...draft,
    mode: isMode ? draft.mode : "auto",
    controls: controlsIn(given),
    turns: draft.turns.filter(isTurn),
    others: draft.others.filter((other) => typeof other === "string").slice(0, OTHERS_MAX),
  };
}

/** The names of controls in links of version 0.1. */
const EARLIER_NAMES: ControlTexts = {
  floor: "tierFloor",
  ceiling: "tierCeiling",
  code: "codeQuality",
  chat: "chatQuality",
  maxCost: "maxCostUsd",
  bfcl: "toolScoreMin",
};

function controlsIn({ controls, ...given }: Json): ControlTexts {
  const earlier = Object.entries(EARLIER_NAMES).map(([name, now]) => [now, given[name]]);
  const values = { ...Object.fromEntries(earlier), ...(isJson(controls) ? controls : {}) };
  return textsOf(({ name }) => (typeof values[name] === "string" ? values[name] : null));
}

function isJson(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Tells whether a value has the type that the field has in an empty draft. */
function isLike(value: unknown, empty: Draft[keyof Draft]): boolean {
  if (Array.isArray(empty)) return Array.isArray(value);
  if (typeof empty === "object" && empty !== null) return isJson(value);
  return typeof value === "string" || (empty === null && value === null);
}

/** A message with a role that can be shown. */
function isTurn(turn: unknown): turn is Turn {
  const { role, content } = (turn ?? {}) as Partial<Turn>;
  return (role === "user" || role === "assistant") && typeof content === "string";
}

/** Four columns beside each other are as many as can be read. */
export const OTHERS_MAX = 3;

/** The draft with another profile, in another tier, or on another model. An id may contain colons. */
export function contenderOf(draft: Draft, other: string): Draft {
  const [kind, ...rest] = other.split(":");
  const id = rest.join(":");
  if (kind === "profile") return { ...draft, profileId: id };
  if (kind === "tier") return { ...draft, mode: "tier", tier: id };
  return { ...draft, mode: "direct", model: id };
}

/** Opens a recorded request again: its text where that was kept, else only how it was routed. */
export function playgroundHref(detail: RequestDetail): string {
  const kept = detail.content === null ? {} : draftOfBody(detail.content.request);
  const mode = (detail.decision?.profile ?? "auto") as Draft["mode"];
  const asked =
    mode === "tier" ? { tier: detail.tier ?? "LIGHT" } : mode === "direct" ? { model: detail.model ?? "" } : {};
  const recorded: Json = { ...detail.decision?.controls };
  const controls = textsOf(({ name }) => recorded[name]);
  return `/playground${draftFragment({ ...EMPTY_DRAFT, mode, ...asked, controls, ...kept, from: detail.requestId })}`;
}

/** The request body as a draft, in any format. What cannot be read is left empty. */
function draftOfBody(text: string): Partial<Draft> {
  try {
    const body = JSON.parse(text) as Json;
    const messages = (Array.isArray(body.messages) ? body.messages : []) as readonly Json[];
    const talk = messages.filter(({ role }) => role === "user" || role === "assistant");
    const system = messages.find(({ role }) => role === "system")?.content ?? body.system ?? "";
    return {
      prompt: textOf(talk.at(-1)?.content ?? body.prompt),
      system: textOf(system),
      turns: talk.slice(0, -1).map(({ role, content }) => ({ role: role as Turn["role"], content: textOf(content) })),
      tools: body.tools === undefined ? "" : JSON.stringify(body.tools, null, 2),
      controls: textsOf(({ field }) => body[field]),
    };
  } catch {
    return {};
  }
}

/** Message content as text: a string, or the text parts of a list. */
function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.map((part: Json) => (typeof part.text === "string" ? part.text : "")).join("\n");
}

/** The controls as `service_*` fields. */
function controls(draft: Draft): Json {
  return {
    ...(draft.mode === "auto" ? {} : { service_profile: draft.mode }),
    ...(draft.mode === "tier" ? { service_tier: draft.tier } : {}),
    ...fieldsOf(draft.controls),
  };
}

/** A field with a number, or nothing while no number is typed. */
function numeric(name: string, text: string): Json {
  return text.trim() === "" || Number.isNaN(Number(text)) ? {} : { [name]: Number(text) };
}

/** Parses the tools; undefined while the field is empty or not JSON yet. */
export function parsedTools(draft: Draft): unknown {
  if (draft.tools.trim() === "") return undefined;
  try {
    return JSON.parse(draft.tools) as unknown;
  } catch {
    return undefined;
  }
}

/** The body for `/api/playground/decide` and `/run`, and for `/v1/routing/debug`. */
export function questionOf(draft: Draft): Json {
  const tools = parsedTools(draft);
  return {
    prompt: draft.prompt,
    ...(draft.system === "" ? {} : { system_prompt: draft.system }),
    ...(draft.turns.length === 0 ? {} : { messages: [...draft.turns, { role: "user", content: draft.prompt }] }),
    ...(tools === undefined ? {} : { tools }),
    ...numeric("max_output_tokens", draft.cap),
    ...(draft.mode === "direct" ? { model: draft.model } : {}),
    ...controls(draft),
    ...(draft.profileId === "" ? {} : { profileId: draft.profileId }),
  };
}

/** The same as a call to `/v1/chat/completions`. */
export function chatBodyOf(draft: Draft): Json {
  const tools = parsedTools(draft);
  return {
    model: draft.mode === "direct" ? draft.model : "auto",
    messages: [
      ...(draft.system === "" ? [] : [{ role: "system", content: draft.system }]),
      ...draft.turns,
      { role: "user", content: draft.prompt },
    ],
    ...(tools === undefined ? {} : { tools }),
    ...numeric("max_tokens", draft.cap),
    ...controls(draft),
  };
}

/** The part of the controls that a profile can hold. */
export function rulesOf({ controls, mode, tier, model }: Draft): Json {
  const texts = mode === "tier" ? { ...controls, tierFloor: tier, tierCeiling: tier } : controls;
  const rules = FORM_CONTROLS.map(({ name, rule, takes }) => [rule, ruleValue(takes, texts[name] ?? "")]);
  return {
    ...Object.fromEntries(rules),
    ...(mode === "direct" && model !== "" ? { allowedModels: [model] } : {}),
  };
}
