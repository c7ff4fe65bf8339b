// What receivers get: the signature of Standard Webhooks as its text describes it, and Slack's form.

import { createHmac, timingSafeEqual } from "node:crypto";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createChannels, newSigningSecret } from "../../../src/alerting/channels.ts";
import { messageOf } from "../../../src/alerting/message.ts";
import type { AlertEvent } from "../../../src/core/alerts/events.ts";
import { guardedLookup } from "../../../src/providers/lookup.ts";
import { type Received, type Receiver, startReceiver } from "../../support/network/receiver.ts";

const NOW_MS = Date.UTC(2026, 10, 19, 12);
const EVENT: AlertEvent = {
  ...{ id: "evt_1", kind: "balance.low", severity: "warning", accountId: "acme", subject: "acme" },
  text: "The balance of <Acme & Söhne> is 0.42 USD, below 1.00 USD.",
  data: { account: "<Acme & Söhne>", balanceUsd: "0.42", thresholdUsd: "1.00" },
  ...{ atMs: NOW_MS - 5_000, endedAtMs: null },
};
const MESSAGE = messageOf("msg_evt_1_target_1", EVENT);

let receiver: Receiver;
beforeEach(async () => {
  receiver = await startReceiver();
});
afterEach(() => receiver.stop());

const channels = createChannels({
  ...{ lookup: guardedLookup(true), allowsPrivate: true, timeoutMs: 10_000 },
  ...{ mailServer: null, mailLookup: guardedLookup(true) },
  now: () => NOW_MS,
});

/** As the specification says: the key is what stands after the prefix, in base64. */
function isSigned({ headers, body }: Received, secret: string): boolean {
  const { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signatures } = headers;
  const key = Buffer.from(secret.slice("whsec_".length), "base64");
  const expected = createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest();
  return String(signatures)
    .split(" ")
    .filter((each) => each.startsWith("v1,"))
    .some((each) => timingSafeEqual(Buffer.from(each.slice("v1,".length), "base64"), expected));
}

it("a webhook is signed, with the same id for every attempt", async () => {
  const secret = newSigningSecret();
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  for (let attempt = 0; attempt < 2; attempt += 1) await channels.webhook({ url: receiver.url, secret }, MESSAGE);
  const [first, second] = receiver.received as [Received, Received];
  expect(isSigned(first, secret)).toBe(true);
  expect(isSigned(first, newSigningSecret())).toBe(false);
  expect(isSigned({ ...first, body: first.body.replace("0.42", "9.99") }, secret)).toBe(false);
  expect(first.headers["webhook-timestamp"]).toBe(String(NOW_MS / 1000));
  expect([second.headers["webhook-id"], second.body]).toEqual(["msg_evt_1_target_1", first.body]);
  expect(JSON.parse(first.body)).toEqual({
    type: "balance.low",
    timestamp: "2026-11-19T11:59:55.000Z",
    data: {
      ...{ severity: "warning", text: EVENT.text, eventId: "evt_1", accountId: "acme", subject: "acme" },
      ...EVENT.data,
    },
  });
});

it("Slack gets text, without markup of its own", async () => {
  await channels.slack({ url: receiver.url, secret: null }, MESSAGE);
  expect(JSON.parse(receiver.received[0]?.body ?? "")).toEqual({
    text: "*Balance low* (warning)\nThe balance of &lt;Acme &amp; Söhne&gt; is 0.42 USD, below 1.00 USD.",
  });
});

it("without a mail server, a mail says what is missing", async () => {
  const receipt = await channels.email({ url: "mailto:ops@example.com", secret: null }, MESSAGE);
  expect(receipt).toMatchObject({
    isTaken: false,
    isFinal: false,
    answer: expect.stringContaining("alerts.mailServer"),
  });
});
