// Asks the operator's webhooks whether an answer of a cascade passes, for instance because tests pass with it. Calls are
// signed, and never go where the operator's network is closed. A webhook that does not say yes in time has said no.

import { createHmac } from "node:crypto";
import { Agent, request } from "undici";
import type { CancelSignal } from "../core/cancellation.ts";
import type { Log } from "../core/log.ts";
import type { CascadeWebhooks, WebhookQuestion, WebhookVerdict } from "../core/requests/cascade.ts";
import { guardedLookup } from "./lookup.ts";

export interface WebhookOptions {
  /** Addresses by the id of their profile. */
  readonly urls: ReadonlyMap<string, string>;
  readonly secret: string;
  readonly timeoutMs: number;
  readonly allowsPrivate: boolean;
  readonly log: Log;
  readonly now: () => number;
}

const ANSWER_BYTES_MAX = 64 * 1024;
const REASON_CHARS_MAX = 500;

export function createCascadeWebhooks(options: WebhookOptions): CascadeWebhooks {
  const { urls, allowsPrivate, log } = options;
  return {
    has: (profileId) => profileId !== null && urls.has(profileId),
    async ask(profileId, question, signal) {
      const url = urls.get(profileId);
      if (url === undefined) return refused("the profile has no webhook");
      const agent = new Agent({ connect: { lookup: guardedLookup(allowsPrivate) } });
      try {
        return await call(url, question, { ...options, agent, signal });
      } catch (error) {
        const { requestId } = question;
        log.warn({ event: "cascade.webhook_failed", requestId, profileId, err: error }, "cascade webhook failed");
        return refused("the webhook did not answer");
      } finally {
        await agent.destroy();
      }
    },
  };
}

function refused(reason: string): WebhookVerdict {
  return { isPassed: false, reason };
}

interface CallOptions extends WebhookOptions {
  readonly agent: Agent;
  readonly signal: CancelSignal;
}

async function call(url: string, question: WebhookQuestion, options: CallOptions): Promise<WebhookVerdict> {
  const { agent, signal, secret, timeoutMs, now } = options;
  const body = JSON.stringify(question);
  const seconds = Math.floor(now() / 1000);
  const signature = createHmac("sha256", secret).update(`${seconds}.${body}`).digest("hex");
  const headers = {
    "content-type": "application/json",
    "x-switchyard-signature": `t=${seconds},v1=${signature}`,
  };
  const left = new AbortController();
  const leave = (): void => left.abort();
  signal.addEventListener("abort", leave);
  try {
    const ends = AbortSignal.any([left.signal, AbortSignal.timeout(timeoutMs)]);
    const answer = await request(url, { method: "POST", body, headers, dispatcher: agent, signal: ends });
    const text = await readShort(answer.body);
    if (answer.statusCode < 200 || answer.statusCode > 299) {
      return refused(`the webhook answered with status ${answer.statusCode}`);
    }
    return verdictOf(text);
  } finally {
    signal.removeEventListener("abort", leave);
  }
}

async function readShort(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > ANSWER_BYTES_MAX) throw new Error("the answer of the webhook is too long");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** `{ "pass": true }`, or false with a reason. */
function verdictOf(text: string): WebhookVerdict {
  const { pass, reason } = JSON.parse(text) as { readonly pass?: unknown; readonly reason?: unknown };
  if (pass === true) return { isPassed: true, reason: "" };
  if (pass !== false) return refused("the webhook did not say whether the answer passes");
  return refused(typeof reason === "string" ? reason.slice(0, REASON_CHARS_MAX) : "the webhook refused it");
}
