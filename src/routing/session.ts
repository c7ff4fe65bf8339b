// Sessions: which conversation a request belongs to, and which of several equal choices a conversation stays with.
// Rendezvous hashing: every process finds the same choice without asking another, and when one choice goes, only its own
// conversations move.

import { type ChatMessage, contentText, UNDECODED } from "../core/chat.ts";
import { mix, mixEnds, OFFSET } from "./sessions/ends.ts";

/** What a request says about its conversation. */
export interface SessionFacts {
  readonly accountId: string;
  /** `service_session`. */
  readonly named: string | null;
  readonly headers: BodyFields;
  /** As the client sent it. */
  readonly body: BodyFields;
  /** With the earlier turns of a response that it continues. */
  readonly messages: readonly ChatMessage[];
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

/** By its name, or by how it began. */
export function sessionOf(facts: SessionFacts): string {
  return `${facts.accountId}\n${namedSession(facts) ?? `#${fingerprint(facts.messages)}`}`;
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

/** Bytes that are read of a long text, at its beginning and at its end. */
const READ_BYTES = 96;
/** Of texts up to this length, the length counts as well: counting longer ones would take too long. */
const COUNTED_BYTES = 4_096;

/** The instructions and the first human message: they stay as they are while a conversation grows. */
function fingerprint(messages: readonly ChatMessage[]): number {
  const firstUser = messages.findIndex(({ role }) => role === "user");
  let hash = OFFSET;
  for (const [index, message] of messages.entries()) {
    if (index > firstUser && firstUser >= 0) break;
    const text = contentText(message.content);
    const isBytes = message[UNDECODED] === true;
    hash = mix(mixEnds(hash, text, isBytes, READ_BYTES), countedBytes(text, isBytes));
  }
  return hash >>> 0;
}

function countedBytes(text: string, isBytes: boolean): number {
  if (text.length > COUNTED_BYTES) return 0;
  const bytes = isBytes ? text.length : Buffer.byteLength(text);
  return bytes > COUNTED_BYTES ? 0 : bytes;
}

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
