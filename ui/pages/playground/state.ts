// What the playground holds, and how it travels: behind the `#` of the address, which no server sees.

import type { RequestDetail, Rules } from "../../types.ts";

export interface Turn {
  readonly role: "user" | "assistant";
  readonly content: string;
}

export interface Bench {
  readonly prompt: string;
  readonly system: string;
  readonly turns: readonly Turn[];
  /** JSON as typed; empty for none. */
  readonly tools: string;
  readonly cap: string;
  readonly mode: "auto" | "tier" | "direct";
  readonly tier: string;
  readonly model: string;
  readonly floor: string | null;
  readonly ceiling: string | null;
  readonly code: string;
  readonly chat: string;
  readonly maxCost: string;
  readonly bfcl: string;
  readonly profileId: string;
  /** What to compare with: `profile:ID` (none when empty), `tier:NAME` or `model:ID`. */
  readonly others: readonly string[];
  /** The request this was opened from. */
  readonly from: string | null;
}

export const EMPTY_BENCH: Bench = {
  prompt: "",
  system: "",
  turns: [],
  tools: "",
  cap: "",
  mode: "auto",
  tier: "LIGHT",
  model: "",
  floor: null,
  ceiling: null,
  code: "",
  chat: "",
  maxCost: "",
  bfcl: "",
  profileId: "",
  others: [],
  from: null,
};

type Json = Record<string, unknown>;

export function writeFragment(value: object): string {
  const text = JSON.stringify(value);
  const bytes = Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join("");
  return `#s=${btoa(bytes).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")}`;
}

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

/** Only what differs from an empty bench, so that links stay short. */
export function benchFragment(bench: Bench): string {
  const isEmpty = (value: unknown, empty: unknown): boolean =>
    value === empty || (Array.isArray(value) && value.length === 0);
  const changed = Object.entries(bench).filter(([name, value]) => !isEmpty(value, EMPTY_BENCH[name as keyof Bench]));
  return changed.length === 0 ? "" : writeFragment(Object.fromEntries(changed));
}

/** A link may come from anywhere: what does not fit is left out. */
export function benchFrom(hash: string): Bench {
  const given = readFragment(hash) ?? {};
  const fits = Object.entries(EMPTY_BENCH).filter(([name, empty]) => isLike(given[name], empty));
  const bench = { ...EMPTY_BENCH, ...Object.fromEntries(fits.map(([name]) => [name, given[name]])) };
  const isMode = bench.mode === "auto" || bench.mode === "tier" || bench.mode === "direct";
  return {
    ...bench,
    mode: isMode ? bench.mode : "auto",
    turns: bench.turns.filter(isTurn),
    others: bench.others.filter((other) => typeof other === "string").slice(0, OTHERS_MAX),
  };
}

function isLike(value: unknown, empty: Bench[keyof Bench]): boolean {
  if (Array.isArray(empty)) return Array.isArray(value);
  return typeof value === "string" || (empty === null && value === null);
}

function isTurn(turn: unknown): turn is Turn {
  const { role, content } = (turn ?? {}) as Partial<Turn>;
  return (role === "user" || role === "assistant") && typeof content === "string";
}

export const OTHERS_MAX = 3;

/** The bench as it would be with another profile, in another tier, or on another model. */
export function contenderOf(bench: Bench, other: string): Bench {
  const [kind, ...rest] = other.split(":");
  const id = rest.join(":");
  if (kind === "profile") return { ...bench, profileId: id };
  if (kind === "tier") return { ...bench, mode: "tier", tier: id };
  return { ...bench, mode: "direct", model: id };
}

/** The question of a recorded request again: its words where they were kept, else its decision's circumstances. */
export function playgroundHref(detail: RequestDetail): string {
  const kept = detail.content === null ? {} : benchOfBody(detail.content.request);
  const mode = (detail.decision?.profile ?? "auto") as Bench["mode"];
  const asked =
    mode === "tier" ? { tier: detail.tier ?? "LIGHT" } : mode === "direct" ? { model: detail.model ?? "" } : {};
  return `/playground${benchFragment({ ...EMPTY_BENCH, mode, ...asked, ...kept, from: detail.requestId })}`;
}

