// Options of events: from when on something is worth telling somebody, and the mail server.

import { hostKind } from "../network.ts";
import { hidden, number, text, truth } from "../readers.ts";
import type { Report } from "../report.ts";
import { option, type ValuesOf } from "./option.ts";

/** An address of a mail server, with a user and a password where it wants them. */
const mailServer = hidden(
  text({
    test: (value) =>
      /^smtp(s|-plain)?:\/\/[^/]+\/?$/.test(value) && URL.canParse(value) && new URL(value).hostname !== "",
    expected: "smtp://user:password@host:587, smtps:// for TLS from the start, or smtp-plain://",
  }),
);

/** The form of an address in a mail. It cannot end a line or a bracket. */
export const MAIL_ADDRESS = /^[^\s@<>()",;:\\[\]]{1,64}@[A-Za-z0-9.-]{1,190}$/;

/** Section `alerts` of the settings. */
export const ALERT_OPTIONS = {
  lowBalance: option<number>({
    path: "alerts.lowBalance",
    isLive: true,
    env: "SWITCHYARD_ALERTS_LOW_BALANCE",
    default: 1,
    read: number({ min: 0, max: 1_000_000 }),
    help: "A prepaid balance below this many USD is low. 0 is never.",
  }),
  balanceDays: option<number>({
    path: "alerts.balanceDays",
    isLive: true,
    env: "SWITCHYARD_ALERTS_BALANCE_DAYS",
    default: 3,
    read: number({ min: 0, max: 365 }),
    help: "A prepaid balance that lasts for fewer days, at the pace of the last 24 hours, is about to end. 0 is never.",
  }),
  spikeFactor: option<number>({
    path: "alerts.spikeFactor",
    isLive: true,
    env: "SWITCHYARD_ALERTS_SPIKE_FACTOR",
    default: 5,
    read: number({ min: 0, max: 1_000 }),
    help: "An hour that costs this many times the hourly average of the last 7 days is a spend spike. 0 is never.",
  }),
  errorPercent: option<number>({
    path: "alerts.errorPercent",
    isLive: true,
    env: "SWITCHYARD_ALERTS_ERROR_PERCENT",
    default: 10,
    read: number({ min: 0, max: 100 }),
    help: "The percentage of failed requests that is worth an event. 0 is never.",
  }),
  fallbackPercent: option<number>({
    path: "alerts.fallbackPercent",
    isLive: true,
    env: "SWITCHYARD_ALERTS_FALLBACK_PERCENT",
    default: 25,
    read: number({ min: 0, max: 100 }),
    help: "The percentage of requests answered by a fallback that is worth an event. 0 is never.",
  }),
  alertsPrivate: option<boolean>({
    path: "alerts.privateNetwork",
    env: "SWITCHYARD_ALERTS_PRIVATE_NETWORK",
    default: false,
    read: truth,
    help: "Whether webhooks of alerts may have an address of a private network, those of organisations too.",
  }),
  mailServer: option<string | null>({
    path: "alerts.mailServer",
    env: "SWITCHYARD_ALERTS_MAIL_SERVER",
    default: null,
    shownDefault: "none",
    isSecret: true,
    read: mailServer,
    help: "smtp://user:password@host:587, which requires STARTTLS, smtps:// for TLS from the start, or smtp-plain://, which sends without TLS where the server has none, but never a password. Alerts can then go to mail addresses.",
  }),
  mailFrom: option<string | null>({
    path: "alerts.mailFrom",
    env: "SWITCHYARD_ALERTS_MAIL_FROM",
    default: null,
    shownDefault: "none",
    read: text({ test: (value) => MAIL_ADDRESS.test(value), expected: "a mail address" }),
    help: "The sender of those mails. Required where there is a mail server.",
  }),
};

type AlertValues = Pick<ValuesOf<typeof ALERT_OPTIONS>, "mailServer" | "mailFrom">;

/** The mail server, in parts. */
export interface MailServer {
  readonly host: string;
  readonly port: number;
  /** TLS from the start; otherwise by STARTTLS. */
  readonly isTls: boolean;
  /** Sends mails, but no password, to a server without STARTTLS. */
  readonly allowsPlain: boolean;
  readonly user: string | null;
  readonly password: string | null;
  readonly from: string;
}

/** Returns null where none is configured. */
export function mailServerOf({ mailServer: url, mailFrom: from }: AlertValues): MailServer | null {
  if (url === null || from === null) return null;
  const { protocol, hostname, port, username, password } = new URL(url);
  const isTls = protocol === "smtps:";
  return {
    host: hostname.replace(/^\[|\]$/g, ""),
    port: port === "" ? (isTls ? 465 : 587) : Number(port),
    isTls,
    allowsPlain: protocol === "smtp-plain:",
    user: username === "" ? null : decodeURIComponent(username),
    password: password === "" ? null : decodeURIComponent(password),
    from,
  };
}

/** Reports a mail server that cannot be used as the other options have it. */
export function checkMailServer(values: Partial<AlertValues>, { problems }: Report): void {
  const { mailServer: url = null, mailFrom = null } = values;
  if (url === null) return;
  const report = (place: string, message: string) => problems.push({ place, message, suggestion: null });
  if (mailFrom === null) report("alerts.mailFrom", "is missing: mails of alerts need a sender");
  if (hostKind(new URL(url).hostname) === "forbidden") {
    report("alerts.mailServer", "has an address that is never called");
  }
}
