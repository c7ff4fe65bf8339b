// The ways to send a message: a webhook signed as Standard Webhooks asks for, Slack's incoming webhooks, and mail.

import { createHmac, randomBytes } from "node:crypto";
import type { LookupFunction } from "node:net";
import type { MailServer } from "../config/options/alerts.ts";
import type { AlertChannel, TargetAddress } from "../core/alerts/targets.ts";
import { type CallTerms, postTo, type Receipt } from "./http-call.ts";
import type { AlertMessage } from "./message.ts";
import { sendMail } from "./smtp.ts";

export type SendAlert = (address: TargetAddress, message: AlertMessage) => Promise<Receipt>;

export interface ChannelTerms extends CallTerms {
  /** The mail server; null where none is configured. */
  readonly mailServer: MailServer | null;
  readonly mailLookup: LookupFunction;
  readonly ca?: string;
  readonly now: () => number;
}

export function createChannels(terms: ChannelTerms): Readonly<Record<AlertChannel, SendAlert>> {
  return {
    webhook(address, message) {
      const { id, type, atMs, severity, text, data } = message;
      const body = JSON.stringify({
        type,
        timestamp: new Date(atMs).toISOString(),
        data: { severity, text, ...data },
      });
      return postTo(
        address.url,
        { headers: signed({ id, body, secret: address.secret ?? "" }, terms.now()), body },
        terms,
      );
    },
    slack({ url }, { title, severity, text }) {
      const body = JSON.stringify({ text: `*${slackText(title)}* (${severity})\n${slackText(text)}` });
      return postTo(url, { headers: {}, body }, terms);
    },
    async email({ url }, { id, title, severity, text, atMs }) {
      const { mailServer: server, mailLookup: lookup, timeoutMs, ca } = terms;
      if (server === null) return NO_MAIL_SERVER;
      const mail = { id, to: url.slice(MAIL_START.length), subject: `[${severity}] ${title}`, text: `${text}\n`, atMs };
      return sendMail(mail, { server, lookup, timeoutMs, ...(ca === undefined ? {} : { ca }) });
    },
  };
}

export const MAIL_START = "mailto:";
const NO_MAIL_SERVER: Receipt = {
  ...{ isTaken: false, isFinal: false, status: null },
  answer: "no mail server is configured (alerts.mailServer)",
};
const SECRET_START = "whsec_";
const SECRET_BYTES = 32;

export function newSigningSecret(): string {
  return `${SECRET_START}${randomBytes(SECRET_BYTES).toString("base64")}`;
}

interface Signable {
  readonly id: string;
  readonly body: string;
  readonly secret: string;
}

/** Each attempt has a fresh time, so that receivers may refuse old ones. */
function signed({ id, body, secret }: Signable, nowMs: number): Readonly<Record<string, string>> {
  const timestamp = Math.floor(nowMs / 1000).toString();
  const key = Buffer.from(secret.slice(SECRET_START.length), "base64");
  const signature = createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64");
  return { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": `v1,${signature}` };
}

/** The characters that Slack reads as markup of links. */
function slackText(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