function benchOfBody(text: string): Partial<Bench> {
  try {
    const body = JSON.parse(text) as Json;
    const messages = (Array.isArray(body.messages) ? body.messages : []) as readonly Json[];
    const talk = messages.filter(({ role }) => role === "user" || role === "assistant");
    const system = messages.find(({ role }) => role === "system")?.content ?? body.system ?? "";
    return {
      prompt: textOf(talk.at(-1)?.content),
      system: textOf(system),
      turns: talk.slice(0, -1).map(({ role, content }) => ({ role: role as Turn["role"], content: textOf(content) })),
      tools: body.tools === undefined ? "" : JSON.stringify(body.tools, null, 2),
      floor: (body.service_tier_floor as string | undefined) ?? null,
      ceiling: (body.service_tier_ceiling as string | undefined) ?? null,
    };
  } catch {
    return {};
  }
}

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.map((part: Json) => (typeof part.text === "string" ? part.text : "")).join("\n");
}

/** The controls as `service_*` fields. */
function controls(bench: Bench): Json {
  return {
    ...(bench.mode === "auto" ? {} : { service_profile: bench.mode }),
    ...(bench.mode === "tier" ? { service_tier: bench.tier } : {}),
    ...(bench.floor === null ? {} : { service_tier_floor: bench.floor }),
    ...(bench.ceiling === null ? {} : { service_tier_ceiling: bench.ceiling }),
    ...numeric("service_code_quality", bench.code),
    ...numeric("service_chat_quality", bench.chat),
    ...numeric("service_max_cost", bench.maxCost),
    ...numeric("service_bfcl_min", bench.bfcl),
  };
}

function numeric(name: string, text: string): Json {
  return text.trim() === "" || Number.isNaN(Number(text)) ? {} : { [name]: Number(text) };
}

export function parsedTools(bench: Bench): unknown {
  if (bench.tools.trim() === "") return undefined;
  try {
    return JSON.parse(bench.tools) as unknown;
  } catch {
    return undefined;
  }
}

/** The body for /api/playground/*. */
export function questionOf(bench: Bench): Json {
  const tools = parsedTools(bench);
  return {
    prompt: bench.prompt,
    ...(bench.system === "" ? {} : { system_prompt: bench.system }),
    ...(bench.turns.length === 0 ? {} : { messages: [...bench.turns, { role: "user", content: bench.prompt }] }),
    ...(tools === undefined ? {} : { tools }),
    ...numeric("max_output_tokens", bench.cap),
    ...(bench.mode === "direct" ? { model: bench.model } : {}),
    ...controls(bench),
    ...(bench.profileId === "" ? {} : { profileId: bench.profileId }),
  };
}

/** The same as a call to /v1/chat/completions. */
export function chatBodyOf(bench: Bench): Json {
  const tools = parsedTools(bench);
  return {
    model: bench.mode === "direct" ? bench.model : "auto",
    messages: [
      ...(bench.system === "" ? [] : [{ role: "system", content: bench.system }]),
      ...bench.turns,
      { role: "user", content: bench.prompt },
    ],
    ...(tools === undefined ? {} : { tools }),
    ...numeric("max_tokens", bench.cap),
    ...controls(bench),
  };
}

/** What of the controls a profile can hold. */
export function rulesOf(bench: Bench): Partial<Rules> {
  const number = (text: string): number | null => (text.trim() === "" ? null : Number(text));
  return {
    tierFloor: bench.mode === "tier" ? bench.tier : bench.floor,
    tierCeiling: bench.mode === "tier" ? bench.tier : bench.ceiling,
    maxCostUsd: bench.maxCost.trim() === "" ? null : bench.maxCost.trim(),
    bfclMin: number(bench.bfcl),
    codeQuality: number(bench.code),
    chatQuality: number(bench.chat),
    ...(bench.mode === "direct" && bench.model !== "" ? { allowedModels: [bench.model] } : {}),
  };
}
