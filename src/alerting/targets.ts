// Targets as people manage them: addresses are checked and sealed, and a secret is shown once.

import { randomBytes } from "node:crypto";
import { MAIL_ADDRESS } from "../config/options/alerts.ts";
import { isTimeZone } from "../core/alerts/quiet.ts";
import type { AlertChannel, AlertTarget, AlertTargetStore, DueMessage, TargetAddress } from "../core/alerts/targets.ts";
import { GatewayError } from "../core/errors.ts";
import { checkedName } from "../core/names.ts";
import { MAIL_START, newSigningSecret, type SendAlert } from "./channels.ts";
import { addressProblem, type Receipt } from "./http-call.ts";
import { type AlertMessage, testMessage } from "./message.ts";

/** Port for the `Sealer` of the store. */
interface AddressSealer {
  seal(text: string, about: string): Promise<string>;
  open(sealed: string, about: string): Promise<string>;
}

export interface TargetsOptions {
  readonly store: AlertTargetStore;
  /** Sealing; null where the secret of the installation cannot be kept. */
  readonly sealer: AddressSealer | null;
  readonly channels: Readonly<Record<AlertChannel, SendAlert>>;
  readonly allowsPrivate: boolean;
  readonly hasMail: boolean;
  readonly now: () => number;
}

/** Fields that people set; one that is left out stays. */
type TargetChange = Partial<Pick<AlertTarget, "name" | "kinds" | "quiet" | "isPaused">> & {
  readonly url?: string;
};

type NewTarget = Pick<AlertTarget, "accountId" | "channel" | "name"> & TargetChange & { readonly url: string };

/** A target, and its signing secret where that was made just now. */
export interface MadeTarget {
  readonly target: AlertTarget;
  readonly secret: string | null;
}

export interface AlertTargets {
  readonly list: AlertTargetStore["list"];
  readonly get: AlertTargetStore["get"];
  readonly delete: AlertTargetStore["delete"];
  create(given: NewTarget): Promise<MadeTarget>;
  /** Returns null when the target is gone. */
  change(target: AlertTarget, change: TargetChange): Promise<AlertTarget | null>;
  /** Gives a webhook another signing secret. */
  rotate(target: AlertTarget): Promise<MadeTarget | null>;
  test(target: AlertTarget): Promise<Receipt>;
  send(target: DueMessage["target"], message: AlertMessage): Promise<Receipt>;
}

/** Keeps one account from filling the outbox. */
const TARGETS_MAX = 20;

export function createAlertTargets(options: TargetsOptions): AlertTargets {
  const { store, channels, now } = options;
  const { seal, open } = addressesWith(options.sealer);

  async function send(target: AlertTarget, message: AlertMessage): Promise<Receipt> {
    const address = await open(target);
    return address === null ? UNREADABLE : channels[target.channel](address, message);
  }

  async function update(target: AlertTarget, address: TargetAddress | null): Promise<AlertTarget | null> {
    const { id, channel } = target;
    const sealed =
      address === null ? {} : { addressShown: shownAddress(channel, address.url), sealed: await seal(address, id) };
    const changed = { ...target, ...sealed };
    return (await store.update(changed)) ? changed : null;
  }

  return {
    ...{ list: store.list, get: store.get, delete: store.delete, send },
    async create({ url, accountId, channel, name, kinds = null, quiet = null, isPaused = false }) {
      check({ url, quiet }, channel, options);
      const own = (await store.list(null)).filter((each) => each.accountId === accountId);
      if (own.length >= TARGETS_MAX) throw tooMany();
      const id = `target_${randomBytes(12).toString("hex")}`;
      const secret = channel === "webhook" ? newSigningSecret() : null;
      const target: AlertTarget = {
        ...{ id, accountId, channel, kinds, quiet, isPaused },
        name: checkedName(OWNER, name),
        addressShown: shownAddress(channel, url),
        sealed: await seal({ url, secret }, id),
        createdAtMs: now(),
      };
      await store.insert(target);
      return { target, secret };
    },
    async change(target, { url, ...change }) {
      const { channel } = target;
      check({ ...change, ...(url === undefined ? {} : { url }) }, channel, options);
      const name = checkedName(OWNER, change.name ?? target.name);
      const changed = { ...target, ...change, name };
      if (url === undefined) return update(changed, null);
      const secret = (await open(target))?.secret ?? (channel === "webhook" ? newSigningSecret() : null);
      return update(changed, { url, secret });
    },
    async rotate(target) {
      const address = await open(target);
      if (target.channel !== "webhook" || address === null) throw notSigned();
      const secret = newSigningSecret();
      const changed = await update(target, { ...address, secret });
      return changed === null ? null : { target: changed, secret };
    },
    test: (target) => send(target, testMessage(`msg_test_${randomBytes(8).toString("hex")}`, now())),
  };
}

