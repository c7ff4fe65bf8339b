// Calls to the services that hand out credentials: token endpoints, and the metadata services of clouds. What they are
// sent and what they answer is secret, so an error holds neither.

import type { Token } from "./tokens.ts";

export type JsonAnswer = Readonly<Record<string, unknown>>;

/** Variables of the process, as the clouds set them. */
export type CloudVariables = Readonly<Record<string, string | undefined>>;

/** Headers of a form whose answer is JSON. */
export const FORM = { "content-type": "application/x-www-form-urlencoded", accept: "application/json" };

interface TokenCall extends RequestInit {
  /** The answer is plain text, and comes as `text`. */
  readonly isText?: boolean;
}

/** No answer is longer. */
const ANSWER_CHARS_MAX = 100_000;

export async function fetchJson(url: string, { isText = false, ...init }: TokenCall): Promise<JsonAnswer> {
  const { host } = new URL(url);
  let response: Response;
  try {
    response = await fetch(url, { redirect: "error", ...init });
  } catch (error) {
    throw new Error(`${host} could not be reached`, { cause: error });
  }
  const text = await response.text();
  if (!response.ok) throw new Error(`${host} answered ${response.status}${reasonIn(text)}`);
  if (text.length > ANSWER_CHARS_MAX) throw new Error(`${host} answered with too much`);
  if (isText) return { text };
  try {
    return JSON.parse(text) as JsonAnswer;
  } catch {
    throw new Error(`${host} answered with something that is no JSON`);
  }
}

/** An answer in the form of OAuth. A token that is missing is an error, never the one before. */
export function tokenOf({ access_token: text, expires_in: seconds }: JsonAnswer): Token {
  const lifeMs = Number(seconds) * 1_000;
  if (typeof text !== "string" || text === "" || !(lifeMs > 0)) throw new Error("the answer holds no token");
  return { text, expiresAtMs: Date.now() + lifeMs };
}

/** The cloud's own word for what is wrong: a code, which names no secret. */
function reasonIn(text: string): string {
  const code = /"(?:Code|error)"\s*:\s*"([\w.]{1,60})"|<Code>([\w.]{1,60})<\/Code>/.exec(text);
  return code === null ? "" : ` (${code[1] ?? code[2]})`;
}
