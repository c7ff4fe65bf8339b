// Calls of webhooks that people named. Every address is judged before it is dialled, redirects are not followed, and time
// and size are bounded: a receiver may hang, lie or lead somewhere else.

import { isIP, type LookupFunction } from "node:net";
import { Agent, request } from "undici";
import { hostKind } from "../config/network.ts";

export interface CallTerms {
  /** Refuses names that lead where no call may go. */
  readonly lookup: LookupFunction;
  readonly allowsPrivate: boolean;
  readonly timeoutMs: number;
}

/** Reaction of a receiver to a message. A failure is a value. */
export interface Receipt {
  readonly isTaken: boolean;
  /** Says that no further attempt can help. */
  readonly isFinal: boolean;
  readonly status: number | null;
  /** The answer of the receiver, or the reason why there is none. */
  readonly answer: string;
}

const ANSWER_BYTES = 2_048;
const GONE = 410;

export async function postTo(
  url: string,
  { headers, body }: { readonly headers: Readonly<Record<string, string>>; readonly body: string },
  { lookup, allowsPrivate, timeoutMs }: CallTerms,
): Promise<Receipt> {
  const refusal = addressProblem(url, allowsPrivate);
  if (refusal !== null) return failed(refusal, true);
  const agent = new Agent({ connect: { lookup, timeout: timeoutMs } });
  try {
    const signal = AbortSignal.timeout(timeoutMs);
    const sent = { "content-type": "application/json", "user-agent": "switchyard", ...headers };
    const answer = await request(url, { method: "POST", body, headers: sent, dispatcher: agent, signal });
    const status = answer.statusCode;
    const text = await beginningOf(answer.body);
    const isTaken = status >= 200 && status <= 299;
    const moved = status >= 300 && status <= 399;
    const shown = moved ? `redirects are not followed (to ${String(answer.headers.location ?? "nowhere")})` : text;
    return { isTaken, isFinal: status === GONE, status, answer: shown };
  } catch (error) {
    return failed(reasonOf(error, timeoutMs), false);
  } finally {
    await agent.destroy();
  }
}

/** Explains why an address is not called; null where it may be. A name is judged when it is looked up. */
export function addressProblem(url: string, allowsPrivate: boolean): string | null {
  if (!URL.canParse(url)) return "the address is not valid";
  const { protocol, hostname, username } = new URL(url);
  if (protocol !== "http:" && protocol !== "https:") return "the address does not begin with http:// or https://";
  if (username !== "") return "the address holds a user name";
  const kind = hostKind(hostname);
  if (kind === "forbidden") return "the address is never called";
  return kind === "private" && !allowsPrivate ? "the address is one of a private network" : null;
}

/** The status alone decides, so a body that breaks off or never ends is no failure. */
async function beginningOf(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of body) {
      chunks.push(chunk);
      length += chunk.length;
      if (length >= ANSWER_BYTES) break;
    }
  } catch {
    // The beginning is enough.
  }
  return Buffer.concat(chunks).toString("utf8").slice(0, ANSWER_BYTES).trim();
}

function failed(answer: string, isFinal: boolean): Receipt {
  return { isTaken: false, isFinal, status: null, answer: withoutAddresses(answer) };
}

/** Takes out addresses of the network: admins of an account read this, and the network is the operator's. */
export function withoutAddresses(text: string): string {
  return text.replace(/[\da-f:.]*[:.][\da-f:.]*/gi, (found) => {
    const [, alone = ""] = /^(.*?)[:.]?$/.exec(found) ?? [];
    const isAddress = isIP(alone) !== 0 || isIP(alone.replace(/:\d+$/, "")) !== 0;
    return isAddress ? `…${found.slice(alone.length)}` : found;
  });
}

function reasonOf(error: unknown, timeoutMs: number): string {
  const { name, code, message } = error as NodeJS.ErrnoException;
  if (name === "TimeoutError" || code === "UND_ERR_CONNECT_TIMEOUT") return `no answer within ${timeoutMs / 1000} s`;
  return message === "" ? (code ?? name) : message;
}