/** The subject of errors about names. */
const OWNER = "An alert target";
const UNREADABLE: Receipt = {
  ...{ isTaken: false, isFinal: true, status: null },
  answer: "the address cannot be read with the secret of this installation; set it again",
};

/** A sealed address opens for its own target only. */
function addressesWith(sealer: AddressSealer | null) {
  return {
    async seal(address: TargetAddress, id: string): Promise<string> {
      if (sealer !== null) return sealer.seal(JSON.stringify(address), id);
      const message = "Alert targets cannot be stored: the secret of this installation can be neither read nor made.";
      throw new GatewayError("unavailable", message, { code: "secret_unavailable", retryAfterSeconds: 60 });
    },
    async open({ id, sealed }: AlertTarget): Promise<TargetAddress | null> {
      const text = await sealer?.open(sealed, id).catch(() => null);
      return text == null ? null : (JSON.parse(text) as TargetAddress);
    },
  };
}

function check(
  { url, quiet }: Pick<TargetChange, "url" | "quiet">,
  channel: AlertChannel,
  options: TargetsOptions,
): void {
  if (url !== undefined) checkAddress(url, channel, options);
  if (quiet != null && !isTimeZone(quiet.timeZone)) {
    const message = "'quiet.timeZone' must be the name of a time zone, such as Europe/Berlin.";
    throw new GatewayError("badRequest", message, { param: "quiet.timeZone" });
  }
}

function checkAddress(url: string, channel: AlertChannel, { allowsPrivate, hasMail }: TargetsOptions): void {
  const refuse = (message: string) => new GatewayError("badRequest", message, { param: "url" });
  if (channel === "email") {
    const isMail = url.startsWith(MAIL_START) && MAIL_ADDRESS.test(url.slice(MAIL_START.length));
    if (!isMail) throw refuse("'url' must be mailto: with one mail address, such as mailto:ops@example.com.");
    if (!hasMail) throw refuse("There is no mail server. An operator can set alerts.mailServer and alerts.mailFrom.");
    return;
  }
  const problem = addressProblem(url, allowsPrivate);
  if (problem === null) return;
  const hint = problem.includes("private") ? " An operator can allow those with alerts.privateNetwork." : "";
  throw refuse(`'url' cannot be used: ${problem}.${hint}`);
}

function tooMany(): GatewayError {
  const message = `There are ${TARGETS_MAX} targets already. Delete one that is not needed.`;
  return new GatewayError("conflict", message, { code: "too_many_targets" });
}

function notSigned(): GatewayError {
  const message = "Only a webhook whose address can be read has a signing secret. Set the address again.";
  return new GatewayError("conflict", message, { code: "not_signed" });
}

/** Paths and queries of webhooks are often secrets. */
function shownAddress(channel: AlertChannel, url: string): string {
  if (channel === "email") return url.slice(MAIL_START.length);
  const { origin, pathname, search } = new URL(url);
  return pathname === "/" && search === "" ? origin : `${origin}/…${url.slice(-4)}`;
}
