// Sessions: which conversation a request belongs to, and which of several equal choices a conversation stays with.
// Rendezvous hashing: every process finds the same choice without asking another, and when one choice goes, only its own
// conversations move.

import type { Opening } from "./sessions/prefix.ts";

/** What a request says about its conversation. */
export interface SessionFacts {
  readonly accountId: string;
  /** `service_session`. */
  readonly named: string | null;
  readonly headers: BodyFields;
  /** As the client sent it. */
  readonly body: BodyFields;
  /** Read where nothing else names it, with the earlier turns of a response that it continues. */
  readonly opening: () => Opening;
}

type BodyFields = Readonly<Record<string, unknown>>;

/** Headers in which clients name a session. */
const HEADERS = ["session_id", "x-session-id"] as const;

/** The first name that a request has; null where it has none. A response id is none: it changes with every turn. */
export function namedSession({ named, headers, body }: SessionFacts): string | null {
  return (
    named ??
    textOf(headers[HEADERS[0]]) ??
    textOf(headers[HEADERS[1]]) ??
    textOf(body.prompt_cache_key) ??
    anthropicSession(body.metadata) ??
    conversationOf(body.conversation)
  );
}

/** By its name, or by how it began: instructions and first human message stay as they are while a conversation grows. */
export function sessionOf(facts: SessionFacts): string {
  return `${facts.accountId}\n${namedSession(facts) ?? fingerprint(facts.opening())}`;
}

function fingerprint({ instructions, human }: Opening): string {
  return `#${instructions >>> 0}.${human >>> 0}`;
}

function isObject(value: unknown): value is BodyFields {
  return typeof value === "object" && value !== null;
}

function textOf(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}

/** Claude Code writes `user_…_account_…_session_…`, newer versions a JSON object with `session_id`. */
function anthropicSession(metadata: unknown): string | null {
  const userId = isObject(metadata) ? textOf(metadata.user_id) : null;
  return /(?:_session_|"session_id"\s*:\s*")([\w-]+)/.exec(userId ?? "")?.[1] ?? null;
}

/** The Responses API names a conversation by its id, or by an object that has it. */
function conversationOf(conversation: unknown): string | null {
  return textOf(isObject(conversation) ? conversation.id : conversation);
}

const OFFSET = 0x811c9dc5;
const PRIME = 0x01000193;

/** FNV-1a over the characters of a text. */
function hashText(text: string, seed: number): number {
  let hash = seed;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), PRIME);
  return hash;
}

/** A choice to be ranked: what names it in every process, and its share. */
export interface Contender {
  readonly id: string;
  readonly weight: number;
}

/** The choices of a session, best first. Each is first for its share of all sessions. */
export function rankBySession<T>(
  choices: readonly T[],
  session: () => string,
  identify: (choice: T) => Contender,
): readonly T[] {
  if (choices.length < 2) return choices;
  const seed = hashText(session(), OFFSET);
  const ranked = choices.map((choice) => ({ choice, score: scoreOf(identify(choice), seed) }));
  return ranked.sort((a, b) => b.score - a.score).map(({ choice }) => choice);
}

/** Weighted rendezvous hashing: with a uniform u, the largest of -weight/ln(u) is each choice's in its share of cases. */
function scoreOf({ id, weight }: Contender, seed: number): number {
  const uniform = (mixed(hashText(id, seed)) + 0.5) / 2 ** 32;
  return -weight / Math.log(uniform);
}

/** FNV leaves texts that end alike close together; this spreads every bit over all others. */
function mixed(hash: number): number {
  let bits = hash ^ (hash >>> 16);
  bits = Math.imul(bits, 0x85ebca6b);
  bits ^= bits >>> 13;
  bits = Math.imul(bits, 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}
